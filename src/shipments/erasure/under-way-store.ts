import type { ErasedShipment } from '../../deliveries/erasure/cancel.js';
import type { Database } from '../../platform/database/postgres.js';

/** Notes in the transaction of an erasure that what is owed is still to be looked at once more. */
export async function noteUnderWay(tx: Database, shipments: ErasedShipment[]): Promise<void> {
  await tx.query(
    'note-erasures-under-way',
    `insert into erasures_under_way (shipment_id) select unnest($1::uuid[]) order by 1 on conflict do nothing`,
    [shipments.map(({ shipmentId }) => shipmentId)],
  );
}

/** The next of those under way behind `after`, whoever is at it. */
export const findUnderWay = (db: Database, after: string | null, limit: number): Promise<ErasedShipment[]> =>
  db.query<ErasedShipment>(
    'find-erasures-under-way',
    `select u.shipment_id as "shipmentId", p.shipper_id as "shipperId"
       from (select shipment_id from erasures_under_way
              where shipment_id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
              order by shipment_id limit $2) u
      cross join lateral (
        select shipper_id from shipment_progress where shipment_id = u.shipment_id limit 1) p`,
    [after, limit],
  );

/** They are finished. What somebody else says so of at this moment is left to him. */
export async function forgetUnderWay(db: Database, shipments: ErasedShipment[]): Promise<void> {
  await db.query(
    'forget-erasures-under-way',
    `with finished as materialized (
       select shipment_id from erasures_under_way where shipment_id = any($1::uuid[]) for update skip locked
     )
     delete from erasures_under_way u using finished f where u.shipment_id = any(array[f.shipment_id])`,
    [shipments.map(({ shipmentId }) => shipmentId)],
  );
}
