import { isActive, isCallable, owingWebhooks } from '../engine/engine.js';
import type { Database } from '../platform/database/postgres.js';

/** Each webhook read takes some 10 µs. */
const maxWebhooksRead = 10_000;

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
