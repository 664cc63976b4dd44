import type { JsonSchema } from './types.js';

/** Of any text in a body; what else is refused everywhere (half a surrogate pair) no pattern can tell. */
const anyText = '^[^\\u0000]*$';
const anyJson = { $ref: '#/components/schemas/AnyJson' };
const fieldName = { pattern: anyText, not: { enum: ['__proto__', 'constructor'] } };

const scalars: JsonSchema[] = [{ type: ['null', 'boolean', 'number'] }, { type: 'string', pattern: anyText }];
const within = (inner: JsonSchema): JsonSchema[] => [
  { type: 'array', items: inner },
  { type: 'object', propertyNames: fieldName, additionalProperties: inner },
];

/** `components.schemas` that bodies refer to. Two levels are told; a schema that refers to itself breaks many tools. */
export const bodyComponents: Record<string, JsonSchema> = {
  AnyJson: {
    description:
      'Any JSON without U+0000 and without the names `__proto__` and `constructor`, at most 32 levels deep.',
    anyOf: [...scalars, ...within({ $ref: '#/components/schemas/NestedJson' })],
  },
  NestedJson: { description: 'The same within it.', anyOf: [...scalars, ...within({})] },
};

/** Says in a body's schema what holds for every body (body.ts): also in fields that nobody knows. */
export function asBody(schema: JsonSchema): JsonSchema {
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

export const mapped = (schemas: Record<string, JsonSchema>): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, asBody(schema)]));

const isAnything = (schema: JsonSchema): boolean =>
  !['type', '$ref', 'anyOf', 'enum', 'const'].some((name) => name in schema);
