import type { Database } from '../platform/database/postgres.js';

/** Changes all of a shipper's in one order: statements that wait for each other's rows would be a deadlock. */
const changeAll =
  (name: string, changes: string) =>
  async (tx: Database, shipperId: string): Promise<void> => {
    await tx.query(
      name,
      `with w as materialized (
         select webhook_id from webhooks where shipper_id = $1 and deleted_at is null
          order by webhook_id for no key update
       )
       update webhooks set ${changes} where webhook_id = any(array(select webhook_id from w))`,
      [shipperId],
    );
  };

/** Holds what the shipper's webhooks are owed. */
export const suspendWebhooks = changeAll('suspend-webhooks', 'suspended = true, stopped_at = now()');

/** What was held is due; ORDER_HOLD counts from now. */
export const resumeWebhooks = changeAll('resume-webhooks', 'suspended = false, called_since = now()');

/** Marks them deleted; the sweeper cancels what they are owed. */
export const deleteWebhooks = changeAll(
  'delete-webhooks',
  'deleted_at = now(), stopped_at = now(), revision = revision + 1, updated_at = now()',
);

/** The shipper's webhooks. */
export async function webhooksOf(db: Database, shipperId: string): Promise<string[]> {
  const rows = await db.query<{ webhook_id: string }>(
    'webhooks-of-shipper',
    'select webhook_id from webhooks where shipper_id = $1 and deleted_at is null',
    [shipperId],
  );
  return rows.map((row) => row.webhook_id);
}
