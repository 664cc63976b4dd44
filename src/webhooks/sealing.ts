import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Database } from '../platform/database/postgres.js';
import { ConfigError, describeError } from '../platform/errors.js';
import type { Logger } from '../platform/telemetry/logger.js';

/** The owner of a sealed text; it opens nowhere else. Both secrets of a rotation are the field `secret`. */
export interface SealedField {
  /** Empty for a value that belongs to no webhook. */
  webhookId: string;
  field: string;
}

/** AES-256-GCM. A sealed text names its form and its key, so that both can change. */
export type SecretBox = ReturnType<typeof createSecretBox>;

/** A signing secret of Standard Webhooks: `whsec_` and 32 random bytes in Base64. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Another form would have another one. */
const sealedForm = '1:';

const algorithm = 'aes-256-gcm';
const authTagLength = 16;

interface Key {
  id: string;
  bytes: Buffer;
}

const deriveKey = (secretsKey: string): Key => {
  const bytes = createHash('sha256').update(secretsKey).digest();
  return { bytes, id: createHash('sha256').update(bytes).digest('hex').slice(0, 8) };
};

const boundTo = ({ webhookId, field }: SealedField) => Buffer.from(`${webhookId} ${field}`);

export function createSecretBox(secretsKey: string, otherKey?: string) {
  const current = deriveKey(secretsKey);
  const keys = [current, ...(otherKey === undefined ? [] : [deriveKey(otherKey)])];
  const prefix = `${sealedForm}${current.id}.`;

  return {
    /** Begins every text sealed with the current key. */
    prefix,
    seal: (text: string, where: SealedField) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv(algorithm, current.bytes, iv, { authTagLength });
      cipher.setAAD(boundTo(where));
      const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
      return prefix + [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url')).join('.');
    },
    /** Throws if the text was sealed with neither key, was changed, or belongs elsewhere. */
    open: (sealed: string, where: SealedField) => {
      const [form, ...parts] = sealed.split('.');
      const key = keys.find(({ id }) => form === sealedForm + id);
      const [iv, tag, text] = parts.map((part) => Buffer.from(part, 'base64url'));
      if (!key || !iv || !tag || !text) throw new Error('It was sealed with another SECRETS_KEY');
      const decipher = createDecipheriv(algorithm, key.bytes, iv, { authTagLength });
      decipher.setAAD(boundTo(where));
      decipher.setAuthTag(tag);
      return Buffer.concat([decipher.update(text), decipher.final()]).toString();
    },
  };
}

/** Shown instead of the value of a webhook's own header; sent back, it stands for the stored value. */
export const masked = '••••';

export type OwnHeaders = Record<string, string>;

const fields = {
  secret: () => 'secret',
  query: () => 'query',
  header: (name: string) => `header ${name.toLowerCase()}`,
};

/** Opening throws if no key fits. */
export type Sealer = ReturnType<typeof createSealer>;

export function createSealer({ seal, open }: Pick<SecretBox, 'seal' | 'open'>) {
  return {
    sealSecret: (webhookId: string, secret: string) => seal(secret, { webhookId, field: fields.secret() }),
    openSecret: (webhookId: string, stored: string) => open(stored, { webhookId, field: fields.secret() }),
    /** The address stays readable up to its query. */
    sealAddress: (webhookId: string, address: string) =>
      mapQuery(address, (query) => seal(query, { webhookId, field: fields.query() })),
    openAddress: (webhookId: string, stored: string) =>
      mapQuery(stored, (query) => open(query, { webhookId, field: fields.query() })),
    sealHeaders: (webhookId: string, headers: OwnHeaders) =>
      mapValues(headers, (value, name) => seal(value, { webhookId, field: fields.header(name) })),
    openHeaders: (webhookId: string, stored: OwnHeaders) =>
      mapValues(stored, (value, name) => open(value, { webhookId, field: fields.header(name) })),
  };
}

export const withoutQuery = (address: string): string => address.split('?', 1)[0]!;

export const withoutQuerySql = (column: string): string => `split_part(${column}, '?', 1)`;

export const maskHeaders = (headers: OwnHeaders): OwnHeaders => mapValues(headers, () => masked);

function mapQuery(address: string, change: (query: string) => string): string {
  const at = address.indexOf('?') + 1;
  return at === 0 ? address : address.slice(0, at) + change(address.slice(at));
}

const mapValues = (headers: OwnHeaders, change: (value: string, name: string) => string): OwnHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value, name)]));

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

/** Of several concurrent starts the first one decides. */
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
  const { webhookId: id, secret, previousSecret, targetAddress, headers } = before;
  const resealSecret = (stored: string) => sealer.sealSecret(id, sealer.openSecret(id, stored));
  try {
    return {
      webhookId: id,
      secret: resealSecret(secret),
      previousSecret: previousSecret === null ? null : resealSecret(previousSecret),
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
  previousSecret: string | null;
  targetAddress: string;
  headers: OwnHeaders;
}

const query = `substr(target_address, strpos(target_address, '?') + 1)`;

function listSealedOtherwise(db: Database, prefix: string, afterId: string | null, limit: number) {
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

/** Skips webhooks that were changed meanwhile. Returns how many were replaced. */
async function replaceSealed(db: Database, changes: { before: Sealed; after: Sealed }[]): Promise<number> {
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
