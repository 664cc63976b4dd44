import type { Database } from '../platform/database/postgres.js';
import { notFound } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { audit, audited, type Actor } from './audit.js';
import { newAccountKey, sha256 } from './credentials.js';

export interface ShipperChanges {
  name?: string | undefined;
  status?: 'ACTIVE' | 'SUSPENDED' | undefined;
  /** Null: no limit of its own. */
  rateLimit?: number | null | undefined;
  maxConcurrency?: number | null | undefined;
}

export interface ShippersWebhooks {
  suspend(tx: Database, shipperId: string): Promise<void>;
  resume(tx: Database, shipperId: string): Promise<void>;
  remove(tx: Database, shipperId: string): Promise<void>;
}

/** The account key is returned only here. */
export function registerShipper(
  db: Database,
  actor: Actor,
  name: string,
  cell: string | undefined,
): Promise<{ shipperId: string; accountKey: string }> {
  const shipperId = newId();
  const accountKey = newAccountKey(cell);
  const work = async (tx: Database) => {
    await tx.query(
      'insert-shipper',
      'insert into shippers (shipper_id, name, account_key_hash) values ($1, $2, $3)',
      [shipperId, name, sha256(accountKey)],
    );
    return { shipperId, accountKey };
  };
  return audited(db, actor, work, () => ({ action: 'SHIPPER_CREATED', shipperId }));
}

const required = (shipper: Shipper | null): Shipper => {
  if (!shipper) throw notFound('This shipper');
  return shipper;
};

/** 404 if the shipper does not exist or is removed. */
export const updateShipper = (
  db: Database,
  webhooks: ShippersWebhooks,
  actor: Actor,
  shipperId: string,
  changes: ShipperChanges,
): Promise<{ shipper: Shipper; statusChanged: boolean }> =>
  db.transaction(async (tx) => {
    const before = required(await lockShipper(tx, shipperId));
    const shipper = await changeShipper(tx, shipperId, changes);
    const statusChanged = shipper.status !== before.status;
    if (shipper.name !== before.name)
      await audit(tx, actor, { action: 'SHIPPER_RENAMED', shipperId, fields: ['name'] });
    const limited = limitFields.filter((field) => shipper[field] !== before[field]);
    if (limited.length > 0) await audit(tx, actor, { action: 'SHIPPER_LIMITED', shipperId, fields: limited });
    if (statusChanged) {
      const suspends = shipper.status === 'SUSPENDED';
      await (suspends ? webhooks.suspend : webhooks.resume)(tx, shipperId);
      const action = suspends ? 'SHIPPER_SUSPENDED' : 'SHIPPER_RESUMED';
      await audit(tx, actor, { action, shipperId });
    }
    return { shipper, statusChanged };
  });

const limitFields = ['rateLimit', 'maxConcurrency'] as const;

/** A background task deletes the data. Does nothing for a removed shipper. 404 if there was never one. */
export const removeShipper = (
  db: Database,
  webhooks: ShippersWebhooks,
  actor: Actor,
  shipperId: string,
): Promise<void> =>
  db.transaction(async (tx) => {
    if (!(await lockShipper(tx, shipperId))) {
      if (await shipperExists(tx, shipperId)) return;
      throw notFound('This shipper');
    }
    await changeShipper(tx, shipperId, { status: 'REMOVED' });
    await webhooks.remove(tx, shipperId);
    await audit(tx, actor, { action: 'SHIPPER_REMOVED', shipperId });
  });

/** The previous key, and tokens issued under it, stay valid for `overlapMs`; an older one ends. */
export const rotateAccountKey = (
  db: Database,
  actor: Actor,
  shipperId: string,
  overlapMs: number,
  cell: string | undefined,
): Promise<{ accountKey: string; previousKeyValidUntil: Date }> =>
  db.transaction(async (tx) => {
    required(await lockShipper(tx, shipperId));
    const accountKey = newAccountKey(cell);
    const [row] = await tx.query<{ until: Date }>(
      'replace-account-key',
      `update shippers
          set previous_key_hash = account_key_hash, account_key_hash = $2,
              previous_key_until = now() + make_interval(secs => $3::float8 / 1000)
        where shipper_id = $1 returning previous_key_until as until`,
      [shipperId, sha256(accountKey), overlapMs],
    );
    await audit(tx, actor, { action: 'ACCOUNT_KEY_ROTATED', shipperId });
    return { accountKey, previousKeyValidUntil: row!.until };
  });

