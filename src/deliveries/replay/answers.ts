import * as z from 'zod';
import { described } from '../../http/described.js';
import { moment, nextCursor, trackingId, uuid } from '../../http/request/fields.js';

/** What a replay may be limited to. */
export const replayedStatuses = ['FAILED', 'HELD', 'PENDING'] as const;

const replayId = uuid('Identifier of the replay.');

export const replayAsked = z
  .object({
    queued: described(
      z.int().min(0).nullable(),
      'Deliveries it will send, as counted now; null while they are not counted yet, for example if the span has 10,000 events or more.',
      12,
    ),
    reason: described(
      z.enum(['NOTHING_RECORDED', 'NO_INTEREST', 'ALL_SUCCEEDED', 'EXPIRED']).nullable(),
      'Why `queued` is 0, else null: nothing was recorded in that span, nothing of the interests of the webhook, nothing is left to send (it succeeded or is on its way), or the log does not hold it any more, or it was erased. Also null if only deliveries with another status were missed.',
      null,
    ),
    replayId,
  })
  .meta({ id: 'Replay', description: 'The replay has begun; it sends as fast as the receiver takes it.' });

export const replayProgress = z
  .object({
    replayId,
    webhookId: uuid('The webhook it is for.'),
    status: described(
      z.enum(['RUNNING', 'DONE', 'CANCELLED']),
      '`DONE` when all that it has set going is settled.',
    ),
    done: described(z.int().min(0), 'Deliveries of it that are settled: succeeded, failed or cancelled.', 7),
    total: described(z.int().min(0).nullable(), 'Deliveries to send; null until all were found.', 12),
    from: moment('First moment, as it was asked for.'),
    to: moment('Last moment, as it was asked for.'),
    deliveryStatus: described(
      z.enum(replayedStatuses).nullable(),
      'The `status` that was asked for; null: all.',
      null,
    ),
    trackingId: described(trackingId.nullable(), 'The shipment that was asked for; null: all.'),
    createdAt: moment('When it was asked for.'),
    finishedAt: moment('When it was over; null before.').nullable(),
  })
  .meta({ id: 'ReplayProgress', description: 'How far a replay has come.' });

export const replayList = z
  .object({ replays: z.array(replayProgress), nextCursor })
  .meta({ description: 'Replays, newest first.' });
