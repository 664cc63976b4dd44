/** Text that needs neither quotes nor escapes, and is not read as null. */
const plain = /^(?!null$)[\w:.+-]+$/i;

function element(item: unknown): string {
  if (item === null || item === undefined) return 'NULL';
  if (typeof item === 'string') return plain.test(item) ? item : quoted(item);
  if (typeof item === 'number' || typeof item === 'boolean' || typeof item === 'bigint') return String(item);
  if (ArrayBuffer.isView(item)) return `\\\\x${bytesOf(item).toString('hex')}`;
  if (item instanceof Date) return momentOf(item);
  if (Array.isArray(item)) return arrayLiteral(item);
  return quoted(JSON.stringify(item));
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** JavaScript gives years above 9999 a sign and six digits; PostgreSQL reads them without. */
const momentOf = (date: Date): string => date.toISOString().replace(/^\+0*/, '');

/**
 * An array as PostgreSQL reads it (its manual, "Array Input and Output Syntax"). The driver's own conversion quotes
 * every element and searches it twice, which makes more garbage.
 */
const arrayLiteral = (items: readonly unknown[]): string => `{${Array.from(items, element).join(',')}}`;

/** A statement's values, with arrays as text. The driver converts the rest. */
export const parametersOf = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value));
