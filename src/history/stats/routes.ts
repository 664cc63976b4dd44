import * as z from 'zod';
import { countInQuery } from '../../http/request/fields.js';
import { route, type Route, isoOffset } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import { stats } from '../../webhooks/responses.js';
import { webhookParams } from '../../webhooks/schema.js';
import { findWebhook } from '../../webhooks/store.js';
import { maxHours, readHours, lastSuccessHour, countRecentAttempts } from './store.js';
import { disablesAt, isActive, ms, owedTo } from '../../engine/engine.js';

export const defaultHours = 24;

export async function webhookStats(
  db: Database,
  webhookIds: string[],
  hours: number,
): Promise<Map<string, { hours: object[] }>> {
  const stats = new Map(webhookIds.map((webhookId) => [webhookId, { hours: [] as object[] }]));
  for (const { webhookId, hour, succeeded, failed, p50Ms, p95Ms } of await readHours(db, webhookIds, hours))
    stats.get(webhookId)!.hours.push({
      hour: isoOffset(hour),
      attempts: succeeded + failed,
      succeeded,
      failed,
      p50Ms,
      p95Ms,
    });
  return stats;
}

const hours = countInQuery('How many hours, including the current one.', defaultHours, maxHours);

export function statsRoutes({ db, readDb }: { db: Database; readDb: Database }): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/webhooks/:webhookId/stats',
      cost: 'costly',
      summary: 'Count the attempts of a webhook by hour',
      operationId: 'getWebhookStats',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description:
        'Every attempt in the log counts in the hour in which it began, including redeliveries, replays and notices, but not tests. It counts as soon as the log shows it, and only once.',
      responses: { 200: stats },
      params: webhookParams,
      query: z.object({ hours }),
      handle: async ({ caller, params: { webhookId }, query }) => {
        await findWebhook(db, caller.shipperId, webhookId);
        return { data: (await webhookStats(readDb, [webhookId], query.hours)).get(webhookId)! };
      },
    }),
  ];
}

export async function webhookHealth(db: Database, webhookIds: string[]): Promise<Map<string, object>> {
  const figures = await readHealthFigures(db, webhookIds);
  const rates = new Map(
    (await countRecentAttempts(db, webhookIds)).map(({ webhookId, succeeded, failed }) => [
      webhookId,
      failed / (succeeded + failed),
    ]),
  );
  return new Map(figures.map((row) => [row.webhookId, healthOf(row, rates.get(row.webhookId) ?? null)]));
}

const healthOf = (
  {
    circuitOpen,
    nextProbeAt,
    failedSince,
    disablesAt,
    lastSuccessAt,
    pendingCount,
    parkedSince,
  }: HealthFigures,
  failureRate: number | null,
) => ({
  circuit: circuitOpen ? 'OPEN' : 'CLOSED',
  nextProbeAt: isoOffset(nextProbeAt),
  failedSince: isoOffset(failedSince),
  disablesAt: isoOffset(disablesAt),
  lastSuccessAt: isoOffset(lastSuccessAt),
  failureRate,
  pendingCount,
  parkedSince: isoOffset(parkedSince),
});

interface HealthFigures {
  webhookId: string;
  circuitOpen: boolean;
  nextProbeAt: Date | null;
  failedSince: Date | null;
  disablesAt: Date | null;
  lastSuccessAt: Date | null;
  pendingCount: number;
  parkedSince: Date | null;
}

/** These limits bound the cost, whatever the size of the log and of the backlog. */
const maxNewestPerState = 50;
const maxPendingCount = 10_000;

/** Whole days are whole partitions. */
const dayBefore = (timestamp: string) => `date_trunc('day', ${timestamp} - interval '1 day', 'UTC')`;
const succeeded = `webhook_id = w.webhook_id and status = 'SUCCEEDED' and delivery_id >= s.first and delivery_id < s.last`;
const nextState = (after: string) =>
  `select state from deliveries where ${succeeded} ${after} order by state limit 1`;

/**
 * At most 10,000 owed deliveries are counted. The log is ordered by when events were recorded, not sent. So the last
 * success is sought among the newest deliveries of today and yesterday, and of the day before the last hour with a
 * success up to that hour; failing that, the hour is returned.
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
       select open_until, last_success_at, failing_since,
              case when told > 0 then ${disablesAt('circuits')} end as disables_at from circuits where webhook_id = w.webhook_id
     )
     select exists (select 1 from circuit where open_until is not null) as "circuitOpen",
            (select open_until from circuit) as "nextProbeAt", (select failing_since from circuit) as "failedSince",
            (select disables_at from circuit
              where exists (select from webhooks h where h.webhook_id = w.webhook_id and ${isActive('h')})) as "disablesAt",
            coalesce((select max(at) from arrived where at >= w.hour),
                     greatest((select max(at) from arrived), (select last_success_at from circuit), w.hour)) as "lastSuccessAt",
            (select count(*)::int from (${owedTo('w.webhook_id')} limit $3) o) as "pendingCount",
            (select created_at from replays
              where shipper_id = w.shipper_id and webhook_id = w.webhook_id and status = 'RUNNING' and kind = 'PARKED') as "parkedSince") h`,
    [webhookIds, maxNewestPerState, maxPendingCount],
  );
}
