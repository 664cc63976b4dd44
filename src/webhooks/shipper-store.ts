import type { Database } from '../platform/database/postgres.js';

/** All in one order: statements that wait for each other's rows would be a deadlock. */
const ofShipper = `select webhook_id from webhooks where shipper_id = $1 and deleted_at is null
  order by webhook_id for no key update`;

/** Holds what the shipper's webhooks are owed. */
export async function suspendWebhooks(tx: Database, shipperId: string): Promise<void> {
  await tx.query(
    'suspend-webhooks',
    `with w as materialized (${ofShipper})
     update webhooks set suspended = true, stopped_at = now()
      where webhook_id = any(array(select webhook_id from w))`,
    [shipperId],
  );
}

/** What was held is due; ORDER_HOLD counts from now. */
export async function resumeWebhooks(tx: Database, shipperId: string): Promise<void> {
  await tx.query(
    'resume-webhooks',
    `with w as materialized (${ofShipper})
     update webhooks set suspended = false, called_since = now()
      where webhook_id = any(array(select webhook_id from w))`,
    [shipperId],
  );
}

/** Marks them deleted; the sweeper cancels what they are owed. */
export async function deleteWebhooks(tx: Database, shipperId: string): Promise<void> {
  await tx.query(
    'delete-webhooks',
    `with w as materialized (${ofShipper})
     update webhooks set deleted_at = now(), stopped_at = now(), revision = revision + 1, updated_at = now()
      where webhook_id = any(array(select webhook_id from w))`,
    [shipperId],
  );
}

/** The shipper's webhooks. */
export async function webhooksOf(db: Database, shipperId: string): Promise<string[]> {
  const rows = await db.query<{ webhook_id: string }>(
    'webhooks-of-shipper',
    'select webhook_id from webhooks where shipper_id = $1 and deleted_at is null',
    [shipperId],
  );
  return rows.map((row) => row.webhook_id);
}
