import { isWithdrawn, ms, owingWebhooks, type HeldBack } from '../engine/engine.js';
import type { Database } from '../platform/database/postgres.js';

const heldCauses = ['suspended', 'paused', 'disabled', 'circuit'] as const;
type WaitCause = (typeof heldCauses)[number] | 'turn' | 'retry' | 'receiver';
type UnservedCause = (typeof heldCauses)[number] | 'slow' | 'failing';

/** Owed deliveries: those that wait for this service (`sendable`), and those that wait for others (`waiting`). */
export interface Backlog {
  sendable: number;
  /** How long the oldest has been sendable; 0 if there is none. */
  oldestSendableSeconds: number;
  /** Deliveries due to webhooks that are called, sendable or not, except those that are being sent. */
  due: number;
  /** How long the oldest of them has been due; 0 if there is none. */
  oldestDueSeconds: number;
  /** Deliveries that are being sent. */
  sending: number;
  /** Time since the earliest expired lease that is not taken up; 0 if there is none. */
  oldestLapsedSeconds: number;
  /** Deliveries that wait for what is not ours; each has one cause. */
  waiting: Record<WaitCause, number>;
  /** Webhooks that are owed something and not served now; each has one cause. */
  unserved: Record<UnservedCause, number>;
  /** Webhooks with something due whose receiver was full, and when it was last seen so. */
  full: Record<string, number>;
  /** When the figures were read (epoch). All times here are by PostgreSQL's clock. */
  readAtMs: number;
}

export interface BacklogOptions {
  /** Number of valid claims from which a webhook's receiver counts as full. */
  fullFrom: number;
  /** A shipper with so many attempts, as many as it may have at slow receivers, is full: so are all of its webhooks. */
  shipperFullFrom: number;
  last: Pick<Backlog, 'full' | 'readAtMs'>;
  /** The reading process's own claims, by webhook. */
  heldBack?: Record<string, HeldBack>;
  /** Deliveries counted in all; the same maximum for each webhook, more than `fullFrom`. */
  limit?: number;
  maxWebhooks?: number;
}

const counted = 50_000;
const maxWebhooksRead = 10_000;

/** Counts deliveries of the webhook in row `l`, up to `share.most`. */
const countOf = (condition: string) => `
  select count(*) as count from (select 1 from outbox where webhook_id = l.webhook_id and ${condition} limit share.most) x`;

const isClaimed = `status = 'SENDING' and lease_until > now()`;
const dueRows = `from outbox where webhook_id = l.webhook_id and due_at <= now() and not ${isWithdrawn('outbox')}`;

const sumOf = (expression: string, condition: string) =>
  `coalesce(sum(${expression}) filter (where ${condition}), 0)::int`;

const sumsByHold = (expression: string, condition = 'true') =>
  heldCauses
    .map((cause) => `'${cause}', ${sumOf(expression, `held = '${cause}' and ${condition}`)}`)
    .join(', ');

/**
 * Reads the backlog webhook by webhook: at most `maxWebhooks` that are owed something, some 20 to 60 µs each.
 *
 * Sendable is what a worker could send now: due, its webhook called, and not claimed, or claimed under a lease that ran
 * out. It has been sendable since it was due, or since its webhook was called again (`called_since`), if that is later.
 *
 * Not sendable is what waits for the pace of its host (`paced_until`), or is due to a receiver that has as many attempts as it may. Only the process that makes them knows
 * that: what it holds back (`heldBack`) is sendable, and so is what waits behind it, however many claims there are. Of
 * the other webhooks PostgreSQL knows the claims: a receiver is taken to be full if it has `fullFrom` valid ones, half of
 * a slow lane's limit, or its shipper `shipperFullFrom`. Where the longest due are claims, what is due behind them is
 * read, too. A read may fall between the end of an attempt and the next; so a receiver that has been full since the last
 * read (`last`) is full at this one, too, and what waited for it has been sendable since then at most. A dead worker's
 * claims are valid for as long as its leases.
 */
