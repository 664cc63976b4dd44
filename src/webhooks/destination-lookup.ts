import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isDeniedAddress, type DestinationPolicy } from './destination-address.js';

/** The part of `dns.lookup` that is needed: every address of a name. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, answers: LookupAddress[]) => void,
) => void;

/**
 * A `lookup` for `net.connect`, so that the address that is checked is the address that is connected to: a
 * check before the connection would be void after DNS rebinding. One denied answer denies the name, of either
 * family, because the connection may be made to any of them. Its error has the code `ADDRESS_DENIED`.
 *
 * Node calls no lookup for a literal address: check that with `isDeniedAddress`.
 */
export function guardedLookup(policy: DestinationPolicy, resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { all: true, family: 0, hints: options.hints, verbatim: true }, (error, answers) => {
      if (error) return callback(error, []);
      const denied = answers.find(({ address }) => isDeniedAddress(address, policy));
      if (denied) return callback(addressDenied(`${hostname} has the address ${denied.address}`), []);
      const wanted = answers.filter(
        ({ family }) => !options.family || familyNumber(options.family) === family,
      );
      const first = wanted[0];
      if (!first) return callback(coded('ENODATA', `${hostname} has no address`), []);
      if (options.all) callback(null, wanted);
      else callback(null, first.address, first.family);
    });
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
