/** What a key has left (less than none if it was overdrawn), and when it has all its points again. */
export interface Balance {
    left: number;
    resetMs: number;
}
/** So many points for every key in a window, which begins with the first spent. Neither function rejects. */
export interface RateLimit {
    spend(key: string, points?: number): Promise<Balance>;
    look(key: string): Promise<Balance>;
}
export interface RateLimits {
    limit(options: {
        name: string;
        points: number;
        windowSeconds: number;
    }): RateLimit;
    close(): Promise<void>;
}
/**
 * Counts in Redis, so that all processes share a limit; without `redisUrl`, and while Redis is away or does not answer
 * in time, each process counts for itself. Keys go to Redis as they are given: nothing secret may be in them.
 */
export declare function createRateLimits(redisUrl: string | undefined, prefix: string): RateLimits;
