import type { Express } from 'express';
import ipaddr from 'ipaddr.js';

/**
 * The block that an address belongs to and that one customer or attacker usually has: an IPv4 /24 or an IPv6 /56, as
 * CIDR.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address); // an IPv4 address in IPv6's clothes is one of IPv4
  const bytes = parsed.toByteArray();
  const prefix = bytes.length === 4 ? 3 : 7;
  const first = ipaddr.fromByteArray(bytes.fill(0, prefix));
  return `${first.toString()}/${prefix * 8}`;
}

export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';

/** Addresses of a load balancer's own network, to which nobody connects from elsewhere. */
const privateRanges = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal', 'carrierGradeNat']);

/**
 * Whether a peer is one of the app's trusted proxies, which bring the requests of many clients. If only their number is
 * known, every peer could be a proxy: then a public address is taken for a client that connects directly.
 */
export function directProxies(app: Express): (address: string) => boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  const isCounted = typeof app.get('trust proxy') === 'number';
  return (address) =>
    isTrusted(address, 0) &&
    (!isCounted || (ipaddr.isValid(address) && privateRanges.has(ipaddr.process(address).range())));
}
