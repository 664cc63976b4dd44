import { domainToASCII, domainToUnicode } from 'node:url';
import { requestTargetOf, type DestinationPolicy } from '../engine/engine.js';

const inPath = "[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2}";
const target = `(?:/(?:${inPath})*)?(?:\\?(?:${inPath}|\\?)*)?`;
const targetForm = new RegExp(`^${target}$`);

/**
 * Null, or a sentence like those of `checkTargetAddress`, for a new address: what RFC 3986 does not allow in a path or a
 * query. Those stored before are called as they are.
 */
export function checkSyntax(address: string): string | null {
  const written = requestTargetOf(address);
  if (targetForm.test(written)) return null;
  const wrong = /[^A-Za-z0-9._~!$&'()*+,;=:@/?%-]/.exec(written)?.[0];
  if (wrong === undefined)
    return 'The address has a % that two hexadecimal digits do not follow; write %25 for the sign itself.';
  const encoded = `%${wrong.charCodeAt(0).toString(16).toUpperCase()}`;
  return `The path or query of the address has the character ${wrong}, which RFC 3986 does not allow there; percent-encode it as ${encoded}.`;
}

/**
 * Converting takes time quadratic in the length. A label has at most 63 characters as punycode, fewer in its usual form,
 * and each of these is written as three at most.
 */
const MAX_LABEL_TO_CONVERT = 3 * 63;

/**
 * A label becomes punycode only if it is the usual form of the result. A host with any other label (full-width letters,
 * circled digits, invisible characters, other full stops) stays as it is and is refused later.
 */
export function asciiAddress(text: string): string {
  return text.replace(/^([a-z]+:\/\/)([^/?#\\@:[\]]+)/i, (whole, scheme: string, host: string) => {
    if (/^[\x00-\x7f]*$/.test(host)) return whole;
    const given = host.split('.');
    if (given.some(({ length }) => length > MAX_LABEL_TO_CONVERT)) return whole;
    const labels = given.map(asciiLabel);
    return labels.every((label) => label !== null) ? scheme + labels.join('.') : whole;
  });
}

function asciiLabel(label: string): string | null {
  if (/^[\x00-\x7f]*$/.test(label)) return label;
  const ascii = domainToASCII(label);
  return ascii !== '' && domainToUnicode(ascii) === label.normalize('NFC').toLowerCase() ? ascii : null;
}

const label = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const topLabel = '[A-Za-z](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const byte = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const literal = `${byte}(?:\\.${byte}){3}|\\[::1\\]|\\[(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\\]`;
const anyPort = '6553[0-5]|655[0-2]\\d|65[0-4]\\d{2}|6[0-4]\\d{3}|[1-5]\\d{4}|[1-9]\\d{0,3}';

/**
 * Only for the API's document; `checkTargetAddress` decides. It also accepts what no pattern can express, such as
 * public IP addresses, and refuses names that are private by custom.
 */
export function addressPattern({ allowPrivateTargets, allowHttpTargets, allowedPorts }: DestinationPolicy) {
  const name = `(?=[^:/?]{1,253}(?:[:/?]|$))(?:${label}\\.)${allowPrivateTargets ? '*' : '+'}${topLabel}`;
  const host = allowPrivateTargets ? `(?:${name}|${literal})` : name;
  const port = `(?::(?:${allowPrivateTargets ? anyPort : allowedPorts.join('|')}))?`;
  return `^${allowHttpTargets ? 'https?' : 'https'}://${host}${port}${target}$`;
}
