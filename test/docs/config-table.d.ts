/** A row per variable of src/config.ts: its name, its default, what it is for. */
export declare const configRows: () => string[][];
/** The rows of the table as it stands in a README. */
export declare const rowsIn: (readme: string) => string[][];
/** The README with its table made anew; Prettier aligns it. */
export declare function withTable(readme: string): string;
