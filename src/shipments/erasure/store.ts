import type { Database } from '../../platform/database/postgres.js';

/** An order as JSON. */
export interface OrderText {
  shipmentId: string;
  order: string;
}

export const findOrders = (tx: Database, shipmentIds: string[]): Promise<OrderText[]> =>
  tx.query<OrderText>(
    'find-orders',
    `select shipment_id as "shipmentId", order_data as "order" from shipments
      where shipment_id = any($1::uuid[]) order by shipment_id`,
    [shipmentIds],
  );

/**
 * Puts erased orders in the place of what they were. An idempotency key still answers with the order, whatever body it
 * comes with: the hash of the first one could be searched for a name or a phone number.
 */
export async function saveErasedOrders(tx: Database, orders: OrderText[]): Promise<void> {
  await tx.query(
    'save-erased-orders',
    `with saved as (
       update shipments s set order_data = i.order_data
         from unnest($1::uuid[], $2::text[]) as i (shipment_id, order_data)
        where s.shipment_id = any(array[i.shipment_id])
       returning s.shipment_id, s.accepted_at
     )
     update idempotency_keys k set body_hash = ''
       from saved s where k.created_at = any(array[s.accepted_at]) and k.shipment_id = s.shipment_id`,
    [orders.map(({ shipmentId }) => shipmentId), orders.map(({ order }) => order)],
  );
}
