import type { Panel } from './board.js';

export type Cell = unknown;

export interface Table {
  columns: string[];
  rows: Cell[][];
}

export const drawnTransformations = [
  'merge',
  'joinByField',
  'organize',
  'filterFieldsByName',
  'sortBy',
  'limit',
];

/** A transformation that is not drawn here changes nothing. */
export function transformed(frames: Table[], { transformations }: Panel): Table {
  let tables = frames;
  for (const { id, options } of transformations) tables = apply(tables, id, options ?? {});
  return tables.length === 1 ? tables[0]! : merged(tables);
}

function apply(tables: Table[], id: string, options: any): Table[] {
  const each = (change: (table: Table) => Table) => tables.map(change);
  switch (id) {
    case 'merge':
      return [merged(tables)];
    case 'joinByField':
      return [merged(tables)];
    case 'organize':
      return each((table) => organized(table, options));
    case 'filterFieldsByName':
      return each((table) => kept(table, (column) => (options.include?.names ?? []).includes(column)));
    case 'sortBy':
      return each((table) => sorted(table, options.sort?.[0] ?? {}));
    case 'limit':
      return each(({ columns, rows }) => ({
        columns,
        rows: rows.slice(0, Number(options.limitField ?? 10)),
      }));
    default:
      return tables;
  }
}

/** Rows that agree in all columns they share become one. */
function merged(tables: Table[]): Table {
  const columns = [...new Set(tables.flatMap((table) => table.columns))];
  const isKey = (column: string) =>
    tables.length < 2 || tables.filter((table) => table.columns.includes(column)).length > 1;
  const rows = new Map<string, Record<string, Cell>>();
  for (const [n, table] of tables.entries())
    for (const [m, row] of table.rows.entries()) {
      const values = Object.fromEntries(table.columns.map((column, at) => [column, row[at] ?? null]));
      const shared = columns.filter((column) => isKey(column) && column !== 'Time');
      const key = JSON.stringify([shared.map((column) => values[column]), tables.length < 2 && [n, m]]);
      rows.set(key, { ...rows.get(key), ...values });
    }
  return { columns, rows: [...rows.values()].map((row) => columns.map((column) => row[column] ?? null)) };
}

function kept({ columns, rows }: Table, isKept: (column: string) => boolean): Table {
  const places = columns.map((column, at) => ({ column, at })).filter(({ column }) => isKept(column));
  return {
    columns: places.map(({ column }) => column),
    rows: rows.map((row) => places.map(({ at }) => row[at])),
  };
}

function organized(
  table: Table,
  { excludeByName = {}, includeByName = {}, indexByName = {}, renameByName = {} }: any,
): Table {
  const wanted = Object.keys(includeByName).length > 0;
  const left = kept(table, (column) => !excludeByName[column] && (!wanted || includeByName[column]));
  const order = left.columns
    .map((column, at) => ({ column, at, place: Number(indexByName[column] ?? 1_000 + at) }))
    .sort((a, b) => a.place - b.place);
  return {
    columns: order.map(({ column }) => renameByName[column] || column),
    rows: left.rows.map((row) => order.map(({ at }) => row[at])),
  };
}

export function sorted({ columns, rows }: Table, { field, desc }: { field?: string; desc?: boolean }): Table {
  const at = columns.indexOf(field ?? '');
  if (at < 0) return { columns, rows };
  const compare = (a: any, b: any) => (a === b ? 0 : a === null || (b !== null && a < b) ? -1 : 1);
  return { columns, rows: [...rows].sort((a, b) => compare(a[at], b[at]) * (desc ? -1 : 1)) };
}
