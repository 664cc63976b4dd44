import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Notice, Notification } from './api/types.js';
import type { RequestHeaders } from './request-headers.js';
import {
  bytesOf,
  contentOf,
  secretsOf,
  signedParts,
  type RawBody,
  type VerifyOptions,
} from './signed-request.js';

/**
 * Returns the notification in a request if its signature and its timestamp are valid. Otherwise throws a
 * ParcelhookError with the code `INVALID_SIGNATURE`: respond with 400 and ignore the request. `rawBody` is the body as
 * received: JSON that was parsed and serialized again has other bytes. One matching secret of several is enough, so
 * that a rotation leaves no gap. The same `webhook-id` may come again: remember it to handle each event once.
 */
export function verify(
  headers: RequestHeaders,
  rawBody: RawBody,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Notification | Notice {
  const { id, timestamp, given } = signedParts(headers, options);
  const expected = secretsOf(secret).map((each) => sign(each, id, timestamp, rawBody));
  return contentOf(
    rawBody,
    expected.some((one) => given.some((other) => isSame(one, other))),
  );
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** `v1,<base64>` of Standard Webhooks: HMAC-SHA256 of id, timestamp and body, keyed with the base64 after `whsec_`. */
export function sign(
  secret: string,
  id: string,
  timestampSeconds: string | number,
  rawBody: RawBody,
): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  // Anyone could sign with an empty key.
  if (key.length === 0) throw new TypeError('A webhook secret is missing or empty.');
  const hmac = createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(bytesOf(rawBody));
  return `v1,${hmac.digest('base64')}`;
}
