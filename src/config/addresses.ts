import ipaddr from 'ipaddr.js';
import * as z from 'zod';
import type { MailSender, MailServer } from '../mail/send.js';
import { parseAddress } from '../platform/database/connection.js';
import { describeError } from '../platform/errors.js';
import { parseNetwork } from '../platform/networks.js';
import { listOf, readAs, readList } from '../platform/quantity.js';

export const networks = listOf(
  parseNetwork,
  'must be addresses or CIDRs separated by commas, such as 203.0.113.0/24,2001:db8::/32',
);

/** Servers as `dns.setServers` takes them: `10.0.0.53`, `10.0.0.53:5353`, `[2001:db8::53]:5353`. */
export const dnsServers = listOf((entry) => {
  if (ipaddr.IPv6.isValid(entry)) return entry;
  const [, ipv6, ipv4, port = '53'] = /^(?:\[(.+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const isAddress =
    ipv6 === undefined ? ipaddr.IPv4.isValidFourPartDecimal(ipv4 ?? '') : ipaddr.IPv6.isValid(ipv6);
  return isAddress && Number(port) >= 1 && Number(port) <= 65_535 ? entry : null;
}, 'must be addresses of DNS servers, each with an optional port, separated by commas, such as 10.0.0.53,[2001:db8::53]:5353');

function readProxy(entry: string): string | null {
  const isKnown =
    ['loopback', 'linklocal', 'uniquelocal'].includes(entry) ||
    ipaddr.IPv4.isValidFourPartDecimal(entry) ||
    ipaddr.IPv4.isValidCIDRFourPartDecimal(entry) ||
    ipaddr.IPv6.isValid(entry) ||
    ipaddr.IPv6.isValidCIDR(entry);
  return isKnown ? entry : null;
}

/** The proxies that add to X-Forwarded-For, or their number, as express takes `trust proxy`. */
export const proxies = readAs(
  (text) => (/^[1-9]$/.test(text.trim()) ? Number(text) : readList(text, readProxy)),
  'must be a number of proxies from 1 to 9, or their addresses or subnets separated by commas, such as loopback,10.0.0.0/8',
);

export const readBy = <T>(read: (text: string) => T) =>
  z.string().transform((text, context) => {
    try {
      return read(text);
    } catch (error) {
      context.addIssue(describeError(error));
      return z.NEVER;
    }
  });

export const databaseUrl = readBy((text) => {
  const address = text.trim();
  parseAddress(address);
  return address;
});

/** The service does not choose between standbys: a load balancer may. */
export const standbyUrl = readBy((text) => {
  const address = text.trim();
  if (/[?&]target_session_attrs=/.test(address)) throw new Error('must not have target_session_attrs');
  if (parseAddress(address).servers.length > 1) throw new Error('must name one server');
  return address;
});

/** Host names or addresses, each with or without a port, as `URL` writes the host of an address. */
export const destinations = readAs((text) => {
  const list = text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map(readDestination);
  return list.every((entry) => entry !== null) ? list : null;
}, 'must be hosts separated by commas, such as hooks.example.com,hooks.example.org:8443');

function readDestination(entry: string): string | null {
  const [, host, port = ''] = /^(\[[^/?#@\\[\]]+\]|[^/?#@\\[\]:]+?)\.?(:[1-9]\d*)?$/.exec(entry) ?? [];
  if (host === undefined || !URL.canParse(`http://${host}${port}`)) return null;
  return new URL(`http://${host}`).hostname + port;
}

/** Its user and password are percent-encoded in the URL. */
export const mailServer = readAs((text): MailServer | null => {
  const form = /^(smtps?):\/\/(?:([^:@/]+):([^:@/]*)@)?(\[[\da-f:]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i;
  const [, scheme, user, password = '', host, port] = form.exec(text.trim()) ?? [];
  const isSecure = scheme?.toLowerCase() === 'smtps';
  const number = Number(port ?? (isSecure ? 465 : 587));
  if (host === undefined || number < 1 || number > 65_535) return null;
  try {
    const login = user === undefined ? null : [user, password].map(decodeURIComponent);
    return { host, port: number, isSecure, login: login && { user: login[0]!, password: login[1]! } };
  } catch {
    return null;
  }
}, 'must be smtp:// or smtps:// with a host, such as smtp://user:password@mail.example.com:587; user and password percent-encoded');

export const mailSender = readAs((text): MailSender | null => {
  const [, name = '', address = text.trim()] = /^\s*"?([^<>"\p{Cc}]*?)"?\s*<([^<>]+)>\s*$/u.exec(text) ?? [];
  return z.regexes.email.test(address) ? { name, address } : null;
}, 'must be an e-mail address, or a name and an address, such as Parcelhook <parcelhook@example.com>');
