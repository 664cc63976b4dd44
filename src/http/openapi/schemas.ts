import * as z from 'zod';
import { exampleId, exampleIds } from '../request/fields.js';
import type { JsonSchema } from './types.js';

export interface SchemaCollector {
  /** `components.schemas`: every schema with an id converted so far. */
  components: Record<string, JsonSchema>;
  /** Converts a parameter (`input`), a request body (`body`) or a response (`output`); schemas with an id become references. */
  toJson(schema: z.ZodType, io: 'input' | 'body' | 'output'): JsonSchema;
}

export function createSchemaCollector(): SchemaCollector {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    toJson: (schema, io) => {
      const direction = io === 'output' ? io : 'input';
      const text = JSON.stringify(z.toJSONSchema(schema, { io: direction, override: tidy }));
      const { $defs, ...root } = JSON.parse(
        text.replaceAll('"#/$defs/', '"#/components/schemas/'),
      ) as JsonSchema & { $defs?: Record<string, JsonSchema> };
      delete root.$schema;
      if (io !== 'body') Object.assign(components, $defs);
      else Object.assign(components, bodyComponents, $defs && mapped($defs));
      return io === 'body' ? asBody(root) : root;
    },
  };
}

/** Removes what the API does not promise (additional fields are allowed) or what is redundant (the pattern of a format). */
function tidy({ jsonSchema: schema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.format) delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (typeof schema.propertyNames === 'object' && !schema.propertyNames.pattern) delete schema.propertyNames;
  delete schema.$schema;
}

/** The target of a reference, overridden by the reference's own keywords. */
export function resolved(schema: JsonSchema, components: Record<string, JsonSchema>): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  return { ...components[nameOf($ref)], ...own };
}

/** The component's name: the last part of a reference. */
export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** An example composed of the examples of its parts; undefined if a part has none. */
export function exampleOf(schema: JsonSchema, components: Record<string, JsonSchema>): unknown {
  const { examples, properties, items, anyOf, ...target } = resolved(schema, components);
  if (examples) return examples[0];
  if ('const' in target) return target.const;
  if (target.enum) return target.enum[0];
  if ('default' in target) return target.default;
  if (properties) {
    const parts = Object.entries(properties);
    return Object.fromEntries(parts.map(([name, part]) => [name, ownId(name, exampleOf(part, components))]));
  }
  if (anyOf) return exampleOf(anyOf[0]!, components);
  if (items) return [exampleOf(items, components)];
  return target.type === 'boolean' ? false : undefined;
}

/** The example of the field with this name, if it is an id. */
export const ownId = (name: string, example: unknown): unknown =>
  example === exampleId ? ((exampleIds as Record<string, string>)[name] ?? example) : example;

/** The pattern of any text in a body. Unpaired surrogates are also refused, but no pattern can express that. */
const anyText = '^[^\\u0000]*$';
const anyJson = { $ref: '#/components/schemas/AnyJson' };
const fieldName = { pattern: anyText, not: { enum: ['__proto__', 'constructor'] } };

const scalars: JsonSchema[] = [{ type: ['null', 'boolean', 'number'] }, { type: 'string', pattern: anyText }];
const within = (inner: JsonSchema): JsonSchema[] => [
  { type: 'array', items: inner },
  { type: 'object', propertyNames: fieldName, additionalProperties: inner },
];

/** `components.schemas` that bodies refer to. Two levels only: recursive schemas break many tools. */
const bodyComponents: Record<string, JsonSchema> = {
  AnyJson: {
    description:
      'Any JSON without U+0000 and without the names `__proto__` and `constructor`, at most 32 levels deep.',
    anyOf: [...scalars, ...within({ $ref: '#/components/schemas/NestedJson' })],
  },
  NestedJson: { description: 'A value nested in AnyJson.', anyOf: [...scalars, ...within({})] },
};

/** Adds to a body's schema what body.ts requires of every body, also in undeclared fields. */
function asBody(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, additionalProperties, ...rest } = schema;
  const parts: JsonSchema = {
    ...rest,
    ...(properties && { properties: mapped(properties) }),
    ...(items && { items: asBody(items) }),
    ...(anyOf && { anyOf: anyOf.map(asBody) }),
    ...(additionalProperties && { additionalProperties: asBody(additionalProperties) }),
  };
  if (isAnything(schema)) return { ...parts, ...anyJson };
  if (schema.type === 'string' && !['pattern', 'format', 'enum', 'const'].some((name) => name in schema))
    return { ...parts, pattern: anyText };
  if (schema.type !== 'object') return parts;
  return { propertyNames: fieldName, additionalProperties: anyJson, ...parts };
}

const mapped = (schemas: Record<string, JsonSchema>): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, asBody(schema)]));

const isAnything = (schema: JsonSchema): boolean =>
  !['type', '$ref', 'anyOf', 'enum', 'const'].some((name) => name in schema);
