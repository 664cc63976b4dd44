import type { Express, Request } from 'express';
import ipaddr from 'ipaddr.js';
import { ApiError } from '../platform/errors.js';

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

/** A page of another origin cannot send it without a preflight, which nothing here allows. */
export const csrfHeader = 'Parcelhook-Csrf';

const reads = ['GET', 'HEAD'];

/**
 * A browser sends a cookie by itself, so a request with one counts only if a page of this origin has made it: the
 * browser says so in `Sec-Fetch-Site` (Fetch Metadata), which no script can set. Throws 403.
 */
export function requireSameOrigin(request: Request): void {
  const site = request.get('Sec-Fetch-Site');
  if (site === undefined)
    throw refused('The header Sec-Fetch-Site is missing: browsers send it over HTTPS and to localhost only.');
  if (site !== 'same-origin')
    throw refused('A session works only on pages of this service: Sec-Fetch-Site must be same-origin.');
  if (!reads.includes(request.method) && request.get(csrfHeader) !== '1')
    throw refused(`The header ${csrfHeader}: 1 is missing.`);
}

const refused = (message: string) => new ApiError(403, 'FORBIDDEN', message);
