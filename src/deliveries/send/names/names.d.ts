import type { LookupAddress } from 'node:dns';
export interface NamesOptions {
    /** Name servers, `address` or `address:port`; without it those of the machine. */
    servers?: readonly string[] | undefined;
    /** Asks the machine for names that DNS does not know: they may stand in its hosts file. */
    systemToo: boolean;
}
/** Whose attempt a lookup is for, and when that ends, by performance.now(). */
export interface Asker {
    shipperId: string;
    deadlineAtMs: number;
}
export interface Names {
    /** All addresses of a name; rejects with the code `DNS`, at the deadline at the latest. */
    resolve(hostname: string, asker: Asker): Promise<LookupAddress[]>;
    /** Ends all lookups under way. */
    close(): void;
}
/**
 * Resolves names outside libuv's pool, where a name server that is silent would block everybody. Attempts that want the
 * same name share a lookup; the last one to leave cancels it. Lookups under way are bounded, in all and by shipper.
 * A remembered answer is no danger: whoever connects checks its addresses each time.
 */
export declare function createNames({ servers, systemToo }: NamesOptions): Names;
