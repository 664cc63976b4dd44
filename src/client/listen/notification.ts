import { version } from '../api/generated.js';
import type { FeedEvent } from '../api/types.js';
import { sign } from '../signature/sign.js';

/** What a webhook gets for an event: the same bytes, and the same headers, signed now, at its first attempt. */
export function notificationOf(
  { eventId, sequence, notification }: FeedEvent,
  secret: string,
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify(notification);
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': `Parcelhook/${version}`,
      'webhook-id': eventId,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': sign(secret, eventId, timestampSeconds, body),
      'parcelhook-sequence': String(sequence),
      'parcelhook-attempt': '1',
    },
  };
}
