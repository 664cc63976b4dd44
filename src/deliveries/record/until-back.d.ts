/**
 * Does what must not be lost with an outage of PostgreSQL again until it succeeds, about every second for
 * `patienceMs`, as long as `goOn` says. Rejects with the last error; at once if it is not that something is out of reach.
 */
export declare const untilBack: <T>(task: () => Promise<T>, goOn: () => boolean, patienceMs: number) => Promise<T>;
