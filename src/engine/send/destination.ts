import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { inNetworks, type Network } from '../../platform/networks.js';
import type { LookupAddress } from 'node:dns';

export interface DestinationPolicy {
  /** Allows private addresses, localhost, single-label names and any port, for development. */
  allowPrivateTargets: boolean;
  allowHttpTargets: boolean;
  /** Default `[80, 443, 8080, 8443]`; ignored if private targets are allowed. */
  allowedPorts: readonly number[];
  /** Overrides everything else (`inDenied`). */
  isDenied(ip: string): boolean;
  publicUrl: URL | null;
  /** The service itself takes notifications below this path, for development. */
  inboxPath?: string | undefined;
}

/** The same as data, without functions. */
export interface Destinations extends Pick<
  DestinationPolicy,
  'allowPrivateTargets' | 'allowHttpTargets' | 'allowedPorts' | 'inboxPath'
> {
  deniedNetworks: readonly Network[];
  publicUrl: string;
}

export const policyOf = ({ deniedNetworks, publicUrl, ...rest }: Destinations): DestinationPolicy => ({
  ...rest,
  isDenied: inDenied(deniedNetworks),
  publicUrl: new URL(publicUrl),
});

/** IANA's IPv4 special-purpose registry (RFC 6890), multicast, and one cloud's host address. */
export const DENIED_IPV4_RANGES = [
  '0.0.0.0/8', // this network, RFC 791; 0.0.0.0 reaches loopback on Linux
  '10.0.0.0/8', // private, RFC 1918
  '100.64.0.0/10', // carrier-grade NAT, RFC 6598; also a cloud's metadata
  '127.0.0.0/8', // loopback, RFC 1122
  '168.63.129.16/32', // Azure WireServer: a public address that is only ever the host's own
  '169.254.0.0/16', // link-local, RFC 3927; the metadata services
  '172.16.0.0/12', // private, RFC 1918
  '192.0.0.0/24', // IETF protocol assignments, RFC 6890
  '192.0.2.0/24', // documentation, RFC 5737
  '192.31.196.0/24', // AS112, RFC 7535
  '192.52.193.0/24', // AMT, RFC 7450
  '192.88.99.0/24', // 6to4 relay anycast, RFC 7526
  '192.168.0.0/16', // private, RFC 1918
  '192.175.48.0/24', // AS112, RFC 7534
  '198.18.0.0/15', // benchmarking, RFC 2544
  '198.51.100.0/24', // documentation, RFC 5737
  '203.0.113.0/24', // documentation, RFC 5737
  '224.0.0.0/4', // multicast, RFC 5771
  '240.0.0.0/4', // reserved, RFC 1112; 255.255.255.255 is broadcast, RFC 919
] as const;

/** Global unicast, RFC 4291. The rest of IPv6 (mapped IPv4, NAT64, ULA, link-local, multicast …) is denied. */
const ALLOWED_IPV6_RANGE = '2000::/3';

export const DENIED_IPV6_RANGES = [
  '2001::/23', // IETF protocol assignments, RFC 2928: Teredo (RFC 4380), ORCHID (RFC 4843, 7343)
  '2001:db8::/32', // documentation, RFC 3849
  '2002::/16', // 6to4, RFC 3056: carries any IPv4 address
  '2620:4f:8000::/48', // AS112, RFC 7534
  '3fff::/20', // documentation, RFC 9637
] as const;

const deniedIpv4 = DENIED_IPV4_RANGES.map((range) => ipaddr.IPv4.parseCIDR(range));
const allowedIpv6 = ipaddr.IPv6.parseCIDR(ALLOWED_IPV6_RANGE);
const deniedIpv6 = DENIED_IPV6_RANGES.map((range) => ipaddr.IPv6.parseCIDR(range));

/** Every policy denies what is not a plain address, such as one with a zone id or another spelling of IPv4. */
export function isDeniedAddress(ip: string, policy: DestinationPolicy): boolean {
  const family = isIP(ip);
  if (family === 0 || ip.includes('%') || policy.isDenied(ip)) return true;
  if (policy.allowPrivateTargets) return false;
  if (family === 4) {
    const address = ipaddr.IPv4.parse(ip);
    return deniedIpv4.some((range) => address.match(range)) || ownAddresses().has(address.toString());
  }
  const address = ipaddr.IPv6.parse(ip);
  if (!address.match(allowedIpv6)) return true;
  return deniedIpv6.some((range) => address.match(range)) || ownAddresses().has(address.toString());
}

/** If loopback is denied, so is the unspecified address, which Linux takes for loopback. */
export function inDenied(networks: readonly Network[]): (ip: string) => boolean {
  if (networks.length === 0) return () => false;
  const isInside = inNetworks(networks);
  const hasLoopback = ['127.0.0.1', '::1'].some(isInside);
  return (ip) => isInside(ip) || (hasLoopback && ipaddr.process(ip).range() === 'unspecified');
}

const OWN_ADDRESSES_TTL_MS = 10_000;
let own = { addresses: new Set<string>(), readAtMs: -Infinity };

function ownAddresses(): Set<string> {
  const nowMs = performance.now();
  if (nowMs - own.readAtMs > OWN_ADDRESSES_TTL_MS) {
    const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
    own = {
      addresses: new Set(interfaces.map(({ address }) => ipaddr.parse(address).toString())),
      readAtMs: nowMs,
    };
  }
  return own.addresses;
}

export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** Rejects with the code `ADDRESS_DENIED` if any address is denied: the connection may be made to any of them. */
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

/** Connects to the address it checked, against DNS rebinding. Node calls no lookup for a literal: `isDeniedAddress`. */
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
