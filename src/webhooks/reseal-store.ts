import type { Database } from '../platform/postgres.js';

/** A webhook's secrets as they are stored. */
export interface SealedSecrets {
  webhookId: string;
  secret: string;
  previousSecret: string | null;
}

/** Webhooks after `afterId`, deleted ones too, with a secret that was not sealed with this key. */
export function listForeignSecrets(db: Database, keyId: string, afterId: string | null, limit: number) {
  return db.query<SealedSecrets>(
    'list-foreign-secrets',
    `select webhook_id as "webhookId", secret, previous_secret as "previousSecret" from webhooks
      where webhook_id > coalesce($2::uuid, uuid_floor('epoch'))
        and (split_part(secret, '.', 1) <> $1 or split_part(previous_secret, '.', 1) <> $1)
      order by webhook_id limit $3`,
    [keyId, afterId, limit],
  );
}

/** Puts resealed secrets in place, but not where they were rotated meanwhile. Answers how many webhooks. */
export async function replaceSecrets(
  db: Database,
  changes: { before: SealedSecrets; after: SealedSecrets }[],
): Promise<number> {
  const rows = await db.query(
    'replace-secrets',
    `update webhooks w set secret = c.secret, previous_secret = c.previous_secret, revision = w.revision + 1
       from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[])
         as c (webhook_id, old_secret, old_previous, secret, previous_secret)
      where w.webhook_id = c.webhook_id and w.secret = c.old_secret
        and w.previous_secret is not distinct from c.old_previous
     returning w.webhook_id`,
    [
      changes.map(({ before }) => before.webhookId),
      changes.map(({ before }) => before.secret),
      changes.map(({ before }) => before.previousSecret),
      changes.map(({ after }) => after.secret),
      changes.map(({ after }) => after.previousSecret),
    ],
  );
  return rows.length;
}
