import { isActive, isCallable, isWithdrawn, ms, owingWebhooks, type HeldBack } from '../engine/engine.js';
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
/** Each takes some 10 µs where it is only counted. */
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
 * Not sendable is what waits for the pace of its host or receiver (`paced_until`), belongs to a shipper whose attempts an operator
 * limits, or is due to a receiver that has as many attempts as it may. Only the process that makes them knows
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
                  shipper_id, called_since, coalesce(c.failing, false) as failing, paced_until > now()
                    or exists (select from shippers s where s.shipper_id = webhooks.shipper_id and s.max_concurrency is not null)
                    or max_per_second is not null as paced
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

/** The webhooks of a shipper that are not called, and what they are owed: a lower bound. */
export interface Uncalled {
  shipperId: string;
  name: string;
  webhooks: number;
  deliveries: number;
  isMore: boolean;
}

/**
 * The largest backlog comes first. Reads at most `maxWebhooks` webhooks and counts at most `limit` deliveries, the same
 * maximum for each webhook, so that a long backlog hides no other.
 */
export const readUncalled = (
  db: Database,
  limit: number,
  maxWebhooks = maxWebhooksRead,
): Promise<Uncalled[]> =>
  db.query<Uncalled>(
    'read-uncalled',
    `with recursive ${owingWebhooks('$2')}, uncalled as materialized (
       select o.webhook_id, w.shipper_id
         from owing o cross join lateral (
           select shipper_id from webhooks
            where webhook_id = o.webhook_id and deleted_at is null and not ${isCallable('webhooks')} limit 1) w
     ), share as materialized (
       select $1 / greatest(count(*), 1) as most from uncalled
     ), counted as materialized (
       select u.shipper_id, least(c.owed, share.most) as owed, c.owed > share.most as is_more
         from share cross join uncalled u cross join lateral (
           select count(*) as owed
             from (select from outbox where webhook_id = u.webhook_id
                    order by webhook_id, shipment_id, sequence limit share.most + 1) o) c
     )
     select c.shipper_id as "shipperId", s.name, count(*)::int as webhooks, sum(c.owed)::int as deliveries,
            bool_or(c.is_more) as "isMore"
       from counted c join shippers s using (shipper_id)
      group by c.shipper_id, s.name order by sum(c.owed) desc, c.shipper_id`,
    [limit, maxWebhooks],
  );

const openCircuits = `circuits c join webhooks w using (webhook_id)
      where c.open_until is not null and ${isActive('w')}`;

export async function countOpenCircuits(db: Database): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'count-circuits-open',
    `select count(*)::int as count from ${openCircuits}`,
  );
  return row!.count;
}

export interface OpenCircuit {
  webhookId: string;
  shipperId: string;
  /** Null if an attempt that was under way when the circuit opened has succeeded. */
  failingSince: Date | null;
  nextProbeAt: Date;
}

export const listOpenCircuits = (db: Database, limit: number): Promise<OpenCircuit[]> =>
  db.query<OpenCircuit>(
    'list-circuits-open',
    `select c.webhook_id as "webhookId", w.shipper_id as "shipperId", c.failing_since as "failingSince",
            c.open_until as "nextProbeAt"
       from ${openCircuits}
      order by c.failing_since desc nulls first, c.webhook_id limit $1`,
    [limit],
  );

/** A lower bound if `isMore`. */
export interface Owed {
  webhookId: string;
  owed: number;
  isMore: boolean;
  /** When the oldest of them was due. */
  since: Date;
}

const byCount = 'order by owed desc, "isMore" desc, since, "webhookId"';
const owedOf = (webhook: string, most: string) => `
  select ${webhook}.webhook_id as "webhookId", least(c.owed, ${most})::int as owed, c.owed > ${most} as "isMore", s.since
    from (select count(*) as owed
            from (select from outbox where webhook_id = ${webhook}.webhook_id
                   order by webhook_id, shipment_id, sequence limit ${most} + 1) o) c
   cross join lateral (
     select due_at as since from outbox where webhook_id = ${webhook}.webhook_id and due_at is not null
      order by webhook_id, due_at limit 1) s`;

/**
 * The first `leaders` of the next `maxWebhooks` webhooks after `afterId` that are owed something, most owed first; each
 * is counted up to `most`. `lastId` is where the next page continues; null if there is none.
 */
export async function listMostOwed(
  db: Database,
  afterId: string,
  { most, leaders, maxWebhooks }: { most: number; leaders: number; maxWebhooks: number },
): Promise<{ webhooks: Owed[]; lastId: string | null }> {
  const [row] = await db.query<{
    webhooks: (Omit<Owed, 'since'> & { since: string })[];
    lastId: string | null;
  }>(
    'list-most-owed',
    `with recursive ${owingWebhooks('$2', '$1')}, counted as materialized (
       select c.* from owing o
        cross join lateral (select 1 from webhooks where webhook_id = o.webhook_id and deleted_at is null limit 1) w
        cross join lateral (${owedOf('o', '$3::int')}) c
        ${byCount} limit $4
     )
     select coalesce((select json_agg(c) from counted c), '[]') as webhooks,
            (select webhook_id from owing where place = $2::int) as "lastId"`,
    [afterId, maxWebhooks, most, leaders],
  );
  return {
    webhooks: row!.webhooks.map((webhook) => ({ ...webhook, since: new Date(webhook.since) })),
    lastId: row!.lastId,
  };
}

/** Most owed first; each is counted up to `most`. Webhooks that are owed nothing are left out. */
export const countOwed = (db: Database, webhookIds: string[], most: number): Promise<Owed[]> =>
  db.query<Owed>(
    'count-owed',
    `select c.* from unnest($1::uuid[]) as g (webhook_id)
      cross join lateral (${owedOf('g', '$2::int')}) c ${byCount}`,
    [webhookIds, most],
  );
