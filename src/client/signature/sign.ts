import { createHmac } from 'node:crypto';

/** `v1,<base64>` of Standard Webhooks: HMAC-SHA256 over id, timestamp and body, by the base64 after `whsec_`. */
export function sign(
  secret: string,
  id: string,
  timestampSeconds: string | number,
  rawBody: string | Uint8Array,
): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  // An empty key would be one that anybody can sign with.
  if (key.length === 0) throw new TypeError('A webhook secret is missing or empty.');
  const hmac = createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(rawBody);
  return `v1,${hmac.digest('base64')}`;
}
