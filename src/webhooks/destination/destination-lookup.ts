import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isDeniedAddress, type DestinationPolicy } from './destination-address.js';

/** Every address of a name. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/**
 * The addresses of a name, none of which is denied. One denied answer denies the name, of either family, because the
 * connection may be made to any of them. The error has the code `ADDRESS_DENIED`.
 */
export async function checkedAddresses(
  hostname: string,
  policy: DestinationPolicy,
  resolve: Resolve,
): Promise<LookupAddress[]> {
  const addresses = await resolve(hostname);
  const denied = addresses.find(({ address }) => isDeniedAddress(address, policy));
  if (denied) throw addressDenied(`${hostname} has the address ${denied.address}`);
  return addresses;
}

/**
 * A `lookup` for `net.connect`, so that the address that is checked is the address that is connected to: a
 * check before the connection would be void after DNS rebinding.
 *
 * Node calls no lookup for a literal address: check that with `isDeniedAddress`.
 */
export function guardedLookup(policy: DestinationPolicy, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    checkedAddresses(hostname, policy, resolve).then(
      (addresses) => {
        const wanted = addresses.filter(
          ({ family }) => !options.family || familyNumber(options.family) === family,
        );
        const first = wanted[0];
        if (!first) callback(coded('ENODATA', `${hostname} has no address`), []);
        else if (options.all) callback(null, wanted);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

export function addressDenied(what: string): Error {
  return coded('ADDRESS_DENIED', `${what}, to which nothing may be sent`);
}

function coded(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}

function familyNumber(family: number | 'IPv4' | 'IPv6'): number {
  return typeof family === 'number' ? family : family === 'IPv4' ? 4 : 6;
}
