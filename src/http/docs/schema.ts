import { nameOf, resolved } from '../openapi/schemas.js';
import type { JsonSchema } from '../openapi/types.js';
import { html, phrase, type Html } from './html.js';

type Components = Record<string, JsonSchema>;

interface Field {
  /** `package.weight`, `attempts[].number` */
  path: string;
  optional: boolean;
  schema: JsonSchema;
}

/** The anchor of a component. */
export const anchorOf = (name: string) => `schema-${name}`;

/** The fields of an object as a table, including those of unnamed objects within it. */
export function fieldTable(schema: JsonSchema, components: Components): Html | undefined {
  const fields = fieldsOf(resolved(schema, components));
  return fields.length === 0 ? undefined : table(fields);
}

export const table = (fields: Field[]): Html =>
  html`<table>
    ${fields.map(
      ({ path, optional, schema }) =>
        html`<tr>
          <th scope="row"><code>${breakable(path)}</code>${optional && html` <small>optional</small>`}</th>
          <td class="type">${typeOf(schema)}${limitsOf(schema)}</td>
          <td>${phrase(schema.description ?? '')}</td>
        </tr>`,
    )}
  </table>`;

/** Allows a long path to wrap after a full stop. */
const breakable = (path: string): Html[] =>
  path.split(/(?<=\.)/).map((part, index) => html`${index > 0 && html`<wbr />`}${part}`);

function fieldsOf(schema: JsonSchema, prefix = ''): Field[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = prefix + name;
    const inner = property.items ? fieldsOf(property.items, `${path}[].`) : fieldsOf(property, `${path}.`);
    return [{ path, optional: !required.has(name), schema: property }, ...inner];
  });
}

/** `string (date-time) or null`, with links to named schemas. */
function typeOf(schema: JsonSchema): Html {
  if (schema.$ref) {
    const name = nameOf(schema.$ref);
    return html`<a href="#${anchorOf(name)}">${name}</a>`;
  }
  if (schema.anyOf) return joined(schema.anyOf.map(typeOf), ' or ');
  if (schema.items) return html`list of ${typeOf(schema.items)}`;
  const types = [schema.type ?? 'any JSON'].flat().join(' or ');
  return html`${types}${schema.format !== undefined && html` (${schema.format})`}`;
}

/** Constraints besides the type, in a few words each. */
function limitsOf(schema: JsonSchema): Html {
  const main = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const values = (main.enum ?? ('const' in main ? [main.const] : [])).map(
    (value) => html`<code>${String(value)}</code>`,
  );
  const limits = [
    ...(values.length > 0 ? [joined(values, ', ')] : []),
    ...(main.exclusiveMinimum === undefined ? [] : [html`more than ${main.exclusiveMinimum}`]),
    ...range('', main.minimum, main.maximum),
    ...range(' characters', main.minLength, main.maxLength),
    ...range(' items', main.minItems, main.maxItems),
    ...range(' fields', undefined, main.maxProperties),
    ...(isReadable(main.pattern) ? [html`matches <code>${main.pattern}</code>`] : []),
    ...(schema.default === undefined ? [] : [html`default <code>${JSON.stringify(schema.default)}</code>`]),
  ];
  return html`${limits.map((limit) => html`<small>${limit}</small>`)}`;
}

/** Long patterns are left out: the description is enough. */
const isReadable = (pattern: string | undefined): pattern is string =>
  pattern !== undefined && !pattern.includes('\\u0000') && pattern.length <= 60;

function range(unit: string, min?: number, max?: number): Html[] {
  if (min === undefined && max === undefined) return [];
  const words =
    min === undefined ? `at most ${max}` : max === undefined ? `at least ${min}` : `${min} to ${max}`;
  return [html`${words}${unit}`];
}

const joined = (parts: Html[], separator: string): Html =>
  html`${parts.map((part, index) => html`${index > 0 && separator}${part}`)}`;
