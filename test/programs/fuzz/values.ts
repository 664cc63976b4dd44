import fc from 'fast-check';
import { resolved, type JsonSchema } from '../../../src/http/openapi/schemas.js';

export type Components = Record<string, JsonSchema>;

const known = Symbol('known');

/** A value that earlier responses may contain, such as a `webhookId`; `otherwise` before that. */
interface Known {
  [known]: string;
  pick: number;
  otherwise: unknown;
}
const isKnown = (value: unknown): value is Known =>
  typeof value === 'object' && value !== null && known in value;

/** Ids and cursors come from responses. */
export const isNamed = (name: string) => /Id$|^(cursor|after)$/.test(name);

export function settle(value: unknown, lookUp: (name: string, pick: number) => unknown): unknown {
  if (isKnown(value)) return lookUp(value[known], value.pick) ?? settle(value.otherwise, lookUp);
  if (Array.isArray(value)) return Array.from(value, (item) => settle(item, lookUp)); // its `constructor` may be anything
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, settle(inner, lookUp)]));
}

/** A field that has a known value most of the time if responses contain it. */
export function fieldOf(name: string, schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  const any = valueOf(schema, components);
  if (!isNamed(name)) return any;
  const one = fc.record({ pick: fc.nat(1_000), otherwise: any });
  return one.map(({ pick, otherwise }): Known => ({ [known]: name, pick, otherwise }));
}

export function valueOf(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  const { examples = [], ...own } = resolved(schema, components);
  const made = madeOf(own, components, examples);
  return examples.length > 0
    ? fc.oneof({ weight: 1, arbitrary: fc.constantFrom(...examples) }, { weight: 3, arbitrary: made })
    : made;
}

function madeOf(schema: JsonSchema, components: Components, examples: unknown[]): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valueOf(one, components)));
  const types = [schema.type ?? 'any'].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, components, examples)));
}

function ofType(
  type: string,
  schema: JsonSchema,
  components: Components,
  examples: unknown[],
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -9e15, max: schema.maximum ?? 9e15 });
    case 'number':
      return numberOf(schema);
    case 'string':
      return textOf(schema, examples);
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, components), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, 5),
      });
    case 'object':
      return objectOf(schema, components);
    default:
      return anyJson;
  }
}

const numberOf = ({ minimum, maximum, exclusiveMinimum }: JsonSchema) =>
  fc.double({
    noNaN: true,
    noDefaultInfinity: true,
    min: exclusiveMinimum ?? minimum ?? -1e300,
    max: maximum ?? 1e300,
    minExcluded: exclusiveMinimum !== undefined,
  });

function objectOf(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  const { properties, required = [], maxProperties = 5 } = schema;
  const needed = oneOf(schema);
  const more = fc.dictionary(
    textOf({ pattern: '^[a-z]{1,9}$', ...schema.propertyNames }, []).filter(
      (name) => !/^__|^const/.test(name),
    ),
    valueOf(schema.additionalProperties ?? {}, components),
    { maxKeys: Math.min(maxProperties, properties ? 1 : 5), noNullPrototype: true },
  );
  if (!properties) return more;
  const fields = Object.entries(properties).map(([name, one]) => [name, fieldOf(name, one, components)]);
  const own = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: required,
    noNullPrototype: true,
  });
  return fc
    .oneof(
      { weight: 4, arbitrary: own },
      { weight: 1, arbitrary: fc.tuple(more, own).map(([a, b]) => ({ ...a, ...b })) },
    )
    .filter((value) => !needed || needed.some((name) => name in value));
}

/** The fields of which a body must have one (`oneOfFields`). */
const oneOf = ({ not }: JsonSchema): string[] | undefined =>
  (not as { propertyNames?: { not?: { enum?: string[] } } } | undefined)?.propertyNames?.not?.enum;

const wellFormed = (text: string) => text.isWellFormed() && !text.includes('\0');

function textOf({ pattern, format, minLength = 0, maxLength = 1_000 }: JsonSchema, examples: unknown[]) {
  // A pattern that only excludes characters is no form to generate.
  const isForm = pattern !== undefined && !pattern.includes('\\u0000');
  const form = new RegExp(pattern ?? '');
  const fits = (text: string) =>
    text.length >= minLength && text.length <= maxLength && wellFormed(text) && form.test(text);
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time')
    return fc
      .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((at) => at.toISOString());
  if (format === 'email') return fc.constant('ana@example.com');
  if (isForm) return matching(form, examples as string[]).filter(fits);
  const unit = fc.constantFrom<('grapheme' | 'binary')[]>('grapheme', 'binary');
  return unit
    .chain((kind) => fc.string({ unit: kind, minLength, maxLength: Math.min(maxLength, 50) }))
    .filter(fits);
}

/** The examples of a pattern that fast-check cannot generate (lookahead). */
function matching(pattern: RegExp, examples: string[]): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(pattern, { size: 'small' });
  } catch {
    return fc.constantFrom(...examples);
  }
}

const cleanJson = fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }).map((value) => value as unknown);
const anyJson = cleanJson.filter((value) => {
  const text = JSON.stringify(value);
  return !/\\u0000|\\ud[89a-f]|"__proto__"|"constructor"/i.test(text);
});
