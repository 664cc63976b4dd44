import type { Database } from '../platform/database/postgres.js';
import { withoutQuerySql } from '../engine/send/sealing.js';

export interface DescribedWebhook {
  webhookId: string;
  shipperId: string;
  shipperName: string;
  targetAddress: string;
  status: string;
  circuit: 'OPEN' | 'CLOSED';
  heldBy: string | null;
  failingSince: Date | null;
}

/** In the order given, without deleted ones. */
export const describeWebhooks = (db: Database, webhookIds: string[]): Promise<DescribedWebhook[]> =>
  db.query<DescribedWebhook>(
    'describe-webhooks',
    `select g.webhook_id as "webhookId", w.shipper_id as "shipperId", s.name as "shipperName",
            ${withoutQuerySql('w.target_address')} as "targetAddress", w.status,
            case when c.open_until is null then 'CLOSED' else 'OPEN' end as circuit,
            case when w.suspended then 'SUSPENDED' when w.status <> 'ACTIVE' then w.status
                 when c.open_until is not null then 'CIRCUIT' end as "heldBy",
            c.failing_since as "failingSince"
       from unnest($1::uuid[]) with ordinality as g (webhook_id, place)
      cross join lateral (
        select shipper_id, target_address, status, suspended from webhooks
         where webhook_id = g.webhook_id and deleted_at is null limit 1) w
      cross join lateral (select name from shippers where shipper_id = w.shipper_id limit 1) s
       left join lateral (
         select open_until, failing_since from circuits where webhook_id = g.webhook_id limit 1) c on true
      order by g.place`,
    [webhookIds],
  );
