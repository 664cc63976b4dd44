import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { inNetworks, type Network } from '../../platform/limits/networks.js';

export interface DestinationPolicy {
  /** Development: private addresses, localhost, single-label names and any port may be called. */
  allowPrivateTargets: boolean;
  allowHttpTargets: boolean;
  /** Default `[80, 443, 8080, 8443]`; not looked at where private targets are allowed. */
  allowedPorts: readonly number[];
  /** Networks that the operator denies: never to be called, whatever else is allowed (`inDenied`). */
  isDenied(ip: string): boolean;
  /** Where the service itself is reached. */
  publicUrl: URL | null;
}

/** What is public in name but not in fact: IANA's IPv4 special-purpose registry (RFC 6890) and one cloud. */
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

/** Global unicast, RFC 4291: all else in IPv6 (mapped IPv4, NAT64, ULA, link-local, multicast …) is refused. */
const ALLOWED_IPV6_RANGE = '2000::/3';

/** Exceptions from the range above. */
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

/**
 * Whether a webhook must not be sent to this address. What is no plain address (a zone id, another spelling
 * of IPv4) is denied under every policy.
 */
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

/**
 * Whether an address is in one of these networks. Networks with loopback include the unspecified address, too, as on
 * Linux.
 */
export function inDenied(networks: readonly Network[]): (ip: string) => boolean {
  if (networks.length === 0) return () => false;
  const isInside = inNetworks(networks);
  const hasLoopback = ['127.0.0.1', '::1'].some(isInside);
  return (ip) => isInside(ip) || (hasLoopback && ipaddr.process(ip).range() === 'unspecified');
}

const OWN_ADDRESSES_KEPT_MS = 10_000;
let own = { addresses: new Set<string>(), readAtMs: -Infinity };

/** The addresses of this machine: services on them may listen for it alone. */
function ownAddresses(): Set<string> {
  const nowMs = performance.now();
  if (nowMs - own.readAtMs > OWN_ADDRESSES_KEPT_MS) {
    const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
    own = {
      addresses: new Set(interfaces.map(({ address }) => ipaddr.parse(address).toString())),
      readAtMs: nowMs,
    };
  }
  return own.addresses;
}
