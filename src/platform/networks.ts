import ipaddr from 'ipaddr.js';
import * as z from 'zod';

export type Network = string;

/** Host bits are cleared; null if the text is neither address nor CIDR. */
function parseNetwork(text: string): Network | null {
  const isPlain = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
  const cidr = isPlain ? `${text}/${text.includes(':') ? 128 : 32}` : text;
  if (cidr.includes('%')) return null;
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) {
    return `${ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()}/${cidr.split('/')[1]}`;
  }
  if (!ipaddr.IPv6.isValidCIDR(cidr)) return null;
  return `${ipaddr.IPv6.networkAddressFromCIDR(cidr).toString()}/${cidr.split('/')[1]}`;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Finds an IPv4 address inside an IPv6 address, too (mapped, or translated by NAT64). */
export function inNetworks(networks: readonly Network[]): (ip: string) => boolean {
  const parsed = networks.map((network) => ipaddr.parseCIDR(network));
  return (ip) => {
    const address = ipaddr.parse(ip);
    const inside = address instanceof ipaddr.IPv6 ? embeddedIpv4(address) : null;
    return parsed.some(([base, bits]) => matches(address, base, bits) || matches(inside, base, bits));
  };
}

const matches = (address: Address | null, base: Address, bits: number): boolean =>
  address !== null && address.kind() === base.kind() && address.match(base, bits);

const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96'); // RFC 6052

function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(nat64) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : null;
}

export const networks = z.string().transform((text, context) => {
  const list = text.split(',').map((entry) => parseNetwork(entry.trim()));
  if (list.every((network) => network !== null)) return list;
  context.addIssue('must be addresses or CIDRs separated by commas, such as 203.0.113.0/24,2001:db8::/32');
  return z.NEVER;
});

/** Servers as `dns.setServers` takes them: `10.0.0.53`, `10.0.0.53:5353`, `[2001:db8::53]:5353`. */
export const dnsServers = z.string().transform((text, context) => {
  const list = text.split(',').map((entry) => entry.trim());
  const known = (entry: string) => {
    if (ipaddr.IPv6.isValid(entry)) return true;
    const [, ipv6, ipv4, port = '53'] = /^(?:\[(.+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(entry) ?? [];
    const isAddress =
      ipv6 === undefined ? ipaddr.IPv4.isValidFourPartDecimal(ipv4 ?? '') : ipaddr.IPv6.isValid(ipv6);
    return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
  };
  if (list.every(known)) return list;
  context.addIssue(
    'must be addresses of DNS servers, each with an optional port, separated by commas, such as 10.0.0.53,[2001:db8::53]:5353',
  );
  return z.NEVER;
});

/** `host`: a name or an address, as in a URL or without the brackets of IPv6. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  return (
    /^(?:.+\.)?localhost$/i.test(host) ||
    (ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback')
  );
}
