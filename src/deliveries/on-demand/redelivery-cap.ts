import type { Database } from '../../platform/database/postgres.js';

/** Redeliveries that one delivery takes in any 24 hours. */
export const redeliveriesPerDay = 100;

/** Far more than a delivery may have in a day, by hand or by its schedule. */
const attemptsLookedAt = 500;

export interface Redeliverable {
  webhookId: string;
  targetAddress: string;
  /** Until one more attempt by hand may be asked for; 0: now. */
  waitMs: number;
}

/** Where a delivery goes, and when it may be sent by hand again. Null without that delivery. */
export async function findRedeliverable(
  db: Database,
  shipperId: string,
  deliveryId: string,
): Promise<Redeliverable | null> {
  const rows = await db.query<Redeliverable>(
    'find-redeliverable',
    `with d as materialized (
       select webhook_id, null::text as trigger, null::timestamptz as started_at
         from outbox where shipper_id = $1 and delivery_id = $2
       union all
       select webhook_id, trigger, started_at from deliveries where shipper_id = $1 and delivery_id = $2
     ), made as (
       select started_at from (
         select trigger, started_at from d
         union all
         (select trigger, started_at from attempts where delivery_id = $2 and shipper_id = $1
           order by number desc limit $4)
       ) a
        where trigger = 'MANUAL' and started_at > now() - interval '1 day' order by started_at desc offset $3 limit 1
     )
     select d.webhook_id as "webhookId", w.target_address as "targetAddress",
            coalesce((select extract(epoch from started_at + interval '1 day' - now()) * 1000 from made), 0)::float8 as "waitMs"
       from d cross join lateral (select target_address from webhooks where webhook_id = d.webhook_id limit 1) w`,
    [shipperId, deliveryId, redeliveriesPerDay - 1, attemptsLookedAt],
  );
  return rows[0] ?? null;
}
