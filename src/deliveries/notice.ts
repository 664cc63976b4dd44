import { v7 as uuid } from 'uuid';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import type { Transition } from './circuit.js';
import type { DeliveryQueue, DueDelivery } from './enqueue.js';
import { sweepAfterMs } from './timing.js';

/** Operational notifications a shipper's other webhooks may ask for by name (`*` does not include them). */
export const notices = ['WEBHOOK_DISABLED', 'WEBHOOK_FAILING', 'WEBHOOK_RECOVERED'] as const;
type Notice = (typeof notices)[number];

export interface NoticeDependencies {
  db: Database;
  queue: Pick<DeliveryQueue, 'enqueue'>;
  logger: Logger;
  metrics: Metrics;
}

/** Tells the owner that his webhook is not called any more. */
export async function tellDisabled(
  deps: NoticeDependencies,
  webhookId: string,
  reason: 'GONE' | 'FAILING',
): Promise<void> {
  deps.metrics.webhooksDisabled.inc({ reason });
  await sendNotice(deps, webhookId, 'WEBHOOK_DISABLED', reason);
}

/** Tells the owner that the circuit of his webhook has opened or closed. */
export async function tellTransition(
  deps: NoticeDependencies,
  webhookId: string,
  transition: Exclude<Transition, null>,
): Promise<void> {
  const opened = transition === 'OPENED';
  deps.metrics.circuitTransitions.inc({ to: opened ? 'open' : 'closed' });
  await sendNotice(
    deps,
    webhookId,
    opened ? 'WEBHOOK_FAILING' : 'WEBHOOK_RECOVERED',
    opened ? 'CIRCUIT_OPEN' : null,
  );
}

/**
 * Sends a notice about one webhook to the shipper's others that name it in their interests. Its body:
 * `{state, webhook_id, target_address, reason, timestamp}`. Never rejects: what it tells of has happened.
 */
async function sendNotice(
  { db, queue, logger }: NoticeDependencies,
  webhookId: string,
  notice: Notice,
  reason: string | null,
): Promise<void> {
  logger.warn({ webhookId, notice, reason }, 'webhook');
  try {
    queue.enqueue(await recordNotice(db, webhookId, notice, reason));
  } catch (error) {
    logger.warn({ webhookId, notice, error: describeError(error) }, 'notice not sent');
  }
}

async function recordNotice(
  db: Database,
  webhookId: string,
  state: Notice,
  reason: string | null,
): Promise<DueDelivery[]> {
  const now = new Date();
  return db.query<DueDelivery>(
    'record-notice',
    `with about as (
       select shipper_id, target_address from webhooks where webhook_id = $2
     ), recorded as (
       insert into events (event_id, shipper_id, sequence, state, occurred_at, recorded_at, body)
       select $1, shipper_id, 1, $3, $5, $5,
              json_build_object('state', $3::text, 'webhook_id', $2::uuid, 'target_address', target_address,
                                'reason', $4::text, 'timestamp', $7::bigint)::text
         from about
       returning event_id, shipper_id
     )
     insert into deliveries (delivery_id, event_id, webhook_id, state, status, due_at, sweep_at)
     select delivery_id(r.event_id, w.webhook_id), r.event_id, w.webhook_id, $3, 'PENDING', now(),
            now() + make_interval(secs => $6::float8 / 1000)
       from recorded r
       join webhooks w on w.shipper_id = r.shipper_id and w.webhook_id <> $2 and w.deleted_at is null
        and $3 = any(w.interests)
     returning delivery_id as "deliveryId", webhook_id as "webhookId"`,
    [uuid(), webhookId, state, reason, now, sweepAfterMs, now.getTime()],
  );
}
