/** Neither quotes nor escapes are needed, and it is not taken for null. */
const plain = /^(?!null$)[\w:.+-]+$/i;

function element(item: unknown): string {
  if (item === null || item === undefined) return 'NULL';
  if (typeof item === 'string') return plain.test(item) ? item : quoted(item);
  if (typeof item === 'number' || typeof item === 'boolean' || typeof item === 'bigint') return String(item);
  if (Buffer.isBuffer(item)) return `\\\\x${item.toString('hex')}`;
  if (item instanceof Date) return momentOf(item);
  if (Array.isArray(item)) return arrayLiteral(item);
  return quoted(JSON.stringify(item));
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** PostgreSQL writes a year of five digits without a sign. */
const momentOf = (date: Date): string => date.toISOString().replace(/^\+0*/, '');

/**
 * An array as PostgreSQL reads it ("Array Input and Output Syntax"). The driver's own conversion quotes each element and
 * searches it twice, which made a tenth of the garbage of a delivery.
 */
export const arrayLiteral = (items: readonly unknown[]): string => `{${items.map(element).join(',')}}`;

/** The values of a statement, with arrays as text; the driver converts the others. */
export const parametersOf = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value));
