import ipaddr from 'ipaddr.js';
import { isIP, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { inNetworks, isLoopback, type Network } from '../../platform/networks.js';
import type { Answer } from './dns/resolver.js';

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

/** A `DestinationPolicy` as data, without functions. */
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

/**
 * Passes on the addresses of a name. Throws if any is denied: the connection may be made to any of them. It is made to the
 * address that was checked, against DNS rebinding. Where private targets are off, such a name is like one that does not
 * exist (`DNS`), or shippers could find out which names an internal network has.
 */
export function checked(hostname: string, { addresses, rest }: Answer, policy: DestinationPolicy): Answer {
  const denied = addresses.find(({ address }) => isDeniedAddress(address, policy));
  if (denied && !policy.allowPrivateTargets)
    throw coded(noPublicAddress, `${hostname} has no public address`);
  if (denied) throw addressDenied(`${hostname} has the address ${denied.address}`);
  return { addresses, rest: rest && rest.then((more) => checked(hostname, more, policy)) };
}

export function addressDenied(what: string): Error {
  return coded('ADDRESS_DENIED', `${what}, to which nothing may be sent`);
}

const noPublicAddress = 'NO_PUBLIC_ADDRESS';

export const isDenial = (error: unknown) =>
  ['ADDRESS_DENIED', noPublicAddress].includes((error as NodeJS.ErrnoException).code!);

export function coded(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}

const MAX_LENGTH = 2048;

const DENIED_SUFFIXES = [
  'localhost', // RFC 6761, loopback
  'test', // RFC 6761
  'example', // RFC 6761, the top-level domain only
  'invalid', // RFC 6761
  'local', // RFC 6762, mDNS; cluster.local
  'arpa', // RFC 3172; home.arpa, RFC 8375
  'onion', // RFC 7686
  'alt', // RFC 9476
  'internal', // reserved by ICANN for private use in 2024; metadata.google.internal
  'home', // this and the next two: withheld by ICANN for colliding with private names
  'corp',
  'mail',
  'consul', // private by custom, like the rest
  'intranet',
  'lan',
  'localdomain',
  'private',
  'svc', // Kubernetes, shortened by its search domains
] as const;

/**
 * Null, or a sentence that says what is wrong and what would be right. It checks the text and a literal IP address; the
 * addresses of a name are checked when a connection is made (`checked`). Each attempt repeats this check, because
 * the policy may have become stricter. Every policy refuses a text that two parsers could read differently. An accepted
 * address is stored and called as written (`requestTargetOf`).
 */
export function checkTargetAddress(text: string, policy: DestinationPolicy): string | null {
  return checkText(text) ?? checkParsed(text, policy);
}

/** RFC 3986: a URI is visible ASCII; its authority follows two slashes. */
function checkText(text: string): string | null {
  if (text === '') return 'The address is empty; write an absolute URL such as https://example.org/hook.';
  if (text.length > MAX_LENGTH) return `The address is longer than ${MAX_LENGTH} characters; shorten it.`;
  if (!/^[\x21-\x7e]+$/.test(text)) {
    return 'The address has a space, a control character or a character outside ASCII that its host name cannot have; write the host name in lower case or as punycode (xn--…) and percent-encode the rest.';
  }
  if (text.includes('\\'))
    return 'The address has a backslash; write / instead, or percent-encode it as %5C.';
  if (text.includes('#'))
    return 'The address has a fragment, which is never sent; leave out the # and everything after it.';
  if (!/^https?:/i.test(text))
    return 'The address must begin with https:// (or http:// where that is allowed).';
  if (!/^https?:\/\/[^/?]/i.test(text)) {
    return 'The address needs two slashes and a host after its scheme, as in https://example.org/hook.';
  }
  const authority = authorityOf(text);
  if (authority.includes('@')) {
    return 'The address has a user name or password; leave out everything before the @ and use a header of the webhook instead.';
  }
  if (authority.endsWith(':'))
    return 'The address has a colon without a port; write the port or leave out the colon.';
  if (/:0\d+$/.test(authority)) return 'The port begins with a zero; leave the zero out.';
  return null;
}

function checkParsed(text: string, policy: DestinationPolicy): string | null {
  if (!URL.canParse(text)) return 'The address is not a valid URL; check its host and port.';
  const url = new URL(text);
  if (url.protocol === 'http:' && !policy.allowHttpTargets) return 'The address must begin with https://.';
  return (
    checkHost(authorityOf(text), url.hostname, policy) ??
    checkOwn(text, url, policy) ??
    checkPort(url, policy)
  );
}

/** A notification to this service would be a request made by a shipper in the service's name. */
function checkOwn(
  text: string,
  url: URL,
  { publicUrl, allowPrivateTargets, inboxPath }: DestinationPolicy,
): string | null {
  if (publicUrl === null) return null;
  const paths = [url.pathname, requestTargetOf(text)]; // that with dot segments may be resolved on its way
  if (inboxPath !== undefined && paths.every((path) => path.startsWith(inboxPath))) return null;
  const isOwn = allowPrivateTargets
    ? url.origin === publicUrl.origin || areSameLoopback(url, publicUrl)
    : url.hostname === publicUrl.hostname;
  return isOwn ? "This is the service's own address. Give the address of your server." : null;
}

/** Whatever each calls this machine. The unspecified address leads there, too. */
const areSameLoopback = (one: URL, other: URL): boolean =>
  portOf(one) === portOf(other) &&
  [one, other].every(({ hostname }) => isLoopback(hostname) || isUnspecified(hostname));

const isUnspecified = (hostname: string) => hostname === '0.0.0.0' || hostname === '[::]';

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80));

