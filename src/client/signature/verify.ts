import { timingSafeEqual } from 'node:crypto';
import { ParcelhookError } from '../errors.js';
import { sign } from './sign.js';
import type { Notice, Notification } from '../api/types.js';

/** Of a request: a `Headers`, what Node gives (`request.headers`), or any object; the case of names does not matter. */
export type RequestHeaders =
  { get(name: string): string | null } | Record<string, string | readonly string[] | undefined>;

export interface VerifyOptions {
  /** How far `webhook-timestamp` may be from now: 300 unless given. */
  toleranceSeconds?: number | undefined;
  /** The time to hold it against, for tests. */
  now?: Date | undefined;
}

/**
 * The notification in a request, if it comes from Parcelhook, unchanged and just now; else a ParcelhookError with the
 * code `INVALID_SIGNATURE`: answer that with 400 and do nothing else with the request. `rawBody` is the body as it
 * arrived: JSON that was parsed and written again has other bytes. Of several secrets one that fits is enough, so that
 * a rotation leaves no gap. The same `webhook-id` may come again: whoever keeps those seen handles each event once.
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
    throw invalid(`webhook-timestamp is more than ${toleranceSeconds} s away from this machine's clock`);
  }
  const secrets = [secret ?? []].flat();
  if (secrets.length === 0) throw new TypeError('A webhook secret is missing or empty.');
  const expected = secrets.map((each) => sign(each, id, timestamp, rawBody));
  if (!expected.some((one) => given.some((other) => isSame(one, other)))) {
    throw invalid('no signature matches: another secret, or a changed body');
  }
  return parsed(rawBody);
}

const invalid = (message: string) => new ParcelhookError(message, { code: 'INVALID_SIGNATURE' });

function required(headers: RequestHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') throw invalid(`header ${name} is missing`);
  return value;
}

const isHeaders = (headers: RequestHeaders): headers is { get(name: string): string | null } =>
  typeof headers.get === 'function';

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function parsed(rawBody: string | Uint8Array): Notification | Notice {
  try {
    const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);
    return JSON.parse(text) as Notification | Notice;
  } catch {
    throw invalid('the signature is good, but the body is not JSON');
  }
}
