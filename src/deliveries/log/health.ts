import { isoOffset } from '../../http/envelope.js';
import type { Database } from '../../platform/database/postgres.js';
import { countLately } from '../stats/store.js';

/** `health` of webhooks as the API shows it (contract, section 4), by their ids. */
export async function webhookHealth(db: Database, webhookIds: string[]): Promise<Map<string, object>> {
  const figures = await readHealthFigures(db, webhookIds);
  const rates = new Map(
    (await countLately(db, webhookIds)).map(({ webhookId, succeeded, failed }) => [
      webhookId,
      failed / (succeeded + failed),
    ]),
  );
  return new Map(figures.map((row) => [row.webhookId, healthOf(row, rates.get(row.webhookId) ?? null)]));
}

const healthOf = (
  { circuitOpen, nextProbeAt, lastSuccessAt, pendingCount }: HealthFigures,
  failureRate: number | null,
) => ({
  circuit: circuitOpen ? 'OPEN' : 'CLOSED',
  nextProbeAt: isoOffset(nextProbeAt),
  lastSuccessAt: isoOffset(lastSuccessAt),
  failureRate,
  pendingCount,
});

interface HealthFigures {
  webhookId: string;
  circuitOpen: boolean;
  nextProbeAt: Date | null;
  lastSuccessAt: Date | null;
  pendingCount: number;
}

/** Bounds on what one look reads: the cost is the same whatever the size of the log and of the backlog. */
const newestOfEach = 100;
const pendingCountMax = 10_000;

/** Today and yesterday: whole days, which are whole partitions. */
const lately = `delivery_id >= uuid_floor(date_trunc('day', now() - interval '1 day', 'UTC'))`;
const nextState = (after: string) => `select state from deliveries
  where webhook_id = w.webhook_id and status = 'SUCCEEDED' and ${lately} ${after} order by state limit 1`;

/** How webhooks are doing, each by itself: its circuit, its last success, and how many are owed to it (at most 10,000 are counted). */
function readHealthFigures(db: Database, webhookIds: string[]): Promise<HealthFigures[]> {
  return db.query<HealthFigures>(
    'read-health-figures',
    `select w.webhook_id as "webhookId", h.* from unnest($1::uuid[]) as w (webhook_id) cross join lateral (
     with recursive states as (
       (${nextState('')})
       union all
       select n.state from states s cross join lateral (${nextState('and state > s.state')}) n
     ), circuit as (
       select open_until, last_success_at from circuits where webhook_id = w.webhook_id
     )
     select exists (select 1 from circuit where open_until is not null) as "circuitOpen",
            (select open_until from circuit) as "nextProbeAt",
            coalesce((select max(completed_at)
                        from states s cross join lateral (
                          select completed_at from deliveries
                           where webhook_id = w.webhook_id and status = 'SUCCEEDED' and state = s.state and ${lately}
                           order by delivery_id desc limit $2) d),
                     (select last_success_at from circuit)) as "lastSuccessAt",
            (select count(*)::int from (select 1 from outbox where webhook_id = w.webhook_id limit $3) o) as "pendingCount") h`,
    [webhookIds, newestOfEach, pendingCountMax],
  );
}
