import { isInRangeOf, owedByKey } from '../engine/outbox/sql.js';
import type { Database } from '../platform/database/postgres.js';

/** `shipmentId` is null for tests and notices. */
export interface DeliveryOwner {
  shipperId: string;
  webhookId: string;
  shipmentId: string | null;
}

/** A delivery's id contains half of its event's id, so the event leads to the shipper. Null if it is not in the log. */
export async function findOwner(db: Database, deliveryId: string): Promise<DeliveryOwner | null> {
  const [owner] = await db.query<DeliveryOwner>(
    'find-owner-of-delivery',
    `select e.shipper_id as "shipperId", d.webhook_id as "webhookId", e.shipment_id as "shipmentId"
       from (select event_id, shipper_id, shipment_id from events
              where ${isInRangeOf('event_id', '$1::uuid')} offset 0) e
      cross join lateral (
        ${owedByKey('e.shipper_id', '$1::uuid')}
        union all
        select shipper_id, delivery_id, webhook_id, event_id from deliveries
         where shipper_id = e.shipper_id and delivery_id = $1::uuid) d
      where d.event_id = e.event_id limit 1`,
    [deliveryId],
  );
  return owner ?? null;
}

export async function findShipperOf(db: Database, trackingId: string): Promise<string | null> {
  const [shipment] = await db.query<{ shipperId: string }>(
    'find-shipper-of-shipment',
    'select shipper_id as "shipperId" from shipments where tracking_id = $1',
    [trackingId],
  );
  return shipment?.shipperId ?? null;
}
