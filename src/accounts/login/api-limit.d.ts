import type { RateLimits } from '../../platform/limits/rate-limit.js';
/**
 * Lets a shipper make `perSecond` requests, averaged over ten seconds, so that a burst passes; 0 is any number.
 * Throws ApiError TOO_MANY_REQUESTS beyond. A request never waits for the shared count: it is told of requests
 * behind their back, a hundredth of the window's points or a second's worth at a time, and so may be overdrawn by
 * as much in each process.
 */
export declare function createApiLimit(limits: RateLimits, perSecond: number, onLimited: (limit: 'api') => void, timeScale?: number): (shipperId: string) => void;
