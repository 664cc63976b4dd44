import * as z from 'zod';
import { asBody, bodyComponents, mapped } from './bodies.js';
import type { JsonSchema } from './types.js';

export interface SchemaCollector {
  /** `components.schemas`: every schema met so far that has an id. */
  components: Record<string, JsonSchema>;
  /**
   * The schema in JSON Schema: of a parameter, of a body that callers send, or of what they get. Schemas with an id are
   * referred to.
   */
  toJson(schema: z.ZodType, io: 'input' | 'body' | 'output'): JsonSchema;
}

/** Turns zod schemas into the document's. */
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

/** Leaves out what binds or tells readers nothing: later fields are no breach, a format says what its pattern would. */
function tidy({ jsonSchema: schema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.format) delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (typeof schema.propertyNames === 'object' && !schema.propertyNames.pattern) delete schema.propertyNames;
  delete schema.$schema;
}

/** What a reference stands for, with what the reference itself says. */
export function resolved(schema: JsonSchema, components: Record<string, JsonSchema>): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  return { ...components[nameOf($ref)], ...own };
}

/** The last part of a reference: the component's name. */
export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** An example made of the examples of its parts; undefined where a part has none. */
export function exampleOf(schema: JsonSchema, components: Record<string, JsonSchema>): unknown {
  const { examples, properties, items, anyOf, ...target } = resolved(schema, components);
  if (examples) return examples[0];
  if ('const' in target) return target.const;
  if (target.enum) return target.enum[0];
  if ('default' in target) return target.default;
  if (properties) {
    const parts = Object.entries(properties);
    return Object.fromEntries(parts.map(([name, part]) => [name, exampleOf(part, components)]));
  }
  if (anyOf) return exampleOf(anyOf[0]!, components);
  if (items) return [exampleOf(items, components)];
  return target.type === 'boolean' ? false : undefined;
}
