import { notFound } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import { audit, type Actor } from './audit/audit.js';
import { newAccountKey, sha256 } from './passwords/credentials.js';
import {
  changeShipper,
  lockShipper,
  replaceAccountKey,
  shipperExists,
  type Shipper,
} from './shipper-store.js';

export interface ShipperChanges {
  name?: string | undefined;
  status?: 'ACTIVE' | 'SUSPENDED' | undefined;
}

/** What becomes of a shipper's webhooks with it; to be called in the transaction that changes the shipper. */
export interface ShippersWebhooks {
  suspend(tx: Database, shipperId: string): Promise<void>;
  resume(tx: Database, shipperId: string): Promise<void>;
  remove(tx: Database, shipperId: string): Promise<void>;
}

const existing = (shipper: Shipper | null): Shipper => {
  if (!shipper) throw notFound('This shipper');
  return shipper;
};

/** Renames, suspends, resumes. 404 without that shipper, or where it is removed. */
export const updateShipper = (
  db: Database,
  webhooks: ShippersWebhooks,
  actor: Actor,
  shipperId: string,
  changes: ShipperChanges,
): Promise<{ shipper: Shipper; statusChanged: boolean }> =>
  db.transaction(async (tx) => {
    const before = existing(await lockShipper(tx, shipperId));
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

/**
 * No request and no send from now on; what is left of it goes later. Again for one that is removed, it does nothing.
 * 404 without that shipper.
 */
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

/** A new account key; the one before, and the tokens that were got with it, are good for `overlapMs`. */
export const rotateAccountKey = (
  db: Database,
  actor: Actor,
  shipperId: string,
  overlapMs: number,
): Promise<{ accountKey: string; previousKeyValidUntil: Date }> =>
  db.transaction(async (tx) => {
    existing(await lockShipper(tx, shipperId));
    const accountKey = newAccountKey();
    const previousKeyValidUntil = await replaceAccountKey(tx, shipperId, sha256(accountKey), overlapMs);
    await audit(tx, actor, { action: 'ACCOUNT_KEY_ROTATED', shipperId });
    return { accountKey, previousKeyValidUntil };
  });
