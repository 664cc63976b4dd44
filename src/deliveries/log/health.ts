import { isoOffset } from '../../http/envelope.js';
import type { Database } from '../../platform/database/postgres.js';
import { ms, owedTo } from '../outbox/sql.js';
import { lastSuccessHour } from '../stats/sql.js';
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
  { circuitOpen, nextProbeAt, lastSuccessAt, pendingCount, parkedSince }: HealthFigures,
  failureRate: number | null,
) => ({
  circuit: circuitOpen ? 'OPEN' : 'CLOSED',
  nextProbeAt: isoOffset(nextProbeAt),
  lastSuccessAt: isoOffset(lastSuccessAt),
  failureRate,
  pendingCount,
  parkedSince: isoOffset(parkedSince),
});

interface HealthFigures {
  webhookId: string;
  circuitOpen: boolean;
  nextProbeAt: Date | null;
  lastSuccessAt: Date | null;
  pendingCount: number;
  parkedSince: Date | null;
}

/** Bounds on what one look reads: the cost is the same whatever the size of the log and of the backlog. */
const newestOfEach = 50;
const pendingCountMax = 10_000;

/** The start of the day before a moment: whole days are whole partitions. */
const dayBefore = (moment: string) => `date_trunc('day', ${moment} - interval '1 day', 'UTC')`;
const succeeded = `webhook_id = w.webhook_id and status = 'SUCCEEDED' and delivery_id >= s.first and delivery_id < s.last`;
const nextState = (after: string) =>
  `select state from deliveries where ${succeeded} ${after} order by state limit 1`;

/**
 * How webhooks are doing, each by itself: its circuit, its last success, and how many are owed to it (at most 10,000
 * are counted). The log is ordered by when its events were recorded. So the last success is looked for among the newest
 * of today and yesterday, and of the days up to the last hour with a success; failing that, the hour is told.
 */
function readHealthFigures(db: Database, webhookIds: string[]): Promise<HealthFigures[]> {
  return db.query<HealthFigures>(
    'read-health-figures',
    `select w.webhook_id as "webhookId", h.*
       from (select i.webhook_id, ${lastSuccessHour('i.webhook_id')} as hour,
                    (select shipper_id from webhooks where webhook_id = i.webhook_id) as shipper_id
               from unnest($1::uuid[]) as i (webhook_id) offset 0) w
      cross join lateral (
     with recursive spans as (
       select uuid_floor(${dayBefore('now()')}) as first, uuid_floor(now() + interval '1 day') as last
       union all
       select uuid_floor(${dayBefore('w.hour')}), uuid_floor(w.hour + interval '1 hour')
        where w.hour < ${dayBefore('now()')}
     ), states as (
       select s.*, n.state from spans s cross join lateral (${nextState('')}) n
       union all
       select s.first, s.last, n.state from states s cross join lateral (${nextState('and state > s.state')}) n
     ), arrived as (
       select d.* from states s cross join lateral (
         select greatest(completed_at, case when trigger = 'MANUAL' and error_code is null
                                            then started_at + ${ms('duration_ms')} end) as at
           from deliveries where ${succeeded} and state = s.state order by delivery_id desc limit $2) d
     ), circuit as (
       select open_until, last_success_at from circuits where webhook_id = w.webhook_id
     )
     select exists (select 1 from circuit where open_until is not null) as "circuitOpen",
            (select open_until from circuit) as "nextProbeAt",
            coalesce((select max(at) from arrived where at >= w.hour),
                     greatest((select max(at) from arrived), (select last_success_at from circuit), w.hour)) as "lastSuccessAt",
            (select count(*)::int from (${owedTo('w.webhook_id')} limit $3) o) as "pendingCount",

            (select created_at from replays
              where shipper_id = w.shipper_id and webhook_id = w.webhook_id and status = 'RUNNING' and kind = 'PARKED') as "parkedSince") h`,
    [webhookIds, newestOfEach, pendingCountMax],
  );
}
