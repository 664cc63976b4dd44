import { ms } from '../../deliveries/outbox/sql.js';
import type { Database } from '../../platform/database/postgres.js';

/** A shipment that may have come to its end. */
export interface Candidate {
  shipmentId: string;
  lastStateAt: Date;
  /** Nothing is left to erase of it. */
  erased: boolean;
}

/**
 * The next shipments, in the order of their acceptance, that were accepted longer ago than the retention: their ids tell
 * when. A shipment that has no state is not among them; it gets one within seconds.
 */
export const nextAccepted = (db: Database, retentionMs: number, limit: number): Promise<Candidate[]> =>
  db.query<Candidate>(
    'next-accepted',
    `select shipment_id as "shipmentId", updated_at as "lastStateAt", erased_at is not null as erased
       from shipment_progress
      where shipment_id > (select last_shipment_id from erasure_walk)
        and shipment_id < uuid_floor(now() - ${ms('$1')})
      order by shipment_id limit $2`,
    [retentionMs, limit],
  );

/** Of the shipments that are looked at again, those whose time has come; without a row of their own they are gone. */
export const nextAgain = (db: Database, retentionMs: number, limit: number): Promise<Candidate[]> =>
  db.query<Candidate>(
    'next-again',
    `select e.shipment_id as "shipmentId", coalesce(p.updated_at, e.last_state_at) as "lastStateAt",
            p.shipment_id is null or p.erased_at is not null as erased
       from (select * from shipments_to_erase where last_state_at < now() - ${ms('$1')}
              order by last_state_at limit $2) e
       left join lateral (
         select shipment_id, updated_at, erased_at from shipment_progress where shipment_id = e.shipment_id limit 1) p
         on true`,
    [retentionMs, limit],
  );

/** Those of `looked` that are done with need not be looked at again; the others do, and the walk goes on behind `last`. */
export async function saveLooked(
  db: Database,
  looked: Candidate[],
  done: ReadonlySet<string>,
  last: string | null,
): Promise<void> {
  const later = looked.filter(({ shipmentId }) => !done.has(shipmentId));
  await db.query(
    'save-looked',
    `with gone as (
       delete from shipments_to_erase where shipment_id = any($1::uuid[])
     ), kept as (
       insert into shipments_to_erase (shipment_id, last_state_at)
       select * from unnest($2::uuid[], $3::timestamptz[]) as l (shipment_id, last_state_at) order by 1
       on conflict (shipment_id) do update set last_state_at = excluded.last_state_at
     )
     update erasure_walk set last_shipment_id = $4 where last_shipment_id < $4::uuid`,
    [[...done], later.map(({ shipmentId }) => shipmentId), later.map(({ lastStateAt }) => lastStateAt), last],
  );
}
