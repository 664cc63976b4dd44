import { isoOffset } from '../../http/envelope.js';
import type { Database } from '../../platform/database/postgres.js';

/** `health` of webhooks as the API shows it (contract, section 4), by their ids. */
export async function webhookHealth(db: Database, webhookIds: string[]): Promise<Map<string, object>> {
  const figures = await readHealthFigures(db, webhookIds);
  return new Map(figures.map((row) => [row.webhookId, healthOf(row)]));
}

const healthOf = ({ circuitOpen, nextProbeAt, lastSuccessAt, failureRate, pendingCount }: HealthFigures) => ({
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
  failureRate: number | null;
  pendingCount: number;
}

/** Bounds on what one look reads: the cost is the same whatever the size of the log and of the backlog. */
const newestDeliveries = 1_000;
const newestOfEach = 100; // where several webhooks are looked at
const pendingCountMax = 10_000;
const attemptsOfDelivery = 20;

/** Today and yesterday: whole days, which are whole partitions. */
const lately = `delivery_id >= uuid_floor(date_trunc('day', now() - interval '1 day', 'UTC'))`;
const nextKind = (after: string) => `select status, state from deliveries
  where webhook_id = w.webhook_id and ${lately} ${after} order by status, state limit 1`;

/**
 * How webhooks have been doing, each by itself: its last success, the share of the attempts of the last hour that
 * failed, by its newest deliveries, and how many are owed to it (at most 10,000 are counted).
 */
function readHealthFigures(db: Database, webhookIds: string[]): Promise<HealthFigures[]> {
  return db.query<HealthFigures>(
    'read-health-figures',
    `select w.webhook_id as "webhookId", h.* from unnest($1::uuid[]) as w (webhook_id) cross join lateral (
     with recursive kinds as (
       (${nextKind('')})
       union all
       select n.status, n.state
         from kinds k cross join lateral (${nextKind('and (status, state) > (k.status, k.state)')}) n
     ), finished as materialized (
       select f.* from kinds k
        cross join lateral (
          select delivery_id, status, attempt_count, completed_at, started_at, duration_ms, error_code from deliveries
           where webhook_id = w.webhook_id and status = k.status and state = k.state and ${lately}
           order by delivery_id desc limit $2) f
     ), owed as materialized (
       select delivery_id from outbox where webhook_id = w.webhook_id and status = 'RETRY' limit $2
     ), tried as (
       select started_at, error_code from finished where duration_ms is not null
       union all
       select a.started_at, a.error_code
         from (select delivery_id from finished where attempt_count > 1 union all select delivery_id from owed) d
        cross join lateral (
          select started_at, error_code, duration_ms from attempts
           where delivery_id = d.delivery_id order by number desc limit $4) a
        where a.duration_ms is not null
     ), circuit as (
       select open_until, last_success_at from circuits where webhook_id = w.webhook_id
     )
     select exists (select 1 from circuit where open_until is not null) as "circuitOpen",
            (select open_until from circuit) as "nextProbeAt",
            coalesce((select max(completed_at) from finished where status = 'SUCCEEDED'),
                     (select last_success_at from circuit)) as "lastSuccessAt",
            (select avg((error_code is not null)::int)::float8
               from tried where started_at > now() - interval '1 hour') as "failureRate",
            (select count(*)::int from (select 1 from outbox where webhook_id = w.webhook_id limit $3) o) as "pendingCount") h`,
    [
      webhookIds,
      webhookIds.length > 1 ? newestOfEach : newestDeliveries,
      pendingCountMax,
      attemptsOfDelivery,
    ],
  );
}
