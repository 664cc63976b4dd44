import ipaddr from 'ipaddr.js';

export type Network = string;

const mappedBits = 96; // of the prefix before an IPv4 address in IPv6

/** Host bits are cleared, and mapped IPv4 addresses are IPv4; null if the text is neither address nor CIDR. */
export function parseNetwork(text: string): Network | null {
  const isPlain = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
  const cidr = isPlain ? `${text}/${text.includes(':') ? 128 : 32}` : text;
  if (cidr.includes('%')) return null;
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) {
    return `${ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()}/${cidr.split('/')[1]}`;
  }
  if (!ipaddr.IPv6.isValidCIDR(cidr)) return null;
  const base = ipaddr.IPv6.networkAddressFromCIDR(cidr);
  const bits = Number(cidr.split('/')[1]);
  if (bits >= mappedBits && base.isIPv4MappedAddress())
    return `${base.toIPv4Address().toString()}/${bits - mappedBits}`;
  return `${base.toString()}/${bits}`;
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

/** `host`: a name or an address, as in a URL or without the brackets of IPv6. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  return (
    /^(?:.+\.)?localhost$/i.test(host) ||
    (ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback')
  );
}
