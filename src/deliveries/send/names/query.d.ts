import type { LookupAddress } from 'node:dns';
/** What a lookup came to; `lastsMs` says how long it may be used again. */
export type Found = {
    addresses: LookupAddress[];
    lastsMs: number;
} | {
    failure: string;
    isSilent: boolean;
};
export interface Query {
    found: Promise<Found>;
    /** Nobody wants to know any more. */
    cancel(): void;
}
/**
 * Asks DNS for all addresses of a name, IPv4 first. Each lookup has a channel of its own (20 µs): it is cancelled by
 * itself, its port cannot be foreseen, and a server's silence about one name is not held against it for another.
 */
export declare function queryDns(hostname: string, servers: readonly string[] | undefined): Query;
