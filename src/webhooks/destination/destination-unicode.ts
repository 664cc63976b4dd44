import { domainToASCII, domainToUnicode } from 'node:url';

/**
 * The address with a host in Unicode as its punycode. A label is taken if it is the usual form of what it becomes: one
 * that only maps to something else (full-width letters, circled digits, invisible characters, other full stops) is left
 * as it is, and refused for that.
 */
export function asciiAddress(text: string): string {
  return text.replace(/^([a-z]+:\/\/)([^/?#\\@:[\]]+)/i, (whole, scheme: string, host: string) => {
    if (/^[\x00-\x7f]*$/.test(host)) return whole;
    const labels = host.split('.').map(asciiLabel);
    return labels.every((label) => label !== null) ? scheme + labels.join('.') : whole;
  });
}

function asciiLabel(label: string): string | null {
  if (/^[\x00-\x7f]*$/.test(label)) return label;
  const ascii = domainToASCII(label);
  return ascii !== '' && domainToUnicode(ascii) === label.normalize('NFC').toLowerCase() ? ascii : null;
}
