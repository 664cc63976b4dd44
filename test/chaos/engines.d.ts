/** What is to be closed at the end, the last first. */
export type Closing = (() => unknown)[];
export type RedisEngine = NonNullable<Awaited<ReturnType<typeof redisIn>>>;
export type PostgresEngine = Awaited<ReturnType<typeof postgresIn>>;
/** A Redis of the run's own, to be killed, stopped for a while and commanded; null where none is installed. */
export declare function redisIn(folder: string, closing: Closing): Promise<{
    url: string;
    kill: () => Promise<undefined>;
    start: () => Promise<undefined>;
    /** It exists, but does not answer. */
    freeze: (ms: number) => Promise<void>;
    command: (...[name, ...words]: string[]) => Promise<unknown>;
} | null>;
/** A PostgreSQL of the run's own, to be crashed and started again. */
export declare function postgresIn(folder: string, closing: Closing): Promise<{
    url: string;
    sql: <Row>(text: string, values?: unknown[]) => Promise<Row[]>;
    crash: () => Promise<void>;
    start: () => Promise<undefined>;
    /** Locks tables against everybody. */
    locked: (tables: string, ms: number) => Promise<void>;
}>;
