import ipaddr from 'ipaddr.js';

/** The block an address belongs to, that one customer or attacker usually has: an IPv4 /24 or an IPv6 /56, as CIDR. */
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
