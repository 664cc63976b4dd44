import type { Deployment } from './deployment.js';
import type { Statement, TableUpdates, Wait } from './figures.js';
interface Counters {
    deadlocks: number;
    fullPageImages: number;
    tables: Map<string, {
        updates: number;
        hot: number;
    }>;
}
/** Looks at the service's database through the server's own statistics, over connections that stay open. */
export interface DatabaseWatch {
    /** The server's processes of these connections: none of the service's costs. */
    pids: number[];
    walPosition(): Promise<number>;
    counters(): Promise<Counters>;
    resetStatements(): Promise<void>;
    dearestStatements(): Promise<Statement[] | null>;
    /** What sessions are active or wait right now; adds it to the sample. */
    sampleWaits(): Promise<void>;
    waits(): Wait[];
    close(): Promise<void>;
}
export declare function watchDatabase({ system, databaseUrl }: Deployment): Promise<DatabaseWatch>;
export declare const updatesBetween: (before: Counters, after: Counters) => TableUpdates[];
export {};
