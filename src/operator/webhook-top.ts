import * as z from 'zod';
import { countOwed, listMostOwed, type Owed } from '../observe/owed.js';
import { listFailing, listSlow, readHours, type HourRow } from '../history/stats/store.js';
import { isoOffset, operatorRoute, type Route } from '../http/route.js';
import { described, idInPath, instantOrNull, uuid } from '../http/request/fields.js';
import { isUuid, paging } from '../http/request/paging.js';
import type { Database } from '../platform/database/postgres.js';
import { withoutQuerySql } from '../engine/engine.js';
import { webhook } from '../webhooks/responses.js';
import { listWebhookIds } from '../webhooks/store.js';
import { lowestId } from '../platform/ids.js';

const sorts = ['failing', 'backlog', 'slow'] as const;
type Sort = (typeof sorts)[number];

const topWebhook = z
  .object({
    webhookId: uuid('The webhook.'),
    shipperId: uuid('Its shipper.'),
    shipperName: described(z.string(), 'The name of its shipper.', 'Acme'),
    name: webhook.shape.name,
    targetAddress: described(
      z.string(),
      'Where notifications are sent, without the query.',
      'https://example.com/hooks/parcelhook',
      { format: 'uri' },
    ),
    status: described(z.enum(['ACTIVE', 'PAUSED', 'DISABLED']), 'Its status.', 'ACTIVE'),
    circuit: described(
      z.enum(['CLOSED', 'OPEN']),
      '`OPEN`: it failed too often, and is only probed.',
      'OPEN',
    ),
    heldBy: described(
      z.enum(['CIRCUIT', 'PAUSED', 'DISABLED', 'SUSPENDED']).nullable(),
      'Why it is not called; null if it is.',
      'CIRCUIT',
    ),
    failingSince: instantOrNull('Its first failure since its last success; null if there is none.'),
    pendingCount: described(z.int().min(0), 'Deliveries owed to it.', 120),
    isMore: described(z.boolean(), 'Whether it is owed more than were counted.', false),
    failureRate: described(
      z.number().min(0).max(1).nullable(),
      'Share of failed attempts in the current hour and the one before it; null without any.',
      1,
    ),
    p95Ms: described(
      z.int().min(0).nullable(),
      'What 95 % of the attempts did not exceed, in the current hour or the one before it, whichever had more; null without any.',
      15_000,
    ),
  })
  .meta({ id: 'TopWebhook', description: 'A webhook that may need attention.' });

const topList = z
  .object({ webhooks: z.array(topWebhook) })
  .meta({ description: 'The webhooks of all shippers that lead by `sort`.' });

type TopWebhook = DescribedWebhook &
  Pick<Owed, 'isMore'> & { pendingCount: number; failureRate: number | null; p95Ms: number | null };

const countedMax = 200_000;
const walk = { maxWebhooks: 10_000, most: 20, leaders: 1_000 };
const maxWalked = 10;

/**
 * Counting a backlog costs as much as it is long. So every webhook is counted a little way, the leaders further, and
 * only the best of them as far as `countedMax` goes. Among those that are counted to the end, the one whose oldest
 * delivery has been due longest leads.
 */
async function listBacklogs(db: Database, limit: number): Promise<string[]> {
  let leaders: Owed[] = [];
  let afterId: string | null = lowestId;
  for (let walked = 0; walked < maxWalked && afterId !== null; walked += 1) {
    const page: Awaited<ReturnType<typeof listMostOwed>> = await listMostOwed(db, afterId, walk);
    leaders = [...leaders, ...page.webhooks].sort(byCount).slice(0, walk.leaders);
    afterId = page.lastId;
  }
  for (const kept of [Math.max(limit, 100), limit])
    if (leaders.length > kept) leaders = (await count(db, idsOf(leaders))).slice(0, kept);
  return idsOf(leaders);
}

const byCount = (a: Owed, b: Owed) =>
  b.owed - a.owed || Number(b.isMore) - Number(a.isMore) || a.since.getTime() - b.since.getTime();

const idsOf = (webhooks: { webhookId: string }[]) => webhooks.map(({ webhookId }) => webhookId);

const count = (db: Database, webhookIds: string[]) =>
  countOwed(db, webhookIds, Math.floor(countedMax / Math.max(webhookIds.length, 1)));

const lists: Record<Sort, (db: Database, limit: number) => Promise<string[]>> = {
  failing: listFailing,
  backlog: listBacklogs,
  slow: listSlow,
};

