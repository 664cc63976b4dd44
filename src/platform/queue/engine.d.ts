import { type Logger } from '../logger.js';
/** A job is a pointer: ids, or nothing where PostgreSQL is asked what is due. Never content. */
export interface JobSpec {
    name: string;
    /** Deterministic: adding the same id again while it waits is harmless. Without `:`, not digits only. */
    id: string;
    ids?: string[];
}
export interface Producer {
    /** Rejects soon while the engine is away; the sweeper brings what was lost. */
    add(jobs: JobSpec[]): Promise<void>;
    /** Jobs ready to run now. */
    waitingCount(): Promise<number>;
    counts(): Promise<Record<string, number>>;
    /** Age of the job that has waited longest; 0 if none waits. */
    oldestWaitingMs(): Promise<number>;
}
export interface QueueEngine {
    kind: 'redis' | 'postgres';
    /** Brings the engine's own tables up to date; once, before anything else. */
    prepare(): Promise<void>;
    producer(name: string): Producer;
    /** Runs `handle` for each job until `close`, which waits for the jobs under way. */
    consume(name: string, concurrency: number, handle: (job: {
        name: string;
        ids: string[];
    }) => Promise<void>): {
        close(): Promise<void>;
    };
    /** Rejects with the reason if the engine does not answer or is set up to lose jobs. */
    check(): Promise<void>;
    close(): Promise<void>;
}
export interface QueueEngineOptions {
    redisUrl: string | undefined;
    databaseUrl: string;
    prefix: string;
    logger: Logger;
}
/** BullMQ on Redis where a URL is given, else on PostgreSQL; nothing outside this file knows which. */
export declare function createQueueEngine(options: QueueEngineOptions): QueueEngine;
