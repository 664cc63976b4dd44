import type { Express, Request } from 'express';
import ipaddr from 'ipaddr.js';

/** The CIDR block that one client or attacker usually has: IPv4 /24 or IPv6 /56. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address); // unmaps IPv4-mapped IPv6
  const bytes = parsed.toByteArray();
  const prefix = bytes.length === 4 ? 3 : 7;
  const first = ipaddr.fromByteArray(bytes.fill(0, prefix));
  return `${first.toString()}/${prefix * 8}`;
}

/** Ranges of a load balancer's own network, not reachable from elsewhere. */
const privateRanges = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal', 'carrierGradeNat']);

/**
 * Whether a peer is one of the app's trusted proxies, which carry the requests of many clients. If only their number is
 * known, every peer could be a proxy: then a public address counts as a client that connects directly.
 */
export function directProxies(app: Express): (address: string) => boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  const isCounted = typeof app.get('trust proxy') === 'number';
  return (address) =>
    isTrusted(address, 0) &&
    (!isCounted || (ipaddr.isValid(address) && privateRanges.has(ipaddr.process(address).range())));
}

/** The client's address as far as `TRUST_PROXY` reveals it; IPv4 without the IPv6 mapping. */
export const addressOf = ({ ip }: Request): string | null => ip?.replace(/^::ffff:(?=[\d.]+$)/i, '') ?? null;
