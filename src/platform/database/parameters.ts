/** The type of each column, and its value in a row. */
export type Columns<Row> = Record<string, [type: string, value: (row: Row) => unknown]>;

/** Rows that a statement takes as parameters, an array for each column. */
export interface RowSet<Row> {
  /** The rows as table `t` of a `from`; their arrays begin at `$first`. `place` names a column for their order. */
  as(t: string, first?: number, place?: string): string;
  /** The number of parameters. */
  count: number;
  /** The parameters, in the order of the columns. */
  arrays(rows: readonly Row[]): unknown[][];
}

export function rowSet<Row>(columns: Columns<Row>): RowSet<Row> {
  const names = Object.keys(columns);
  const parts = Object.values(columns);
  return {
    as: (t, first = 1, place) => {
      const arrays = parts.map(([type], index) => `$${first + index}::${type}[]`).join(', ');
      return place === undefined
        ? `unnest(${arrays}) as ${t} (${names.join(', ')})`
        : `unnest(${arrays}) with ordinality as ${t} (${[...names, place].join(', ')})`;
    },
    count: parts.length,
    arrays: (rows) => parts.map(([, value]) => rows.map((row) => value(row))),
  };
}

/** Text that needs neither quotes nor escapes, unless it is read as null. */
const plain = /^[\w:.+-]+$/;
const readAsNull = /^null$/i;

function element(item: unknown): string {
  if (item === null || item === undefined) return 'NULL';
  if (typeof item === 'string') return plain.test(item) && !readAsNull.test(item) ? item : quoted(item);
  if (typeof item === 'number' || typeof item === 'boolean' || typeof item === 'bigint') return String(item);
  if (ArrayBuffer.isView(item)) return `\\\\x${bytesOf(item).toString('hex')}`;
  if (item instanceof Date) return momentOf(item);
  if (Array.isArray(item)) return arrayLiteral(item);
  return quoted(JSON.stringify(item));
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** JSON has its own escapes for these. It quotes all else as PostgreSQL does, and several times faster. */
const escapedByJson = /[\0-\x1f\ud800-\udfff]/;
const quoted = (text: string): string =>
  escapedByJson.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : JSON.stringify(text);

/** The last second written, kept because most times of a statement are within one. */
let lastSecond = Number.NaN;
let untilSecond = '';

/** JavaScript writes years above 9999 with a sign and six digits; PostgreSQL reads them without. */
function momentOf(date: Date): string {
  const atMs = date.getTime();
  const second = Math.floor(atMs / 1_000);
  if (second !== lastSecond) {
    untilSecond = new Date(second * 1_000).toISOString().slice(0, -4).replace(/^\+0*/, '');
    lastSecond = second;
  }
  return `${untilSecond}${String(atMs - second * 1_000).padStart(3, '0')}Z`;
}

/**
 * An array as PostgreSQL reads it (its manual, "Array Input and Output Syntax"). The driver's own conversion quotes
 * every element and searches it twice, which makes more garbage.
 */
function arrayLiteral(items: readonly unknown[]): string {
  let text = '';
  for (const item of items) text += `${text === '' ? '{' : ','}${element(item)}`;
  return text === '' ? '{}' : `${text}}`;
}

/** A statement's values, with arrays as text. The driver converts the rest. */
export const parametersOf = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value));
