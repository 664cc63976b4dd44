export type Unit = '' | '/s' | 'ms' | 'µs' | 's' | 'B' | 'MB' | '%';
export interface Figure {
    name: string;
    unit: Unit;
    value: number;
}
/**
 * Share of the moments looked at when some session waited so, and how many did on average over all moments.
 * `event` is a type and an event (`Lock transactionid`), or a type alone: any of it.
 */
export interface Wait {
    event: string;
    sharePercent: number;
    meanSessions: number;
}
export interface TableUpdates {
    table: string;
    updates: number;
    hotPercent: number;
}
export interface Statement {
    query: string;
    calls: number;
    totalMs: number;
    meanMs: number;
    rows: number;
}
/** What does not fit into one number; of the last run. */
export interface Details {
    waits: Wait[];
    updates: TableUpdates[];
    /** Null where the engine does not count them. */
    statements: Statement[] | null;
}
/** One line of the report: a load on one form of the deployment. */
export interface Measured {
    load: string;
    figures: Figure[];
    details?: Details;
}
export declare const figure: (name: string, unit: Unit, value: number) => Figure;
/** p50 and p99 of these milliseconds. */
export declare function latencyFigures(name: string, valuesMs: number[]): Figure[];
