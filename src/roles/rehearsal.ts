import { rehearseCreation, type Engine, type Sealer } from '../engine/engine.js';
import { describeError } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import type { Pool } from '../platform/database/postgres.js';
import { insertOrders } from '../shipments/store.js';
import type { Order } from '../shipments/order.js';

export interface RehearsalDependencies {
  db: Pool;
  engine: Pick<Engine, 'recording'>;
  sealer: Sealer;
  initialState: string;
}

/** A new shipper with one webhook: nobody else's statements meet their rows. */
const insertShipper = `
  with shipper as (
    insert into shippers (shipper_id, name, account_key_hash) values ($1, 'Rehearsal', sha256($1::uuid::text::bytea))
    returning shipper_id
  )
  insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede, headers,
                        description, secret, created_at, updated_at)
  select $2, shipper_id, array['*'], 'https://webhook.invalid/', 'ACTIVE', 'SHIPMENT', false, '{}', '', $3, now(), now()
    from shipper`;

/**
 * Takes an order from its acceptance to the claim of an attempt, by the statements of every order, and rolls all of it
 * back. Rejects if no attempt would be made.
 */
export async function rehearse({ db, engine, sealer, initialState }: RehearsalDependencies): Promise<void> {
  const [shipperId, webhookId, shipmentId] = [newId(), newId(), newId()];
  const acceptedAt = new Date();
  const recording = engine.recording(db);
  const trace = recording.tracing.start('record', { parent: null }).context;
  const trackingId = `rehearsal-${shipmentId}`;
  const order = { shipperTrackingId: trackingId } as Order;
  const head = { shipmentId, shipperId, trackingId, shipperTrackingId: trackingId, acceptedAt, trace };
  const rolledBack = new Error('rolled back');
  await db
    .transaction(async (tx) => {
      await tx.query('rehearse-shipper', insertShipper, [
        shipperId,
        webhookId,
        sealer.sealSecret(webhookId, 'none'),
      ]);
      const dropoffLocation = {} as never;
      const accepted = {
        ...head,
        processId: newId(),
        order,
        orderText: JSON.stringify(order),
        dropoffLocation,
      };
      await insertOrders(tx, [{ ...accepted, idempotency: null }]);
      const created = { ...head, state: null, sequence: 0, erased: false };
      const claims = await rehearseCreation(recording, tx, created, initialState);
      const isWhole = claims.length === 1 && claims.every(({ dueAt }) => Number.isFinite(dueAt.getTime()));
      throw isWhole ? rolledBack : new Error('nothing was claimed');
    })
    .catch((error: unknown) => {
      if (error !== rolledBack)
        throw new Error(`an order would not become an attempt: ${describeError(error)}`, { cause: error });
    });
}
