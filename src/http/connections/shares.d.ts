import type { Response } from 'express';
export interface ShareOptions {
    /** Requests of one shipper under way at once, those that wait for their turn included. */
    mostUnderWay: number;
    /** Requests at work at once, of all shippers and of one. */
    atOnce: number;
    atOncePerShipper: number;
    /** Answers of one shipper that are being made or have not been taken by their client. */
    mostUnread: number;
    longestWaitMs: number;
    /** Where none of a shipper's requests at work has ended well for so long, more may start: what they wait for is stuck. */
    stalledAfterMs: number;
    mostStalled: number;
    onRefused(): void;
}
/** What a shipper may have of a process at once, so that none takes it from the others. */
export interface Shares {
    /** Counts a request until its answer is over. Throws ApiError TOO_MANY_REQUESTS beyond the shipper's share. */
    begin(shipperId: string, response: Response): void;
    /**
     * Runs `work` for a request that has begun, when its turn comes; shippers take turns. Throws ApiError
     * TOO_MANY_REQUESTS where it does not come in time.
     */
    inTurn<T>(shipperId: string, response: Response, work: () => Promise<T>): Promise<T>;
}
export declare function createShares(options: ShareOptions): Shares;
