import type { Database } from '../platform/database/postgres.js';
import { ConfigError } from '../platform/errors.js';
import type { SecretBox } from '../engine/engine.js';

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
