import { createHmac } from 'node:crypto';

/** A webhook's own, by name. */
export type OwnHeaders = Record<string, string>;

/** A webhook's own headers must not decide framing and routing (RFC 9110, 7; RFC 9112, 6). */
const FRAMING = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const isFraming = (name: string): boolean => FRAMING.has(name.toLowerCase());

/** Names and values in turn; Node writes them unchanged. An object for each request would make more garbage. */
export type FlatHeaders = readonly string[];

/** A webhook's own headers, without framing headers, although none of those can be registered. */
export const ownHeaders = (headers: OwnHeaders): FlatHeaders =>
  Object.entries(headers).flatMap(([name, value]) => (isFraming(name) ? [] : [name, value]));

export const withFraming = (host: string, headers: FlatHeaders, body: string | Uint8Array): string[] => [
  'Host',
  host,
  ...headers,
  'Content-Length',
  String(Buffer.byteLength(body)),
];

const keys = new Map<string, Buffer>();
const maxKeys = 10_000;

/**
 * `webhook-signature` of Standard Webhooks: `v1,<base64>` of HMAC-SHA256 over id, timestamp and body, one per secret,
 * separated by spaces (several after a rotation).
 */
export const sign = (
  secrets: readonly string[],
  id: string,
  timestampSeconds: number,
  body: string | Uint8Array,
): string =>
  secrets
    .map((secret) => {
      const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestampSeconds}.`);
      return `v1,${hmac.update(body).digest('base64')}`;
    })
    .join(' ');

function keyOf(secret: string): Buffer {
  const known = keys.get(secret);
  if (known) return known;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (keys.size >= maxKeys) keys.clear();
  keys.set(secret, key);
  return key;
}

export interface SignedAttempt {
  eventId: string;
  sequence: number;
  number: number;
  startedAt: Date;
  signature: string;
  /** Parcelhook's. */
  version: string;
  /** `traceparent`: the event's trace and the attempt's span in it. */
  traceparent: string;
}

/** `webhook-timestamp`: when the attempt began, in seconds, by PostgreSQL's clock. */
export const timestampOf = ({ startedAt }: Pick<SignedAttempt, 'startedAt'>): number =>
  Math.floor(startedAt.getTime() / 1_000);

/** Some firewalls refuse requests without it. A webhook may have its own. */
const acceptAny: FlatHeaders = ['accept', '*/*'];
const isAccept = (text: string, at: number) => at % 2 === 0 && text.toLowerCase() === 'accept';

/** The headers of every attempt beside the webhook's own, without those of its framing. */
export const serviceHeaders = (attempt: SignedAttempt, own: FlatHeaders): FlatHeaders => [
  'content-type',
  'application/json',
  'user-agent',
  `Parcelhook/${attempt.version}`,
  'webhook-id',
  attempt.eventId,
  'webhook-timestamp',
  String(timestampOf(attempt)),
  'webhook-signature',
  attempt.signature,
  'parcelhook-sequence',
  String(attempt.sequence),
  'parcelhook-attempt',
  String(attempt.number),
  'traceparent',
  attempt.traceparent,
  ...(own.some(isAccept) ? [] : acceptAny),
];