export async function readBacklog(
  db: Database,
  {
    fullFrom,
    shipperFullFrom,
    last,
    heldBack = {},
    limit = counted,
    maxWebhooks = maxWebhooksRead,
  }: BacklogOptions,
): Promise<Backlog> {
  const [backlog] = await db.query<Backlog>(
    'read-backlog',
    `with recursive ${owingWebhooks('$5')}, looked as materialized (
       select o.webhook_id, w.*, ($3::jsonb -> o.webhook_id::text)::float8 as full_ms, $6::jsonb -> o.webhook_id::text as ours
         from owing o cross join lateral (
           select case when suspended then 'suspended' when status = 'PAUSED' then 'paused'
                       when status <> 'ACTIVE' then 'disabled' when c.open then 'circuit' end as held,
                  shipper_id, called_since, coalesce(c.failing, false) as failing, paced_until > now() as paced
             from webhooks
             left join lateral (
               select open_until is not null as open, failing_since is not null as failing
                 from circuits where webhook_id = webhooks.webhook_id limit 1) c on true
            where webhook_id = o.webhook_id and deleted_at is null limit 1) w
     ), share as materialized (
       select greatest($1 / greatest(count(*), 1), $2 + 1) as most from looked
     ), counted as materialized (
       select l.*, front.sending, front.lapsed_at, d.due, d.since, turn.count as turn, retry.count as retry,
              sum(front.sending) filter (where l.held is null) over (partition by l.shipper_id) as of_shipper
         from share cross join looked l
        cross join lateral (
          select count(*) filter (where sending) as sending, count(*) filter (where not sending) as due,
                 min(due_at) filter (where not sending) as since,
                 min(lease_until) filter (where not sending) as lapsed_at
            from (select ${isClaimed} as sending, due_at, lease_until ${dueRows} order by due_at limit share.most) x) front
        cross join lateral (
          select front.due, front.since where front.sending = 0
          union all
          select count(*), min(due_at)
            from (select due_at ${dueRows} and not (${isClaimed}) and front.sending > 0 order by due_at limit share.most) x
          having front.sending > 0) d
        cross join lateral (${countOf('waits_turn')}) turn
        cross join lateral (${countOf(`due_at > now() and status <> 'SENDING'`)}) retry
     ), figures as materialized (
       select c.held, c.failing, c.webhook_id, c.due, c.since, c.sending, c.lapsed_at, c.turn, c.retry, f.full_ms,
              coalesce((c.ours ->> 'count')::int, 0) as held_back, coalesce(f.full_ms >= $4::float8, false) as is_full,
              extract(epoch from now() - greatest(
                least(c.since, now() - ${ms(`(c.ours ->> 'sendableForMs')::float8`)}), c.called_since,
                to_timestamp(f.full_ms / 1000))) as seconds
         from counted c
        cross join lateral (
          select case when c.paced then t.now_ms
                      when c.ours is not null then greatest(c.full_ms, t.now_ms - (c.ours ->> 'freeForMs')::float8)
                      when c.sending >= $2::int or c.of_shipper >= $7::int then t.now_ms else c.full_ms end as full_ms
            from (select extract(epoch from now())::float8 * 1000 as now_ms) t) f
     )
     select extract(epoch from now())::float8 * 1000 as "readAtMs",
            ${sumOf('due + held_back', 'held is null and not is_full')} as sendable,
            coalesce(max(greatest(0, seconds)) filter (where held is null and not is_full and due + held_back > 0), 0)::float8
              as "oldestSendableSeconds",
            ${sumOf('due', 'held is null')} as due,
            coalesce(extract(epoch from now() - min(since) filter (where held is null)), 0)::float8 as "oldestDueSeconds",
            ${sumOf('sending', 'true')} as sending,
            coalesce(extract(epoch from now() - min(lapsed_at)), 0)::float8 as "oldestLapsedSeconds",
            json_build_object(
              ${sumsByHold('due + turn + retry')},
              'turn', ${sumOf('turn', 'held is null')}, 'retry', ${sumOf('retry', 'held is null')},
              'receiver', ${sumOf('due', 'held is null and is_full')}) as waiting,
            json_build_object(
              ${sumsByHold('1', 'due > 0')},
              'slow', ${sumOf('1', 'held is null and is_full and due > 0')},
              'failing', ${sumOf('1', 'held is null and failing and not (is_full and due > 0)')}) as unserved,
            coalesce(json_object_agg(webhook_id, full_ms) filter (where held is null and due > 0 and full_ms is not null), '{}')
              as full
       from figures`,
    [
      limit,
      fullFrom,
      JSON.stringify(last.full),
      last.readAtMs,
      maxWebhooks,
      JSON.stringify(heldBack),
      shipperFullFrom,
    ],
  );
  return backlog!;
}
