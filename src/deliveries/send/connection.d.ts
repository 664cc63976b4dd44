import { type DestinationPolicy } from '../../webhooks/destination/destination.js';
import type { Asker, Names } from './names/names.js';
import { type AttemptOptions } from './proxy.js';
export interface RouteOptions {
    policy: DestinationPolicy;
    names: Names;
    /** `http://user:password@host:port`; it is told addresses, resolved and checked here. */
    egressProxy?: string | undefined;
    /** Default 1,024, more than lanes let hang on a usual setting. What is beyond it waits for a connection, on its own deadline. */
    maxSocketsPerHost?: number | undefined;
    /** Certificate authorities (PEM) to trust instead of Node's, in tests. */
    certificateAuthority?: string | undefined;
}
/** `fresh` connections are never used twice. */
export type Connection = 'pooled' | 'fresh';
export interface Router {
    /** What Node needs to reach a webhook's address; throws `ADDRESS_DENIED` where it may not be called any more. */
    route(url: URL, address: string, connection: Connection, asker: Asker): AttemptOptions;
    close(): void;
}
/** Chooses agent and address for each request. The agents hold the guarded lookup, so no request is without. */
export declare function createRouter(options: RouteOptions): Router;
