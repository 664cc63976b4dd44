import type { Closing } from './engines.js';
export interface FailingOver {
    url: string;
    /** Kills the one that leads; resolves when another leads in its place. */
    failOver(): Promise<void>;
}
/** Three primaries and three replicas; the one that leads has the queue of deliveries. */
export declare function redisCluster(folder: string, closing: Closing): Promise<FailingOver>;
/** A primary, its replica, and three Sentinels that watch them. */
export declare function redisWithSentinels(folder: string, closing: Closing): Promise<FailingOver>;
