import { type Logger } from '../../platform/logger.js';
import type { Producer } from '../../platform/queue/engine.js';
/** Tells workers of other processes, by the queue, which webhooks have something due. */
export interface Pointers {
    /**
     * What became due just now, or (`look`) may have been due for long. Never waited for or retried: the sweeper is the
     * safety net.
     */
    point(kind: 'due' | 'look', webhookIds: string[]): void;
}
export declare const queueNames: (shards: number) => string[];
export declare function createPointers(producers: Producer[], logger: Logger): Pointers;
