import * as z from 'zod';
import { exampleId, exampleIds } from '../request/fields.js';

export type SchemaCollector = ReturnType<typeof createSchemaCollector>;

export function createSchemaCollector() {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    /** Converts a parameter (`input`), a request body (`body`) or a response (`output`); schemas with an id become references. */
    toJson: (schema: z.ZodType, io: 'input' | 'body' | 'output'): JsonSchema => {
      const direction = io === 'output' ? io : 'input';
      const text = JSON.stringify(z.toJSONSchema(schema, { io: direction, override: tidy }));
      const { $defs, ...root } = JSON.parse(
        text.replaceAll('"#/$defs/', '"#/components/schemas/'),
        forGenerators,
      ) as JsonSchema & { $defs?: Record<string, JsonSchema> };
      delete root.$schema;
      Object.assign(components, io === 'body' && $defs ? mapped($defs) : $defs);
      return io === 'body' ? asBody(root) : root;
    },
  };
}

/** Removes what the API does not promise (additional fields are allowed) or what is redundant (the pattern of a format). */
function tidy({ jsonSchema: schema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.format) delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (typeof schema.propertyNames === 'object' && !schema.propertyNames.pattern) delete schema.propertyNames;
  delete schema.$schema;
}

const maxInt32 = 2 ** 31 - 1;

/**
 * A reviver of JSON, for generators of clients. Numbers have a format: without one, several choose 32 bits. One value is
 * an enum, and a type that may be null a list of two types, which more of them understand than `const` and `anyOf`.
 */
function forGenerators(_key: string, value: unknown): unknown {
  const { anyOf, const: one, ...own } = Object(value) as JsonSchema;
  if (typeof one === 'string') return { ...own, enum: [one] };
  const [main] = [own.type].flat();
  if (main === 'number') return { ...own, format: 'double' };
  if (main === 'integer' && !(own.maximum! <= maxInt32)) return { ...own, format: 'int64' };
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]!.type !== 'null') return value;
  const { type, enum: names, ...inner } = anyOf[0]!;
  if (typeof type !== 'string') return value;
  return { ...inner, type: [type, 'null'], ...(names && { enum: [...names, null] }), ...own };
}

/** The target of a reference, overridden by the reference's own keywords. */
export function resolved(schema: JsonSchema, components: Record<string, JsonSchema>): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  return { ...components[nameOf($ref)], ...own };
}

export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** An example composed of the examples of its parts; undefined if a part has none. */
export function exampleOf(schema: JsonSchema, components: Record<string, JsonSchema>): unknown {
  const { examples, properties, items, anyOf, ...target } = resolved(schema, components);
  if (examples) return examples[0];
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

export const ownId = (name: string, example: unknown): unknown =>
  example === exampleId ? ((exampleIds as Record<string, string>)[name] ?? example) : example;

/** The pattern of any text in a body. Unpaired surrogates are also refused, but no pattern can express that. */
const anyText = '^[^\\u0000]*$';

/** Adds the pattern to every text of a body that has no stricter one. */
function asBody(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, additionalProperties, ...rest } = schema;
  const isText = [schema.type].flat()[0] === 'string';
  return {
    ...rest,
    ...(isText && !['pattern', 'format', 'enum'].some((name) => name in schema) && { pattern: anyText }),
    ...(properties && { properties: mapped(properties) }),
    ...(items && { items: asBody(items) }),
    ...(anyOf && { anyOf: anyOf.map(asBody) }),
    ...(additionalProperties && { additionalProperties: asBody(additionalProperties) }),
  };
}

const mapped = (schemas: Record<string, JsonSchema>): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, asBody(schema)]));

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  externalDocs: { description: string; url: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Paths;
  webhooks: Paths;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, ResponseObject>;
    headers: Record<string, HeaderObject>;
    securitySchemes: Record<string, object>;
  };
}

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type Paths = Record<string, Partial<Record<Method, Operation>>>;

export interface Operation {
  operationId: string;
  tags: [string];
  summary: string;
  description?: string;
  /** Not for a client to call. */
  'x-internal'?: true;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, ResponseObject | Reference>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example?: unknown;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, HeaderObject | Reference>;
  content?: Content;
}

export interface HeaderObject {
  description: string;
  schema: JsonSchema;
}

/** In OpenAPI 3.1 a reference may override the description. */
export interface Reference {
  $ref: string;
  description?: string;
}

export type Content = Record<string, { schema: JsonSchema; example?: unknown }>;

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema;
  propertyNames?: JsonSchema;
  format?: string;
  pattern?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  [keyword: string]: unknown;
}
