import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { owedTo } from '../outbox/sql.js';
import { createWalk } from '../../platform/walk.js';

const firstKey = '00000000-0000-0000-0000-000000000000';
const webhooksPerStep = 500;
/** Longer than any statement that may still owe something to a webhook deleted meanwhile. */
const leastAge = '1 hour';

/**
 * Returns a function that does the next step of a walk over the deleted webhooks. A step looks at a few hundred and
 * purges those that nothing refers to any more: no row of the outbox or the log, no replay, no count that is not folded
 * yet. A step that fails is retried with fewer, and a webhook that fails by itself is skipped. It resolves with whether
 * the walk goes on; after its end the next step begins another one.
 */
export function createPurge(db: Database, logger: Logger): () => Promise<boolean> {
  const walk = createWalk<string>(
    webhooksPerStep,
    (after) => findFirstDeleted(db, after ?? firstKey),
    (webhookId, error) =>
      logger.error(
        { webhookId, error: describeError(error) },
        'webhook not purged; the next walk tries again',
      ),
  );
  return async () => {
    const { next, purged } = await walk.page(async (after, limit) => {
      const done = await purgeDeletedWebhooks(db, after ?? firstKey, limit);
      return { next: done.looked === limit ? done.last : null, purged: done.purged };
    });
    if (purged > 0) logger.info({ webhooks: purged }, 'deleted webhooks purged');
    return next !== null;
  };
}

const isOldEnough = `deleted_at is not null and deleted_at < now() - interval '${leastAge}'`;

async function findFirstDeleted(db: Database, after: string): Promise<string | null> {
  const rows = await db.query<{ webhookId: string }>(
    'find-first-deleted',
    `select webhook_id as "webhookId" from webhooks where ${isOldEnough} and webhook_id > $1 order by webhook_id limit 1`,
    [after],
  );
  return rows[0]?.webhookId ?? null;
}

const mentions = [
  owedTo('p.webhook_id'),
  ...['deliveries', 'redeliveries', 'replays', 'attempt_counts'].map(
    (table) => `select 1 from ${table} where webhook_id = p.webhook_id`,
  ),
];
/** A look by the table's index of webhooks for each of the page, whatever the tables hold. */
const isMentionedNowhere = mentions.map((mention) => `(${mention} limit 1) is null`).join(' and ');

async function purgeDeletedWebhooks(db: Database, after: string, limit: number) {
  const [row] = await db.query<{ last: string | null; looked: number; purged: number }>(
    'purge-deleted-webhooks',
    `with page as materialized (
       select webhook_id from webhooks
        where ${isOldEnough} and webhook_id > $1
        order by webhook_id limit $2
     ), unmentioned as materialized (
       select webhook_id from page p
        where ${isMentionedNowhere}
     ), gone as (
       delete from webhooks w using unmentioned u where w.webhook_id = u.webhook_id returning w.webhook_id
     ), forgotten as (
       delete from circuits c using unmentioned u where c.webhook_id = u.webhook_id
     ), uncounted as (
       delete from webhook_hours h using unmentioned u where h.webhook_id = any(array[u.webhook_id])
     )
     select (select webhook_id from page order by webhook_id desc limit 1) as last,
            (select count(*)::int from page) as looked, (select count(*)::int from gone) as purged`,
    [after, limit],
  );
  return row!;
}
