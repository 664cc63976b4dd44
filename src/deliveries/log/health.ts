import { isoOffset } from '../../http/envelope.js';
import type { Database } from '../../platform/database/postgres.js';

/** `health` of a webhook as the API shows it (contract, section 4). */
export async function webhookHealth(db: Database, webhookId: string): Promise<object> {
  const { circuitOpen, nextProbeAt, lastSuccessAt, failureRate, pendingCount } = await readHealthFigures(
    db,
    webhookId,
  );
  return {
    circuit: circuitOpen ? 'OPEN' : 'CLOSED',
    nextProbeAt: isoOffset(nextProbeAt),
    lastSuccessAt: isoOffset(lastSuccessAt),
    failureRate,
    pendingCount,
  };
}

interface HealthFigures {
  circuitOpen: boolean;
  nextProbeAt: Date | null;
  lastSuccessAt: Date | null;
  failureRate: number | null;
  pendingCount: number;
}

/** Bounds on what one look reads: the cost is the same whatever the size of the log and of the backlog. */
const newestDeliveries = 1_000;
const pendingCountMax = 10_000;
const attemptsOfDelivery = 20;

/** Today and yesterday: whole days, which are whole partitions. */
const lately = `delivery_id >= uuid_floor(date_trunc('day', now() - interval '1 day', 'UTC'))`;
const nextKind = (after: string) => `select status, state from deliveries
  where webhook_id = $1 and ${lately} ${after} order by status, state limit 1`;

/**
 * How a webhook has been doing: its last success, the share of the attempts of the last hour that failed, by its newest
 * deliveries, and how many are owed to it (at most 10,000 are counted).
 */
async function readHealthFigures(db: Database, webhookId: string): Promise<HealthFigures> {
  const [figures] = await db.query<HealthFigures>(
    'read-health-figures',
    `with recursive kinds as (
       (${nextKind('')})
       union all
       select n.status, n.state
         from kinds k cross join lateral (${nextKind('and (status, state) > (k.status, k.state)')}) n
     ), finished as materialized (
       select f.* from kinds k
        cross join lateral (
          select delivery_id, status, completed_at, started_at, duration_ms, error_code from deliveries
           where webhook_id = $1 and status = k.status and state = k.state and ${lately}
           order by delivery_id desc limit $2) f
     ), owed as materialized (
       select delivery_id from outbox where webhook_id = $1 and status = 'RETRY' limit $2
     ), tried as (
       select started_at, error_code from finished where duration_ms is not null
       union all
       select a.started_at, a.error_code
         from (select delivery_id from finished union all select delivery_id from owed) d
        cross join lateral (
          select started_at, error_code, duration_ms from attempts
           where delivery_id = d.delivery_id order by number desc limit $4) a
        where a.duration_ms is not null
     ), circuit as (
       select open_until, last_success_at from circuits where webhook_id = $1
     )
     select exists (select 1 from circuit where open_until is not null) as "circuitOpen",
            (select open_until from circuit) as "nextProbeAt",
            coalesce((select max(completed_at) from finished where status = 'SUCCEEDED'),
                     (select last_success_at from circuit)) as "lastSuccessAt",
            (select avg((error_code is not null)::int)::float8
               from tried where started_at > now() - interval '1 hour') as "failureRate",
            (select count(*)::int from (select 1 from outbox where webhook_id = $1 limit $3) o) as "pendingCount"`,
    [webhookId, newestDeliveries, pendingCountMax, attemptsOfDelivery],
  );
  return figures!;
}