function checkHost(authority: string, hostname: string, policy: DestinationPolicy): string | null {
  if (hostname.startsWith('[')) return checkLiteral(hostname.slice(1, -1), policy);
  const written = authority.replace(/:\d+$/, '').toLowerCase();
  if (isIPv4(hostname)) {
    if (written === hostname) return checkLiteral(hostname, policy);
    return 'The address spells its IPv4 address in an unusual form; write four decimal numbers, as in 192.0.2.1.';
  }
  if (written !== hostname) return 'The host name is encoded; write it in plain letters, digits and hyphens.';
  return checkName(hostname, policy);
}

function checkLiteral(ip: string, policy: DestinationPolicy): string | null {
  if (!isDeniedAddress(ip, policy)) return null;
  return `The IP address ${ip} is private, reserved, our own or denied by the operator; use one that is reachable on the public internet.`;
}

/** RFC 1035, 2.3.4 (lengths). Host names may not have underscores, but some do. */
function checkName(hostname: string, policy: DestinationPolicy): string | null {
  const labels = hostname.split('.');
  if (labels.at(-1) === '') return 'The host name ends in a dot; leave it out.';
  if (hostname.length > 253 || !labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label))) {
    return 'The host name is not valid; each label has 1 to 63 letters, digits or inner hyphens, and the whole name at most 253 characters.';
  }
  if (policy.allowPrivateTargets) return null;
  if (labels.length === 1)
    return 'The host name has a single label; use a full public name such as example.org.';
  if (DENIED_SUFFIXES.some((suffix) => labels.at(-1) === suffix)) {
    return `Names in .${labels.at(-1)} are private; use a public name such as example.org.`;
  }
  return null;
}

function checkPort(url: URL, policy: DestinationPolicy): string | null {
  const port = portOf(url);
  if (port !== 0 && (policy.allowPrivateTargets || policy.allowedPorts.includes(port))) return null;
  const allowed = policy.allowPrivateTargets ? '1 to 65535' : policy.allowedPorts.join(', ');
  return `The port ${port} is not allowed; use one of ${allowed}.`;
}

/** The part between the two slashes and the path. */
function authorityOf(text: string): string {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1] ?? '';
}

/** The path and query as written: `URL` encodes some characters, resolves dot segments and drops an empty query. */
export function requestTargetOf(address: string): string {
  const rest = address.slice(address.indexOf('://') + 3 + authorityOf(address).length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
