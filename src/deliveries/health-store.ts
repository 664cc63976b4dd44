import type { Database } from '../platform/postgres.js';
import { everyStatus } from './status-condition.js';

export interface HealthFigures {
  circuitOpen: boolean;
  lastSuccessAt: Date | null;
  failureRate: number | null;
  pendingCount: number;
}

/** Bounds on what one look reads: the cost is the same whatever the size of the log and of the backlog. */
const newestDeliveries = 1_000;
const pendingCountMax = 10_000;

const newestWhere = (condition: string) =>
  `(select delivery_id, status, completed_at from deliveries
     where webhook_id = $1 and ${condition} order by delivery_id desc limit $2)`;

/**
 * How a webhook has been doing, by its newest deliveries: its last success, the share of the attempts of the last
 * hour that failed, and how many deliveries are open (at most 10,000 are counted).
 */
export async function readHealthFigures(db: Database, webhookId: string): Promise<HealthFigures> {
  const [figures] = await db.query<HealthFigures>(
    'read-health-figures',
    `with newest as materialized (
       select * from (${everyStatus.map(newestWhere).join(' union all ')}) each order by delivery_id desc limit $2
     )
     select exists (select 1 from circuits where webhook_id = $1 and open_until is not null) as "circuitOpen",
            coalesce((select max(completed_at) from newest where status = 'SUCCEEDED'),
                     (select last_success_at from circuits where webhook_id = $1)) as "lastSuccessAt",
            (select avg((error_code is not null)::int)::float8
               from newest join attempts using (delivery_id)
              where started_at > now() - interval '1 hour' and duration_ms is not null) as "failureRate",
            (select count(*)::int from (
               select 1 from deliveries
                where webhook_id = $1 and completed_at is null limit $3) open) as "pendingCount"`,
    [webhookId, newestDeliveries, pendingCountMax],
  );
  return figures!;
}
