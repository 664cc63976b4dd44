import type { Database } from '../platform/database/postgres.js';

export type ShipperStatus = 'ACTIVE' | 'SUSPENDED' | 'REMOVED';

export interface Shipper {
  shipperId: string;
  name: string;
  status: ShipperStatus;
  createdAt: Date;
  /** Null unless a rotated account key is still valid. */
  previousKeyValidUntil: Date | null;
}

const columns = `shipper_id as "shipperId", name, status, created_at as "createdAt",
  case when previous_key_until > now() then previous_key_until end as "previousKeyValidUntil"`;

/** Lists them in order of registration. */
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

/** Removed ones included. */
export async function shipperExists(db: Database, shipperId: string): Promise<boolean> {
  const rows = await db.query('shipper-exists', 'select 1 from shippers where shipper_id = $1', [shipperId]);
  return rows.length > 0;
}

/** The lock lasts until the transaction ends. Null if it does not exist or is removed. */
export async function lockShipper(tx: Database, shipperId: string): Promise<Shipper | null> {
  const rows = await tx.query<Shipper>(
    'lock-shipper-to-change',
    `select ${columns} from shippers where shipper_id = $1 and status <> 'REMOVED' for no key update`,
    [shipperId],
  );
  return rows[0] ?? null;
}

/** A removal also ends every token of the shipper. */
export async function changeShipper(
  tx: Database,
  shipperId: string,
  changes: { name?: string | undefined; status?: ShipperStatus | undefined },
): Promise<Shipper> {
  const [shipper] = await tx.query<Shipper>(
    'change-shipper',
    `update shippers
        set name = coalesce($2, name), status = coalesce($3, status),
            epoch = epoch + case when $3 = 'REMOVED' then 1 else 0 end
      where shipper_id = $1 returning ${columns}`,
    [shipperId, changes.name ?? null, changes.status ?? null],
  );
  return shipper!;
}

/** The previous key stays valid for `overlapMs`, an older one ends. Returns when the previous key ends. */
export async function replaceAccountKey(
  tx: Database,
  shipperId: string,
  accountKeyHash: Buffer,
  overlapMs: number,
): Promise<Date> {
  const [row] = await tx.query<{ until: Date }>(
    'replace-account-key',
    `update shippers
        set previous_key_hash = account_key_hash, account_key_hash = $2,
            previous_key_until = now() + make_interval(secs => $3::float8 / 1000)
      where shipper_id = $1 returning previous_key_until as until`,
    [shipperId, accountKeyHash, overlapMs],
  );
  return row!.until;
}

export async function insertShipper(
  db: Database,
  shipper: { shipperId: string; name: string; accountKeyHash: Buffer },
): Promise<void> {
  await db.query(
    'insert-shipper',
    'insert into shippers (shipper_id, name, account_key_hash) values ($1, $2, $3)',
    [shipper.shipperId, shipper.name, shipper.accountKeyHash],
  );
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

/** Or its previous key during a rotation. */
export const keyMatches = (hash: string) =>
  `(account_key_hash = ${hash} or previous_key_hash = ${hash} and previous_key_until > now()) and status <> 'REMOVED'`;

export async function accountKeyExists(db: Database, accountKeyHash: Buffer): Promise<boolean> {
  const rows = await db.query('account-key-exists', `select 1 from shippers where ${keyMatches('$1')}`, [
    accountKeyHash,
  ]);
  return rows.length > 0;
}
