import { eventsOf, ms } from '../deliveries/outbox/sql.js';
import type { Database } from '../platform/database/postgres.js';
import { eraseNotification } from './notification.js';

export interface MarkedShipment {
  shipmentId: string;
  shipperId: string;
  /** When it was first. */
  erasedAt: Date;
  /** That is in this transaction. */
  isFirst: boolean;
}

/**
 * Marks shipments as erased, of those that have a state; with `quietMs` only those that came to none in that time. The
 * lock on each makes whoever records a state of it either be seen by the statements that follow, or see the mark.
 */
export function markErased(
  tx: Database,
  shipmentIds: string[],
  quietMs: number | null,
): Promise<MarkedShipment[]> {
  return tx.query<MarkedShipment>(
    'mark-erased',
    `with locked as materialized (
       select shipment_id from shipment_progress
        where shipment_id = any($1::uuid[]) and ($2::float8 is null or updated_at < now() - ${ms('$2')})
        order by shipment_id for update
     )
     update shipment_progress p set erased_at = coalesce(erased_at, now())
       from locked l where p.shipment_id = any(array[l.shipment_id])
     returning p.shipment_id as "shipmentId", p.shipper_id as "shipperId", p.erased_at as "erasedAt",
               p.erased_at = now() as "isFirst"`,
    [shipmentIds, quietMs],
  );
}

const eventsPerPiece = 1_000;

/** Erases the notifications of shipments that are marked; those recorded after the mark hold nothing personal. */
export async function eraseEvents(tx: Database, shipmentIds: string[]): Promise<void> {
  while ((await erasePiece(tx, shipmentIds)) === eventsPerPiece);
}

/** Erases one piece, because a shipment may have any number of states, of any size. Returns how many. */
async function erasePiece(tx: Database, shipmentIds: string[]): Promise<number> {
  const events = await tx.query<{ eventId: string; body: string }>(
    'find-events-to-erase',
    `select e.event_id as "eventId", e.body from unnest($1::uuid[]) as s (shipment_id)
      cross join lateral ${eventsOf('s.shipment_id', 'event_id, body', 'erasure is null order by sequence limit $2')} e
      limit $2`,
    [shipmentIds, eventsPerPiece],
  );
  if (events.length === 0) return 0;
  await tx.query(
    'erase-events',
    `update events e set body = i.body, erasure = 'DONE'
       from unnest($1::uuid[], $2::text[]) as i (event_id, body) where e.event_id = any(array[i.event_id])`,
    [events.map(({ eventId }) => eventId), events.map(({ body }) => eraseNotification(body))],
  );
  return events.length;
}
