import type { Database } from '../../platform/database/postgres.js';
import type { OwnHeaders } from './at-rest.js';

/** What a webhook keeps sealed, as it is stored. */
export interface Sealed {
  webhookId: string;
  secret: string;
  previousSecret: string | null;
  targetAddress: string;
  headers: OwnHeaders;
}

const query = `substr(target_address, strpos(target_address, '?') + 1)`;

/** Webhooks after `afterId`, deleted ones too, of which something is not sealed with this prefix. */
export function listForeign(db: Database, prefix: string, afterId: string | null, limit: number) {
  return db.query<Sealed>(
    'list-foreign-seals',
    `select webhook_id as "webhookId", secret, previous_secret as "previousSecret",
            target_address as "targetAddress", headers
       from webhooks
      where webhook_id > coalesce($2::uuid, uuid_floor('epoch'))
        and (not starts_with(secret, $1) or not starts_with(previous_secret, $1)
             or target_address like '%?%' and not starts_with(${query}, $1)
             or exists (select from jsonb_each_text(headers) h where not starts_with(h.value, $1)))
      order by webhook_id limit $3`,
    [prefix, afterId, limit],
  );
}

/** Puts what was sealed anew in place, but not where it was changed meanwhile. Answers how many webhooks. */
export async function replaceSealed(
  db: Database,
  changes: { before: Sealed; after: Sealed }[],
): Promise<number> {
  const rows = await db.query(
    'replace-sealed',
    `update webhooks w
        set secret = c.after ->> 'secret', previous_secret = c.after ->> 'previousSecret',
            target_address = c.after ->> 'targetAddress', headers = c.after -> 'headers', revision = w.revision + 1
       from unnest($1::uuid[], $2::jsonb[], $3::jsonb[]) as c (webhook_id, before, after)
      where w.webhook_id = c.webhook_id and w.secret = c.before ->> 'secret'
        and w.previous_secret is not distinct from c.before ->> 'previousSecret'
        and w.target_address = c.before ->> 'targetAddress' and w.headers = c.before -> 'headers'
     returning w.webhook_id`,
    [
      changes.map(({ before }) => before.webhookId),
      changes.map(({ before }) => JSON.stringify(before)),
      changes.map(({ after }) => JSON.stringify(after)),
    ],
  );
  return rows.length;
}
