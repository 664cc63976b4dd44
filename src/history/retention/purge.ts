import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { owedTo } from '../../engine/engine.js';
import { createWalk } from '../../platform/walk.js';

const firstKey = '00000000-0000-0000-0000-000000000000';
const webhooksPerStep = 500;
/** Longer than any statement that may still insert deliveries for a webhook deleted meanwhile. */
const minAge = '1 hour';

/**
 * The function purges the deleted webhooks of a few hundred without rows in the outbox, the log, replays or unfolded
 * counts. A failed step is retried with fewer webhooks, and one that fails alone is skipped. It resolves with whether
 * the walk goes on; after its end the next step begins another one.
 */
export function createPurge(db: Database, logger: Logger): () => Promise<boolean> {
  const walk = createWalk<string>(
    webhooksPerStep,
    (after) => findFirstDeleted(db, after ?? firstKey),
    (webhookId, error) =>
      logger.error({ webhookId, error: describeError(error) }, 'webhook not purged; the next walk retries'),
  );
  return async () => {
    const { next, purged } = await walk.page(async (after, limit) => {
      const done = await purgeDeletedWebhooks(db, after ?? firstKey, limit);
      return { next: done.checked === limit ? done.last : null, purged: done.purged };
    });
    if (purged > 0) logger.info({ webhooks: purged }, 'deleted webhooks purged');
    return next !== null;
  };
}

const isOldEnough = `deleted_at is not null and deleted_at < now() - interval '${minAge}'`;

async function findFirstDeleted(db: Database, after: string): Promise<string | null> {
  const rows = await db.query<{ webhookId: string }>(
    'find-first-deleted',
    `select webhook_id as "webhookId" from webhooks where ${isOldEnough} and webhook_id > $1 order by webhook_id limit 1`,
    [after],
  );
  return rows[0]?.webhookId ?? null;
}

const references = [
  owedTo('p.webhook_id'),
  ...['deliveries', 'redeliveries', 'replays', 'attempt_counts'].map(
    (table) => `select 1 from ${table} where webhook_id = p.webhook_id`,
  ),
];
/** Index reads, one per table and webhook, whatever the size of the tables. */
const isUnreferenced = references.map((reference) => `(${reference} limit 1) is null`).join(' and ');

async function purgeDeletedWebhooks(db: Database, after: string, limit: number) {
  const [row] = await db.query<{ last: string | null; checked: number; purged: number }>(
    'purge-deleted-webhooks',
    `with page as materialized (
       select webhook_id from webhooks
        where ${isOldEnough} and webhook_id > $1
        order by webhook_id limit $2
     ), unreferenced as materialized (
       select webhook_id from page p
        where ${isUnreferenced}
     ), purged as (
       delete from webhooks w using unreferenced u where w.webhook_id = u.webhook_id returning w.webhook_id
     ), purged_circuits as (
       delete from circuits c using unreferenced u where c.webhook_id = u.webhook_id
     ), purged_hours as (
       delete from webhook_hours h using unreferenced u where h.webhook_id = any(array[u.webhook_id])
     ), purged_exhausted as (
       delete from exhausted_deliveries e using unreferenced u where e.webhook_id = any(array[u.webhook_id])
     ), purged_starts as (
       delete from webhook_starts s using unreferenced u where s.webhook_id = any(array[u.webhook_id])
     )
     select (select webhook_id from page order by webhook_id desc limit 1) as last,
            (select count(*)::int from page) as checked, (select count(*)::int from purged) as purged`,
    [after, limit],
  );
  return row!;
}
