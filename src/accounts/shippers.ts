import type { Database } from '../platform/database/postgres.js';
import { notFound } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { audit, audited, type Actor } from './audit/audit.js';
import { newAccountKey, sha256 } from './credentials.js';
import {
  changeShipper,
  insertShipper,
  lockShipper,
  replaceAccountKey,
  shipperExists,
  type Shipper,
} from './shipper-store.js';

export interface ShipperChanges {
  name?: string | undefined;
  status?: 'ACTIVE' | 'SUSPENDED' | undefined;
}

/** Changes of the shipper's webhooks, in the transaction of its own change. */
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
): Promise<{ shipperId: string; accountKey: string }> {
  const shipperId = newId();
  const accountKey = newAccountKey();
  const work = async (tx: Database) => {
    await insertShipper(tx, { shipperId, name, accountKeyHash: sha256(accountKey) });
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
    if (statusChanged) {
      const suspends = shipper.status === 'SUSPENDED';
      await (suspends ? webhooks.suspend : webhooks.resume)(tx, shipperId);
      const action = suspends ? 'SHIPPER_SUSPENDED' : 'SHIPPER_RESUMED';
      await audit(tx, actor, { action, shipperId });
    }
    return { shipper, statusChanged };
  });

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

/** The previous key, and tokens issued under it, stay valid for `overlapMs`. */
export const rotateAccountKey = (
  db: Database,
  actor: Actor,
  shipperId: string,
  overlapMs: number,
): Promise<{ accountKey: string; previousKeyValidUntil: Date }> =>
  db.transaction(async (tx) => {
    required(await lockShipper(tx, shipperId));
    const accountKey = newAccountKey();
    const previousKeyValidUntil = await replaceAccountKey(tx, shipperId, sha256(accountKey), overlapMs);
    await audit(tx, actor, { action: 'ACCOUNT_KEY_ROTATED', shipperId });
    return { accountKey, previousKeyValidUntil };
  });