async function findTop(db: Database, sort: Sort, limit: number, shipperId?: string): Promise<TopWebhook[]> {
  const webhookIds =
    shipperId === undefined
      ? await lists[sort](db, limit)
      : (await listWebhookIds(db, shipperId)).slice(0, limit);
  const owed = new Map((await count(db, webhookIds)).map((row) => [row.webhookId, row]));
  const hours = await readHours(db, webhookIds, 2);
  const webhooks = await describeWebhooks(db, webhookIds);
  return webhooks
    .map((webhook) => ({
      ...webhook,
      pendingCount: owed.get(webhook.webhookId)?.owed ?? 0,
      isMore: owed.get(webhook.webhookId)?.isMore ?? false,
      ...recentOf(hours.filter(({ webhookId }) => webhookId === webhook.webhookId)),
    }))
    .sort(orders[sort]);
}

function recentOf(hours: HourRow[]): { failureRate: number | null; p95Ms: number | null } {
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  const attempts = hours.reduce((sum, hour) => sum + hour.succeeded + hour.failed, 0);
  const timed = hours
    .filter(({ p95Ms }) => p95Ms !== null)
    .sort((a, b) => a.succeeded + a.failed - (b.succeeded + b.failed));
  return { failureRate: attempts === 0 ? null : failed / attempts, p95Ms: timed.at(-1)?.p95Ms ?? null };
}

const time = (moment: Date | null) => moment?.getTime() ?? Infinity;

/** A webhook without recent attempts is listed as failing because nothing has succeeded since. */
const orders: Record<Sort, (a: TopWebhook, b: TopWebhook) => number> = {
  failing: (a, b) =>
    (b.failureRate ?? 1) - (a.failureRate ?? 1) ||
    Math.sign(time(a.failingSince) - time(b.failingSince)) ||
    b.pendingCount - a.pendingCount,
  backlog: (a, b) => b.pendingCount - a.pendingCount || Number(b.isMore) - Number(a.isMore),
  slow: (a, b) => (b.p95Ms ?? 0) - (a.p95Ms ?? 0),
};

export const webhookTopRoute = (db: Database): Route =>
  operatorRoute({
    method: 'get',
    path: '/operator/v1/webhooks',
    summary: 'List the webhooks that fail, are owed the most, or are slow',
    operationId: 'listTopWebhooks',
    description:
      '`failing`: active webhooks with the highest share of failed attempts, then those that have been failing the longest. `backlog`: those that are owed the most. `slow`: those with the highest p95. There are no further pages. The ranks by attempts are up to a minute old. A backlog is counted as far as `isMore` says.',
    responses: { 200: topList },
    query: z.object({
      limit: paging.limit,
      sort: described(z.enum(sorts), 'What leads.', 'failing')
        .default('failing')
        .meta({ default: 'failing' }),
      shipperId: idInPath('All webhooks of this shipper instead, as far as `limit` goes.')
        .refine(isUuid, 'must be a UUID')
        .optional(),
    }),
    handle: async ({ query: { sort, limit, shipperId } }) => ({
      data: {
        webhooks: (await findTop(db, sort, limit, shipperId)).map((webhook) => ({
          ...webhook,
          failingSince: isoOffset(webhook.failingSince),
        })),
      },
    }),
  });

interface DescribedWebhook {
  webhookId: string;
  shipperId: string;
  shipperName: string;
  name: string | null;
  targetAddress: string;
  status: string;
  circuit: 'OPEN' | 'CLOSED';
  heldBy: string | null;
  failingSince: Date | null;
}

const describeWebhooks = (db: Database, webhookIds: string[]): Promise<DescribedWebhook[]> =>
  db.query<DescribedWebhook>(
    'describe-webhooks',
    `select g.webhook_id as "webhookId", w.shipper_id as "shipperId", s.name as "shipperName", w.name,
            ${withoutQuerySql('w.target_address')} as "targetAddress", w.status,
            case when c.open_until is null then 'CLOSED' else 'OPEN' end as circuit,
            case when w.suspended then 'SUSPENDED' when w.status <> 'ACTIVE' then w.status
                 when c.open_until is not null then 'CIRCUIT' end as "heldBy",
            c.failing_since as "failingSince"
       from unnest($1::uuid[]) with ordinality as g (webhook_id, place)
      cross join lateral (
        select shipper_id, name, target_address, status, suspended from webhooks
         where webhook_id = g.webhook_id and deleted_at is null limit 1) w
      cross join lateral (select name from shippers where shipper_id = w.shipper_id limit 1) s
       left join lateral (
         select open_until, failing_since from circuits where webhook_id = g.webhook_id limit 1) c on true
      order by g.place`,
    [webhookIds],
  );
