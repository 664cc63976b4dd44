import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { owedTo } from '../outbox/sql.js';

const firstKey = '00000000-0000-0000-0000-000000000000';
const webhooksPerStep = 500;
/** Longer than any statement that may still owe something to a webhook deleted meanwhile. */
const leastAge = '1 hour';

/**
 * Makes steps of a walk over the deleted webhooks. Each looks at some hundreds and purges those that nothing mentions any
 * more: neither outbox nor log, nor a replay, nor a count that is not folded yet. Resolves with whether the walk goes on; after its end the next step begins
 * another one.
 */
export function createPurge(db: Database, logger: Logger): () => Promise<boolean> {
  let after = firstKey;
  return async () => {
    const { last, looked, purged } = await purgeDeletedWebhooks(db, after, webhooksPerStep);
    if (purged > 0) logger.info({ webhooks: purged }, 'deleted webhooks purged');
    const goesOn = last !== null && looked === webhooksPerStep;
    after = goesOn ? last : firstKey;
    return goesOn;
  };
}

const mentions = [
  owedTo('p.webhook_id'),
  ...['deliveries', 'redeliveries', 'replays', 'attempt_counts'].map(
    (table) => `select 1 from ${table} where webhook_id = p.webhook_id`,
  ),
];

async function purgeDeletedWebhooks(db: Database, after: string, limit: number) {
  const [row] = await db.query<{ last: string | null; looked: number; purged: number }>(
    'purge-deleted-webhooks',
    `with page as materialized (
       select webhook_id from webhooks
        where deleted_at is not null and deleted_at < now() - interval '${leastAge}' and webhook_id > $1
        order by webhook_id limit $2
     ), unmentioned as materialized (
       select webhook_id from page p
        -- Each is a look by the table's index of webhooks, whatever the tables hold.
        where ${mentions.map((one) => `(${one} limit 1) is null`).join(' and ')}
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
