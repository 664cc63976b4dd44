import type { IncomingHttpHeaders } from 'node:http';
import { sameText } from '../accounts/credentials.js';
import { sign } from '../deliveries/send/headers.js';

export interface Arrival {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Standard Webhooks leaves it to the receiver; the client has the same default. */
const toleranceSeconds = 300;

/**
 * Null, or a sentence that says why the request is not a notification signed with one of these secrets. As `verify` of the
 * client, which the service does not import, but with `sign` of the service.
 */
export function problemOf({ headers, body }: Arrival, secrets: string[], nowMs: number): string | null {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const [id = '', timestamp = '', signatures = ''] = names.map((name) => headers[name]?.toString());
  const missing = names.find((name) => !headers[name]);
  if (missing) return `The header ${missing} is missing.`;
  if (secrets.length === 0) return 'No webhook of yours points to this inbox, so there is no secret.';
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is not a number of seconds.';
  const secondsOff = Math.abs(Math.floor(nowMs / 1_000) - Number(timestamp));
  if (secondsOff > toleranceSeconds) return `webhook-timestamp is ${secondsOff} s away from the clock.`;
  const expected = sign(secrets, id, Number(timestamp), body).split(' ');
  const isSigned = signatures.split(' ').some((given) => expected.some((one) => sameText(one, given)));
  return isSigned ? null : 'No signature matches: it was made with another secret, or the body was changed.';
}
