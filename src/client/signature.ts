import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Notice, Notification } from './api/types.js';
import { ParcelhookError } from './errors.js';
import { headerValues, type RequestHeaders } from './request-headers.js';

export interface VerifyOptions {
  /** How far `webhook-timestamp` may be from now. Default: 300. */
  toleranceSeconds?: number | undefined;
  /** The current time, for tests. */
  now?: Date | undefined;
}

/**
 * Returns the notification in a request if its signature and its timestamp are valid. Otherwise throws a
 * ParcelhookError with the code `INVALID_SIGNATURE`: respond with 400 and ignore the request. `rawBody` is the body as
 * received: JSON that was parsed and serialized again has other bytes. One matching secret of several is enough, so
 * that a rotation leaves no gap. The same `webhook-id` may come again: remember it to handle each event once.
 */
export function verify(
  headers: RequestHeaders,
  rawBody: string | Uint8Array,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Notification | Notice {
  const id = required(headers, 'webhook-id');
  const timestamp = required(headers, 'webhook-timestamp');
  const given = required(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp)) throw invalid('webhook-timestamp is not a number of seconds');
  const secondsOff = Math.abs(Math.floor(now.getTime() / 1_000) - Number(timestamp));
  if (!(secondsOff <= toleranceSeconds)) {
    throw invalid(`webhook-timestamp is more than ${toleranceSeconds} s away from the local time`);
  }
  const secrets = [secret ?? []].flat();
  if (secrets.length === 0) throw new TypeError('A webhook secret is missing or empty.');
  const expected = secrets.map((each) => sign(each, id, timestamp, rawBody));
  if (!expected.some((one) => given.some((other) => isSame(one, other)))) {
    throw invalid('no signature matches: wrong secret or changed body');
  }
  return parsed(rawBody);
}

const invalid = (message: string) => new ParcelhookError(message, { code: 'INVALID_SIGNATURE' });

function required(headers: RequestHeaders, name: string): string {
  const [value, ...others] = headerValues(headers, name);
  if (value === undefined || others.length > 0) throw invalid(`header ${name} is missing`);
  return value;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function parsed(rawBody: string | Uint8Array): Notification | Notice {
  try {
    const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);
    return JSON.parse(text) as Notification | Notice;
  } catch {
    throw invalid('the signature is valid, but the body is not JSON');
  }
}

/** `v1,<base64>` of Standard Webhooks: HMAC-SHA256 of id, timestamp and body, keyed with the base64 after `whsec_`. */
export function sign(
  secret: string,
  id: string,
  timestampSeconds: string | number,
  rawBody: string | Uint8Array,
): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  // Anyone could sign with an empty key.
  if (key.length === 0) throw new TypeError('A webhook secret is missing or empty.');
  const hmac = createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(rawBody);
  return `v1,${hmac.digest('base64')}`;
}
