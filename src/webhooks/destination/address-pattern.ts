import type { DestinationPolicy } from './destination-address.js';

const label = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const topLabel = '[A-Za-z](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const byte = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const literal = `${byte}(?:\\.${byte}){3}|\\[::1\\]|\\[(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\\]`;
const anyPort = '6553[0-5]|655[0-2]\\d|65[0-4]\\d{2}|6[0-4]\\d{3}|[1-5]\\d{4}|[1-9]\\d{0,3}';

/**
 * What the API's document promises to be taken as a webhook's address. `checkTargetAddress` decides; it takes some more
 * that no pattern can tell, such as public IP addresses, and refuses names that are private by custom.
 */
export function addressPattern({ allowPrivateTargets, allowHttpTargets, allowedPorts }: DestinationPolicy) {
  const name = `(?=[^:/?]{1,253}(?:[:/?]|$))(?:${label}\\.)${allowPrivateTargets ? '*' : '+'}${topLabel}`;
  const host = allowPrivateTargets ? `(?:${name}|${literal})` : name;
  const port = `(?::(?:${allowPrivateTargets ? anyPort : allowedPorts.join('|')}))?`;
  const rest = '(?:[/?][!"$-\\[\\]-~]*)?';
  return `^${allowHttpTargets ? 'https?' : 'https'}://${host}${port}${rest}$`;
}
