import type { DueDelivery } from '../deliveries/enqueue.js';
import type { Finished } from '../deliveries/order-store.js';
import type { Database } from '../platform/postgres.js';

/** What a state event needs to know of its shipment. */
export interface ShipmentHead {
  shipmentId: string;
  shipperId: string;
  trackingId: string;
  shipperTrackingId: string;
  state: string | null;
  /** Events recorded so far. */
  sequence: number;
}

export interface EventRow {
  eventId: string;
  externalId: string | null;
  shipperId: string;
  shipmentId: string;
  sequence: number;
  state: string;
  occurredAt: Date;
  recordedAt: Date;
  body: string;
}

/** A shipment moves on from `fromSequence` to its last event; refused if another writer was faster. */
export interface Move {
  shipmentId: string;
  fromSequence: number;
  toSequence: number;
  state: string;
}

export function loadShipments(
  db: Database,
  shipmentIds: string[],
  trackingIds: string[],
): Promise<ShipmentHead[]> {
  return db.query<ShipmentHead>(
    'load-shipments',
    `select shipment_id as "shipmentId", shipper_id as "shipperId", tracking_id as "trackingId",
            shipper_tracking_id as "shipperTrackingId", state, sequence
       from shipments where shipment_id = any($1::uuid[]) or tracking_id = any($2)`,
    [shipmentIds, trackingIds],
  );
}

export async function findEventsByExternalId(
  db: Database,
  externalIds: string[],
): Promise<Map<string, { shipmentId: string; state: string }>> {
  if (externalIds.length === 0) return new Map();
  const rows = await db.query<{ externalId: string; shipmentId: string; state: string }>(
    'find-events-by-external-id',
    `select external_id as "externalId", shipment_id as "shipmentId", state from events where external_id = any($1)`,
    [externalIds],
  );
  return new Map(rows.map((row) => [row.externalId, row]));
}

/**
 * Moves shipments, records their events and everything owed for them: one statement, one commit. Answers the
 * events recorded (those of shipments that somebody else moved meanwhile are missing), how many deliveries are owed,
 * those that are due, and those that have earlier ones in their shipment.
 */
export async function insertEvents(
  db: Database,
  moves: Move[],
  events: EventRow[],
  sweepAfterMs: number,
): Promise<{ recorded: Set<string>; owed: number; due: DueDelivery[]; later: Finished[] }> {
  const rows = await db.query<{
    eventId: string;
    deliveryId: string | null;
    webhookId: string;
    status: string | null;
  }>(
    'insert-events',
    `with moved as (
       update shipments s set state = m.state, sequence = m.to_sequence
         from unnest($1::uuid[], $2::int[], $3::int[], $4::text[])
           as m (shipment_id, from_sequence, to_sequence, state)
        where s.shipment_id = m.shipment_id and s.shipment_id = any($1::uuid[]) and s.sequence = m.from_sequence
       returning s.shipment_id
     ), recorded as (
       insert into events (event_id, external_id, shipper_id, shipment_id, sequence, state, occurred_at,
                           recorded_at, body)
       select e.event_id, e.external_id, e.shipper_id, shipment_id, e.sequence, e.state, e.occurred_at,
              e.recorded_at, e.body
         from unnest($5::uuid[], $6::text[], $7::uuid[], $8::uuid[], $9::int[], $10::text[], $11::timestamptz[],
                     $12::timestamptz[], $13::text[])
           as e (event_id, external_id, shipper_id, shipment_id, sequence, state, occurred_at, recorded_at, body)
         join moved using (shipment_id)
       returning event_id, shipper_id, shipment_id, sequence, state
     ), owed as (
       insert into deliveries (delivery_id, event_id, webhook_id, state, status, due_at, sweep_at)
       select delivery_id(r.event_id, w.webhook_id), r.event_id, w.webhook_id, r.state,
              case when callable then 'PENDING' else 'HELD' end,
              case when callable then now() end,
              case when callable then now() + make_interval(secs => $14::float8 / 1000) end
         from recorded r
         join (
           select webhook_id, shipper_id, interests, deleted_at, supersede,
                  status = 'ACTIVE' and c.open_until is null as callable
             from webhooks left join circuits c using (webhook_id)
         ) w on w.shipper_id = r.shipper_id and w.deleted_at is null
          and (r.state = any(w.interests) or '*' = any(w.interests))
       on conflict do nothing
       returning event_id, delivery_id, webhook_id, status
     )
     select event_id as "eventId", null::uuid as "deliveryId", null::uuid as "webhookId", null as status
       from recorded
     union all
     select event_id, delivery_id, webhook_id, status from owed`,
    [
      moves.map((move) => move.shipmentId),
      moves.map((move) => move.fromSequence),
      moves.map((move) => move.toSequence),
      moves.map((move) => move.state),
      events.map((event) => event.eventId),
      events.map((event) => event.externalId),
      events.map((event) => event.shipperId),
      events.map((event) => event.shipmentId),
      events.map((event) => event.sequence),
      events.map((event) => event.state),
      events.map((event) => event.occurredAt),
      events.map((event) => event.recordedAt),
      events.map((event) => event.body),
      sweepAfterMs,
    ],
  );
  const byId = new Map(events.map((event) => [event.eventId, event]));
  const owed = rows.filter((row) => row.deliveryId !== null);
  return {
    recorded: new Set(rows.map((row) => row.eventId)),
    owed: owed.length,
    due: owed.flatMap(({ deliveryId, webhookId, status }) =>
      deliveryId !== null && status === 'PENDING' ? [{ deliveryId, webhookId }] : [],
    ),
    later: owed.flatMap(({ eventId, webhookId }) => {
      const { shipmentId, sequence } = byId.get(eventId)!;
      return sequence > 1 ? [{ webhookId, shipmentId, sequence }] : [];
    }),
  };
}
