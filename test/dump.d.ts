type Sql = <Row = Record<string, any>>(text: string, values?: unknown[]) => Promise<Row[]>;
/** The tables, of every schema, in which any column of any row has one of these words, and which. */
export declare function findInDatabase(sql: Sql, words: string[]): Promise<string[]>;
export {};
