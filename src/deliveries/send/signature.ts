import { createHmac } from 'node:crypto';

const keys = new Map<string, Buffer>();
const rememberedKeys = 10_000;

/**
 * `webhook-signature` of Standard Webhooks: `v1,<base64>` of HMAC-SHA256 over id, timestamp and body, one per
 * secret, separated by spaces (two during a rotation).
 */
export const sign = (
  secrets: readonly string[],
  id: string,
  timestampSeconds: number,
  body: string,
): string =>
  secrets
    .map((secret) => {
      const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestampSeconds}.${body}`);
      return `v1,${hmac.digest('base64')}`;
    })
    .join(' ');

function keyOf(secret: string): Buffer {
  const known = keys.get(secret);
  if (known) return known;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (keys.size >= rememberedKeys) keys.clear();
  keys.set(secret, key);
  return key;
}
