import { describeError, ConfigError } from '../platform/errors.js';
import type { Logger } from '../platform/telemetry/logger.js';
import type { Database } from '../platform/database/postgres.js';
import type { OwnHeaders, Sealer, SecretBox } from '../engine/engine.js';

const webhooksPerStatement = 200;

interface Dependencies {
  db: Database;
  sealer: Sealer;
  logger: Logger;
}

/** Safe to interrupt and repeat. Returns how many were resealed, and how many neither key opens: those stay. */
export async function resealWebhooks(
  deps: Dependencies,
  prefix: string,
): Promise<{ resealed: number; unreadable: number }> {
  const result = { resealed: 0, unreadable: 0 };
  let afterId: string | null = null;
  for (;;) {
    const page: Sealed[] = await listSealedOtherwise(deps.db, prefix, afterId, webhooksPerStatement);
    const changes = page.flatMap((before) => {
      const after = reseal(deps, before);
      if (!after) result.unreadable += 1;
      return after ? [{ before, after }] : [];
    });
    if (changes.length > 0) result.resealed += await replaceSealed(deps.db, changes);
    const last = page.at(-1);
    if (!last) return result;
    afterId = last.webhookId;
  }
}

function reseal({ sealer, logger }: Dependencies, before: Sealed): Sealed | null {
  const { webhookId: id, secret, earlierSecrets, targetAddress, headers } = before;
  const resealSecret = (stored: string) => sealer.sealSecret(id, sealer.openSecret(id, stored));
  try {
    return {
      webhookId: id,
      secret: resealSecret(secret),
      earlierSecrets: earlierSecrets.map((earlier) => ({ ...earlier, secret: resealSecret(earlier.secret) })),
      targetAddress: sealer.sealAddress(id, sealer.openAddress(id, targetAddress)),
      headers: sealer.sealHeaders(id, sealer.openHeaders(id, headers)),
    };
  } catch (error) {
    logger.warn(
      { webhookId: id, error: describeError(error) },
      'webhook not resealed; it stays sealed as it is',
    );
    return null;
  }
}

interface Sealed {
  webhookId: string;
  secret: string;
  earlierSecrets: { secret: string; until: string }[];
  targetAddress: string;
  headers: OwnHeaders;
}

const query = `substr(target_address, strpos(target_address, '?') + 1)`;

/** Includes deleted webhooks. */
function listSealedOtherwise(db: Database, prefix: string, afterId: string | null, limit: number) {
  return db.query<Sealed>(
    'list-foreign-seals',
    `select webhook_id as "webhookId", secret, earlier_secrets as "earlierSecrets",
            target_address as "targetAddress", headers
       from webhooks
      where webhook_id > coalesce($2::uuid, uuid_floor('epoch'))
        and (not starts_with(secret, $1)
             or exists (select from jsonb_array_elements(earlier_secrets) e where not starts_with(e ->> 'secret', $1))
             or target_address like '%?%' and not starts_with(${query}, $1)
             or exists (select from jsonb_each_text(headers) h where not starts_with(h.value, $1)))
      order by webhook_id limit $3`,
    [prefix, afterId, limit],
  );
}

/** Skips webhooks that were changed meanwhile. Returns how many were replaced. */
async function replaceSealed(db: Database, changes: { before: Sealed; after: Sealed }[]): Promise<number> {
  const rows = await db.query(
    'replace-sealed',
    `update webhooks w
        set secret = c.after ->> 'secret', earlier_secrets = c.after -> 'earlierSecrets',
            target_address = c.after ->> 'targetAddress', headers = c.after -> 'headers', revision = w.revision + 1
       from unnest($1::uuid[], $2::jsonb[], $3::jsonb[]) as c (webhook_id, before, after)
      where w.webhook_id = c.webhook_id and w.secret = c.before ->> 'secret'
        and w.earlier_secrets = c.before -> 'earlierSecrets'
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

const where = { webhookId: '', field: 'key check' };
const value = 'sealed with SECRETS_KEY';

/** Throws ConfigError if neither key opens the sealed value. False if there is none yet. */
export async function requireKey(db: Database, secrets: SecretBox): Promise<boolean> {
  const sealed = await readCheck(db);
  if (sealed === null) return false;
  try {
    secrets.open(sealed, where);
  } catch {
    throw new ConfigError(
      'Neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS is the key that this database was sealed with. Nothing in it was changed. Set SECRETS_KEY to that key, or restore secrets.json in DATA_DIR if the embedded database runs without SECRETS_KEY. If the key is lost, see docs/runbook.md',
    );
  }
  return true;
}

/** The first of several concurrent starts decides. */
export async function sealKeyCheck(db: Database, secrets: SecretBox): Promise<void> {
  if (await requireKey(db, secrets)) return;
  await db.query('insert-key-check', 'insert into key_check (sealed) values ($1) on conflict do nothing', [
    secrets.seal(value, where),
  ]);
  await requireKey(db, secrets);
}

/** Call it when nothing needs the previous key any more. */
export async function resealKeyCheck(db: Database, secrets: SecretBox): Promise<void> {
  await db.query('reseal-key-check', 'update key_check set sealed = $2 where not starts_with(sealed, $1)', [
    secrets.prefix,
    secrets.seal(value, where),
  ]);
}

async function readCheck(db: Database): Promise<string | null> {
  const [table] = await db.query<{ exists: boolean }>(
    'find-key-check',
    `select coalesce(has_table_privilege(to_regclass('key_check'), 'select'), false) as "exists"`,
  );
  if (!table!.exists) return null;
  const [row] = await db.query<{ sealed: string }>('read-key-check', 'select sealed from key_check');
  return row?.sealed ?? null;
}
