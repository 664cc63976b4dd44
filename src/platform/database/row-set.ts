/** By column: its type, and its value in a row. */
export type Columns<Row> = Record<string, [type: string, value: (row: Row) => unknown]>;

/** Rows that a statement takes as parameters, an array for each column. */
export interface RowSet<Row> {
  /** For `from`: the rows as table `t`, with the arrays from parameter `$first` on. `place`: a column for their order. */
  as(t: string, first?: number, place?: string): string;
  /** How many parameters it takes. */
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
