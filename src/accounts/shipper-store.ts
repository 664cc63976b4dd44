import type { Database } from '../platform/database/postgres.js';

export type ShipperStatus = 'ACTIVE' | 'SUSPENDED' | 'REMOVED';

export interface Shipper {
  shipperId: string;
  name: string;
  status: ShipperStatus;
  createdAt: Date;
  /** Until when the account key before the last rotation is good; null without one. */
  previousKeyValidUntil: Date | null;
}

const columns = `shipper_id as "shipperId", name, status, created_at as "createdAt",
  case when previous_key_until > now() then previous_key_until end as "previousKeyValidUntil"`;

/** In the order of their registration, those after `afterId`. */
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

/** The shipper, locked until the transaction ends; null without it, or where it is removed. */
export async function lockShipper(tx: Database, shipperId: string): Promise<Shipper | null> {
  const rows = await tx.query<Shipper>(
    'lock-shipper-to-change',
    `select ${columns} from shippers where shipper_id = $1 and status <> 'REMOVED' for no key update`,
    [shipperId],
  );
  return rows[0] ?? null;
}

/** A removal ends every token of the shipper. */
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

/** Puts a new account key in place; the one before is good for `overlapMs`, and an older one no more. Until when. */
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
