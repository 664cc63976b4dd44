import type { Notice, Notification } from './api/types.js';
import { ParcelhookError } from './errors.js';
import { headerValues, type RequestHeaders } from './request-headers.js';

export interface VerifyOptions {
  /** How far `webhook-timestamp` may be from now. Default: 300. */
  toleranceSeconds?: number | undefined;
  /** The current time, for tests. */
  now?: Date | undefined;
}

/** A body as received. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** Throws TypeError for anything else, such as a body that was parsed. */
export function bytesOf(rawBody: RawBody): Uint8Array<ArrayBuffer> {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (ArrayBuffer.isView(rawBody)) {
    const { buffer, byteOffset, byteLength } = rawBody as Uint8Array<ArrayBuffer>;
    return new Uint8Array(buffer, byteOffset, byteLength);
  }
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody);
  throw new TypeError('rawBody must be the body as received: text, bytes or an ArrayBuffer.');
}

const invalid = (message: string) => new ParcelhookError(message, { code: 'INVALID_SIGNATURE' });

/**
 * The id and the time that a request's signatures cover, and the signatures. Throws if a part is missing, or the time
 * far off.
 */
export function signedParts(
  headers: RequestHeaders,
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions,
): { id: string; timestamp: string; given: string[] } {
  const id = required(headers, 'webhook-id');
  const timestamp = required(headers, 'webhook-timestamp');
  const given = required(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp)) throw invalid('webhook-timestamp is not a number of seconds');
  const secondsOff = Math.abs(Math.floor(now.getTime() / 1_000) - Number(timestamp));
  if (!(secondsOff <= toleranceSeconds)) {
    throw invalid(`webhook-timestamp is more than ${toleranceSeconds} s away from the local time`);
  }
  return { id, timestamp, given };
}

function required(headers: RequestHeaders, name: string): string {
  const [value, ...others] = headerValues(headers, name);
  if (value === undefined || others.length > 0) throw invalid(`header ${name} is missing`);
  return value;
}

export function secretsOf(secret: string | readonly string[]): string[] {
  const secrets = [secret ?? []].flat();
  if (secrets.length === 0) throw new TypeError('A webhook secret is missing or empty.');
  return secrets;
}

/** The content of a body that is signed. Throws for any other. */
export function contentOf(rawBody: RawBody, isSigned: boolean): Notification | Notice {
  if (!isSigned) throw invalid('no signature matches: wrong secret or changed body');
  try {
    const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);
    return JSON.parse(text) as Notification | Notice;
  } catch {
    throw invalid('the signature is valid, but the body is not JSON');
  }
}
