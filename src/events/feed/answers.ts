import * as z from 'zod';
import { notification } from '../../deliveries/log/notification-docs.js';
import { described } from '../../http/described.js';
import { isoOffset } from '../../http/envelope.js';
import { moment, trackingId } from '../../http/request/fields.js';
import { encodeCursor, origin } from './cursor.js';
import type { FeedPage } from './read.js';
import type { FeedRow } from './store.js';

const exampleEventId = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
export const exampleCursor = encodeCursor({
  ...origin,
  epoch: '5f0c1e0e-7d0b-4c2e-9a53-3f6d2a1b9c84',
  eventId: exampleEventId,
  timeMs: 0,
});

const feedEvent = z
  .object({
    eventId: described(z.string(), '`webhook-id` of its notifications.', exampleEventId),
    sequence: described(z.int().min(1), 'Its place within its shipment, from 1.', 1),
    trackingId,
    state: described(z.string(), 'State the shipment came to.', 'CREATED'),
    recordedAt: moment('When it was recorded.'),
    notification,
  })
  .meta({ id: 'FeedEvent', description: 'A shipment came to a state.' });

export const feedPage = z
  .object({
    events: z.array(feedEvent),
    nextCursor: described(
      z.string(),
      'Where to go on: send it as `after`. It is there also where nothing follows yet.',
      exampleCursor,
    ),
  })
  .meta({ description: 'Events, oldest first.' });

export const answerOf = ({ events, next }: FeedPage) => ({
  events: events.map(viewOf),
  nextCursor: encodeCursor(next),
});

function viewOf({ eventId, externalId, sequence, recordedAt, body }: FeedRow) {
  const told = JSON.parse(body) as { tracking_id: string; state: string };
  return {
    eventId: externalId ?? eventId,
    sequence,
    trackingId: told.tracking_id,
    state: told.state,
    recordedAt: isoOffset(recordedAt),
    notification: told,
  };
}
