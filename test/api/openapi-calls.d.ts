import type { Account, Answer, Request } from '../client.js';
import type { Service } from '../harness.js';
import type { Described } from './openapi-support.js';
/** What the calls refer to: all of it is there before the first call. */
export interface World {
    account: Account;
    other: Account;
    /** Whose end is asked for. */
    leaving: Account;
    suspended: Account;
    /** Query of a list. */
    page: string;
    webhookId: string;
    trackingId: string;
    deliveryId: string;
    replayId: string;
    linkToken: string;
}
/** Fills a service: two shippers, a webhook, a shipment that was delivered, a replay under way, a password link. */
export declare function makeWorld(service: Service, targetAddress: string): Promise<World>;
/** Sends a request as `changes` have it: with other ids, another body, other headers, to another process. */
export type Call = (changes?: Partial<World>, options?: Request, url?: string) => Promise<Answer>;
/** How each operation is called so that it succeeds. */
export declare function callsOf(service: Service, world: World): Record<string, Call>;
/** A request to an operation with right proofs and this query, without anything else it takes. */
export declare function bareCall(service: Service, account: Account, { method, path, operation }: Described, query: string): Promise<Answer>;
