import { databaseNowMs } from '../../platform/clock.js';
import type { Database } from '../../platform/database/postgres.js';
import { ms } from '../outbox/sql.js';
import { leadMs, type Starts } from '../schedule/pace.js';

/** Starts are further apart than a second allows: so none of them, if it comes late, makes a second too full. */
const stretch = 1.06;

interface Drawn {
  webhookId: string;
  /** By PostgreSQL's clock (epoch), which all workers read alike, however long the statement takes. */
  firstAtMs: number;
  stepMs: number;
  count: number;
}

/**
 * Draws starts of webhooks with `maxPerSecond`, none of them further ahead than `withinMs`, and returns them by webhook.
 * A webhook is missing if it has no limit, or none any more, or another shipper than the one named.
 */
export async function drawStarts(
  db: Database,
  wanted: { webhookId: string; count: number }[],
  withinMs: number,
  shipperId: string | null = null,
): Promise<Map<string, Starts>> {
  const webhookIds = wanted.map(({ webhookId }) => webhookId);
  const rows = await db.query<Drawn>('draw-starts', drawText, [
    webhookIds,
    wanted.map(({ count }) => count),
    withinMs,
    shipperId,
  ]);
  const sinceEpochMs = databaseNowMs() - performance.now();
  return new Map(
    rows.map(({ webhookId, firstAtMs, stepMs, count }) => [
      webhookId,
      { firstMs: firstAtMs - sinceEpochMs, stepMs, count },
    ]),
  );
}

/** As many as lie between `from` and the end of what may be drawn. */
const countFrom = (from: string, step: string) =>
  `greatest(0, 1 + floor(extract(epoch from now() + ${ms('$3')} - ${from}) / extract(epoch from ${step})))::int`;
const soon = `now() + ${ms(String(leadMs))}`;
const free = `greatest(s.next_at, ${soon})`;

/** All lock in one order: by webhook. */
const drawText = `
  with fresh as materialized (
    select webhook_id, step, least(count, ${countFrom(soon, 'step')}) as drawn
      from (
        select t.webhook_id, t.count, ${stretch} * interval '1 second' / w.max_per_second as step
          from unnest($1::uuid[], $2::int[]) as t (webhook_id, count)
         cross join lateral (
           select max_per_second from webhooks
            where webhook_id = t.webhook_id and max_per_second is not null and deleted_at is null
              and shipper_id = coalesce($4, shipper_id) limit 1) w) limited
  ), s as (
    insert into webhook_starts as s (webhook_id, next_at, drawn, step)
    select webhook_id, ${soon} + drawn * step, drawn, step from fresh order by webhook_id
    on conflict (webhook_id) do update
       set next_at = ${free} + least(excluded.drawn, ${countFrom(free, 'excluded.step')}) * excluded.step,
           drawn = least(excluded.drawn, ${countFrom(free, 'excluded.step')}), step = excluded.step
    returning webhook_id, next_at, drawn, step
  )
  select webhook_id as "webhookId", drawn as count, extract(epoch from step)::float8 * 1000 as "stepMs",
         extract(epoch from next_at - drawn * step)::float8 * 1000 as "firstAtMs"
    from s`;
