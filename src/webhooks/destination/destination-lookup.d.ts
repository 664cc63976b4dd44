import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { type DestinationPolicy } from './destination-address.js';
/** Every address of a name. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;
/**
 * The addresses of a name, none of which is denied. One denied answer denies the name, of either family, because the
 * connection may be made to any of them. The error has the code `ADDRESS_DENIED`.
 */
export declare function checkedAddresses(hostname: string, policy: DestinationPolicy, resolve: Resolve): Promise<LookupAddress[]>;
/**
 * A `lookup` for `net.connect`, so that the address that is checked is the address that is connected to: a
 * check before the connection would be void after DNS rebinding.
 *
 * Node calls no lookup for a literal address: check that with `isDeniedAddress`.
 */
export declare function guardedLookup(policy: DestinationPolicy, resolve: Resolve): LookupFunction;
export declare function addressDenied(what: string): Error;