type ShipperStatus = 'ACTIVE' | 'SUSPENDED' | 'REMOVED';

export interface Shipper {
  shipperId: string;
  name: string;
  status: ShipperStatus;
  createdAt: Date;
  previousKeyValidUntil: Date | null;
  /** Requests per second, instead of API_RATE_LIMIT. */
  rateLimit: number | null;
  /** Attempts in flight in each worker. */
  maxConcurrency: number | null;
}

const columns = `shipper_id as "shipperId", name, status, created_at as "createdAt",
  case when previous_key_until > now() then previous_key_until end as "previousKeyValidUntil",
  rate_limit as "rateLimit", max_concurrency as "maxConcurrency"`;

export const listShippers = (
  db: Database,
  status: ShipperStatus | undefined,
  afterId: string | undefined,
  limit: number,
): Promise<Shipper[]> =>
  db.query<Shipper>(
    'list-shippers',
    `select ${columns} from shippers
      where shipper_id > coalesce($2::uuid, uuid_floor('epoch')) and ($1::text is null or status = $1)
      order by shipper_id limit $3`,
    [status ?? null, afterId ?? null, limit],
  );

export async function shipperExists(db: Database, shipperId: string): Promise<boolean> {
  const rows = await db.query('shipper-exists', 'select 1 from shippers where shipper_id = $1', [shipperId]);
  return rows.length > 0;
}

/** Locks the shipper until the transaction ends. Null if it does not exist or is removed. */
export async function lockShipper(tx: Database, shipperId: string): Promise<Shipper | null> {
  const rows = await tx.query<Shipper>(
    'lock-shipper-to-change',
    `select ${columns} from shippers where shipper_id = $1 and status <> 'REMOVED' for no key update`,
    [shipperId],
  );
  return rows[0] ?? null;
}

/** A removal also ends every token of the shipper. */
async function changeShipper(
  tx: Database,
  shipperId: string,
  changes: Omit<ShipperChanges, 'status'> & { status?: ShipperStatus | undefined },
): Promise<Shipper> {
  const [shipper] = await tx.query<Shipper>(
    'change-shipper',
    `update shippers
        set name = coalesce($2, name), status = coalesce($3, status),
            epoch = epoch + case when $3 = 'REMOVED' then 1 else 0 end,
            rate_limit = case when $4 then $5 else rate_limit end,
            max_concurrency = case when $6 then $7 else max_concurrency end
      where shipper_id = $1 returning ${columns}`,
    [
      shipperId,
      changes.name ?? null,
      changes.status ?? null,
      ...limitFields.flatMap((field) => [changes[field] !== undefined, changes[field] ?? null]),
    ],
  );
  return shipper!;
}

/** The limits of attempts in flight, by shipper id; only of shippers that have one. */
export async function readConcurrencyLimits(db: Database): Promise<Map<string, number>> {
  const rows = await db.query<{ shipperId: string; max: number }>(
    'read-concurrency-limits',
    'select shipper_id as "shipperId", max_concurrency as max from shippers where max_concurrency is not null',
  );
  return new Map(rows.map(({ shipperId, max }) => [shipperId, max]));
}

/** If it exists, it cannot be removed before the transaction ends. */
export async function holdShipper(tx: Database, shipperId: string): Promise<boolean> {
  const rows = await tx.query(
    'hold-shipper',
    `select 1 from shippers where shipper_id = $1 and status <> 'REMOVED' for share`,
    [shipperId],
  );
  return rows.length > 0;
}

export const keyMatches = (hash: string) =>
  `(account_key_hash = ${hash} or previous_key_hash = ${hash} and previous_key_until > now()) and status <> 'REMOVED'`;

/** The keys of shipper `s` that are valid now. */
export const keyColumns = `s.account_key_hash as key,
  case when s.previous_key_until > now() then s.previous_key_hash end as "previousKey"`;

export interface KeyColumns {
  key: Buffer;
  previousKey: Buffer | null;
}

/** One, or two after a rotation, in base64url. */
export const keyHashesOf = ({ key, previousKey }: KeyColumns): string[] =>
  [key, previousKey].flatMap((hash) => (hash ? [hash.toString('base64url')] : []));

export async function accountKeyExists(db: Database, accountKeyHash: Buffer): Promise<boolean> {
  const rows = await db.query('account-key-exists', `select 1 from shippers where ${keyMatches('$1')}`, [
    accountKeyHash,
  ]);
  return rows.length > 0;
}
