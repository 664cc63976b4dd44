import type { Database } from '../platform/postgres.js';
import type { DueDelivery } from './enqueue.js';
import type { Claim } from './store.js';

/**
 * Whether it is delivery d's turn (with its event e and webhook w): no earlier state of its shipment is still owed
 * to the webhook, or it has waited long enough. `holdMs` is the parameter that bounds the wait.
 */
export const itsTurn = (holdMs: string) => `(
  w.ordering = 'NONE' or e.shipment_id is null or e.sequence = 1
  or e.recorded_at <= now() - make_interval(secs => ${holdMs}::float8 / 1000)
  or not exists (
    select 1 from events earlier
      join deliveries owed on owed.delivery_id = delivery_id(earlier.event_id, d.webhook_id)
     where earlier.shipment_id = e.shipment_id and earlier.sequence < e.sequence
       and owed.status in ('PENDING', 'HELD')))`;

/** A delivery that was settled for good, and where it stood in its shipment. */
export interface Finished {
  webhookId: string;
  shipmentId: string;
  sequence: number;
}

/** Where a finished claim stood, if the states of its shipment wait for one another. */
export const finishedOf = ({ ordered, webhookId, shipmentId, sequence }: Claim): Finished[] =>
  ordered && shipmentId !== null ? [{ webhookId, shipmentId, sequence }] : [];

/** Releases the next state of each shipment that waited its turn behind one that is settled now. */
export function releaseNext(
  db: Database,
  finished: Finished[],
  sweepAfterMs: number,
): Promise<DueDelivery[]> {
  return db.query<DueDelivery>(
    'release-next',
    `update deliveries d
        set status = 'PENDING', due_at = now(), sweep_at = now() + make_interval(secs => $4::float8 / 1000)
       from (
         select distinct on (f.webhook_id, f.shipment_id) n.delivery_id
           from unnest($1::uuid[], $2::uuid[], $3::int[]) as f (webhook_id, shipment_id, sequence)
           join events e on e.shipment_id = f.shipment_id and e.sequence > f.sequence
           join deliveries n on n.delivery_id = delivery_id(e.event_id, f.webhook_id)
          where n.status in ('PENDING', 'HELD')
          order by f.webhook_id, f.shipment_id, e.sequence) as next
      where d.delivery_id = next.delivery_id and d.status = 'HELD' and d.sweep_at is not null
     returning d.delivery_id as "deliveryId", d.webhook_id as "webhookId"`,
    [
      finished.map(({ webhookId }) => webhookId),
      finished.map(({ shipmentId }) => shipmentId),
      finished.map(({ sequence }) => sequence),
      sweepAfterMs,
    ],
  );
}

/** Cancels what a later state has overtaken, for webhooks that want that. Terminal states are never skipped. */
export async function supersede(db: Database, later: Finished[], terminalStates: string[]): Promise<void> {
  await db.query(
    'supersede',
    `update deliveries d
        set status = 'CANCELLED', reason = 'SUPERSEDED', completed_at = now(), due_at = null, sweep_at = null
       from unnest($1::uuid[], $2::uuid[], $3::int[]) as l (webhook_id, shipment_id, sequence)
       join webhooks w on w.webhook_id = l.webhook_id and w.supersede
       join events e on e.shipment_id = l.shipment_id and e.sequence < l.sequence
      where d.delivery_id = delivery_id(e.event_id, l.webhook_id)
        and d.status in ('PENDING', 'HELD') and not d.claimed and d.state <> all($4)`,
    [
      later.map(({ webhookId }) => webhookId),
      later.map(({ shipmentId }) => shipmentId),
      later.map(({ sequence }) => sequence),
      terminalStates,
    ],
  );
}
