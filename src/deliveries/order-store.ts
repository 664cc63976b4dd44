import type { Database } from '../platform/postgres.js';
import { bounds } from './bounds.js';
import type { DueDelivery } from './enqueue.js';
import type { Claim } from './store.js';

/**
 * Whether it is delivery d's turn (with its event e and webhook w): no earlier state of its shipment is still owed
 * to the webhook, or it has waited long enough. `holdMs` is the parameter that bounds the wait; what was held because
 * its webhook was not called has not waited its turn yet.
 */
export const itsTurn = (holdMs: string) => `(
  w.ordering = 'NONE' or e.shipment_id is null or e.sequence = 1
  or coalesce(d.turn_waited_since <= now() - make_interval(secs => ${holdMs}::float8 / 1000), false)
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

/**
 * Of deliveries that were not sent because it was not their turn: those whose turn it is by now, due again. To be
 * asked after they were parked. Who settles the earlier state releases what he sees parked; this finds what he did
 * not see.
 */
export async function releaseInTurn(
  db: Database,
  deliveryIds: string[],
  orderHoldMs: number,
  sweepAfterMs: number,
): Promise<DueDelivery[]> {
  if (deliveryIds.length === 0) return [];
  return db.query<DueDelivery>(
    'release-in-turn',
    `update deliveries d
        set status = 'PENDING', due_at = now(), sweep_at = now() + make_interval(secs => $5::float8 / 1000)
       from webhooks w, events e
      where d.delivery_id = any($1::uuid[]) and d.delivery_id between $2 and $3 and not d.claimed
        and (d.status = 'HELD' and d.sweep_at is not null or d.status = 'PENDING' and d.due_at <= now())
        and w.webhook_id = d.webhook_id and e.event_id = d.event_id and ${itsTurn('$4')}
     returning d.delivery_id as "deliveryId", d.webhook_id as "webhookId"`,
    [deliveryIds, ...bounds(deliveryIds), orderHoldMs, sweepAfterMs],
  );
}

/** Releases the next state of each shipment that waited its turn behind one that is settled now. */
export async function releaseNext(
  db: Database,
  finished: Finished[],
  sweepAfterMs: number,
): Promise<DueDelivery[]> {
  const later = await findLater(db, finished);
  if (later.length === 0) return [];
  const ids = later.map(({ deliveryId }) => deliveryId);
  return db.query<DueDelivery>(
    'release-next',
    `with next as materialized (
       select distinct on (l.place) n.delivery_id
         from deliveries n
         join unnest($1::uuid[], $2::int[], $3::int[]) as l (delivery_id, place, sequence) using (delivery_id)
        where n.delivery_id = any($1::uuid[]) and n.delivery_id between $4 and $5
          and n.status in ('PENDING', 'HELD')
        order by l.place, l.sequence
     )
     update deliveries d
        set status = 'PENDING', due_at = now(), sweep_at = now() + make_interval(secs => $6::float8 / 1000)
      where d.delivery_id = any(array(select delivery_id from next)) and d.delivery_id between $4 and $5
        and d.status = 'HELD' and d.sweep_at is not null
     returning d.delivery_id as "deliveryId", d.webhook_id as "webhookId"`,
    [
      ids,
      later.map(({ place }) => place),
      later.map(({ sequence }) => sequence),
      ...bounds(ids),
      sweepAfterMs,
    ],
  );
}

/** The deliveries of later states, as they would be called; `place` is that of the one finished. */
function findLater(
  db: Database,
  finished: Finished[],
): Promise<{ deliveryId: string; place: number; sequence: number }[]> {
  return db.query(
    'find-later',
    `select delivery_id(e.event_id, f.webhook_id) as "deliveryId", f.place::int, e.sequence
       from unnest($1::uuid[], $2::uuid[], $3::int[]) with ordinality as f (webhook_id, shipment_id, sequence, place)
       join events e on e.shipment_id = f.shipment_id and e.sequence > f.sequence and e.shipment_id = any($2::uuid[])`,
    columnsOf(finished),
  );
}

/**
 * Cancels what a later state has overtaken, for webhooks that want that. Terminal states are never skipped. Answers
 * the later ones that had begun to wait for what is cancelled now.
 */
export async function supersede(
  db: Database,
  later: Finished[],
  terminalStates: string[],
  sweepAfterMs: number,
): Promise<DueDelivery[]> {
  const overtaken = await findOvertaken(db, later);
  if (overtaken.length === 0) return [];
  const cancelled = await db.query(
    'supersede',
    `update deliveries d
        set status = 'CANCELLED', reason = 'SUPERSEDED', completed_at = now(), due_at = null, sweep_at = null
      where d.delivery_id = any($1::uuid[]) and d.delivery_id between $2 and $3
        and d.status in ('PENDING', 'HELD') and not d.claimed and d.state <> all($4)
     returning 1`,
    [overtaken, ...bounds(overtaken), terminalStates],
  );
  if (cancelled.length === 0) return [];
  const before = later.map((delivery) => ({ ...delivery, sequence: delivery.sequence - 1 }));
  return releaseNext(db, before, sweepAfterMs);
}

async function findOvertaken(db: Database, later: Finished[]): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string }>(
    'find-overtaken',
    `select distinct delivery_id(e.event_id, l.webhook_id) as delivery_id
       from unnest($1::uuid[], $2::uuid[], $3::int[]) as l (webhook_id, shipment_id, sequence)
       join webhooks w on w.webhook_id = l.webhook_id and w.supersede and w.webhook_id = any($1::uuid[])
       join events e on e.shipment_id = l.shipment_id and e.sequence < l.sequence and e.shipment_id = any($2::uuid[])`,
    columnsOf(later),
  );
  return rows.map((row) => row.delivery_id);
}

const columnsOf = (finished: Finished[]) => [
  finished.map(({ webhookId }) => webhookId),
  finished.map(({ shipmentId }) => shipmentId),
  finished.map(({ sequence }) => sequence),
];
