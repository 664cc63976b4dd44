import type { Job, Queue, Worker } from 'bullmq';
/** What an engine opens of its own; it is closed with the engine. */
export type Opened = {
    close(): Promise<unknown>;
}[];
export interface Backend {
    prepare(): Promise<void>;
    /** Answers the queue, opened on first use; throws while the engine is away. */
    queue(name: string): () => Queue;
    /** `listen` is given every worker before it runs. */
    worker(name: string, concurrency: number, handle: (job: Job) => Promise<void>, listen: (worker: Worker) => void): Pick<Worker, 'close'>;
    check(): Promise<void>;
}
export declare const workerOptions: {
    lockDuration: number;
    stalledInterval: number;
    runRetryDelay: number;
    maxStalledCount: number;
    removeOnComplete: {
        count: number;
    };
    removeOnFail: {
        count: number;
    };
};
/** BullMQ remembers a failed opening for ever: after a moment the next use begins anew. */
export declare function reopened(open: () => Queue): () => Queue;
