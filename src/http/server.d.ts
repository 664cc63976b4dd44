import { type Express, type Request, type RequestHandler } from 'express';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import { type Caller, type OperatorScope, type Route } from './route.js';
import type { Shares } from './connections/shares.js';
export interface ServerOptions {
    routes: Route[];
    /** Pages for people, outside the API's conventions. */
    pages: RequestHandler[];
    /** Throws ApiError where the request may not pass. */
    authenticate: Record<'shipper' | 'operator', (request: Request, scope: OperatorScope) => Promise<Caller>>;
    /** Throws ApiError where a shipper asks too often. */
    limit(shipperId: string): void;
    /** What a shipper may have of this process at once. */
    shares: Shares;
    logger: Logger;
    metrics: Metrics;
    /** Proxies whose X-Forwarded-For is believed, as express takes them. */
    trustProxy: number | string[] | undefined;
}
/** Everything a request passes through, in order; errors thrown anywhere become the contract's answers. */
export declare function createApp(options: ServerOptions): Express;
