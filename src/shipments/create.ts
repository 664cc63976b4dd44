import { recordEvents, type NewEvent, type RecordDependencies } from '../events/record.js';
import type { ShipmentHead } from '../events/store.js';
import { createBatcher } from '../platform/batch.js';
import { ApiError, describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/database/postgres.js';
import { inPieces } from '../platform/walk.js';
import { findForgottenOrders } from './store.js';

export type CreationDependencies = RecordDependencies & { initialState: string };

/**
 * Creates accepted shipments: the initial state, its event and the deliveries owed for it, in one commit. A
 * shipment that is created already (a job that came twice) is left as it is. Returns how many were created.
 */
export async function createShipments(
  deps: CreationDependencies,
  orders: (string | ShipmentHead)[],
): Promise<number> {
  const results = await recordEvents(
    deps,
    orders.map((order): NewEvent => ({
      ...(typeof order === 'string' ? { shipmentId: order } : { order }),
      state: deps.initialState,
    })),
  );
  const failure = results.find((result) => result instanceof ApiError && result.httpStatus >= 500);
  if (failure) throw failure as ApiError;
  return results.filter((result) => !(result instanceof ApiError)).length;
}

/** Creates what this process has accepted, many at once; resolves when it is created, or is left to the sweeper. */
export function createInProcess(
  deps: CreationDependencies & { logger: Logger },
): (order: ShipmentHead) => Promise<void> {
  const batches = createBatcher<ShipmentHead, undefined>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    onFlush: (items) => deps.metrics.batchSize.observe({ batch: 'creations' }, items),
    flush: async (orders) => {
      await createShipments(deps, orders);
      return orders.map(() => undefined);
    },
  });
  return (order) =>
    batches
      .add(order)
      .catch((error: unknown) =>
        deps.logger.warn({ error: describeError(error) }, 'not created yet; the sweeper will see to it'),
      );
}

const forgottenAfterMs = 5_000;
const ordersPerSweep = 2_000;

/**
 * Creates orders that were accepted and whose job never came, or was lost with the queue. An order that cannot be
 * created does not hold up the others: the next sweep begins behind its page, and comes back to it later.
 */
export function createOrderSweep(deps: {
  db: Database;
  create(shipmentIds: string[]): Promise<unknown>;
  logger: Logger;
  metrics: Metrics;
}): () => Promise<boolean> {
  let after: string | null = null;
  return async () => {
    const forgotten = await findForgottenOrders(deps.db, forgottenAfterMs, after, ordersPerSweep);
    const wentOn = after !== null;
    after = null;
    if (forgotten.length === 0) return wentOn;
    deps.logger.info({ orders: forgotten.length }, 'swept');
    deps.metrics.swept.inc({ kind: 'order' }, forgotten.length);
    let allCreated = true;
    await inPieces(forgotten, ordersPerSweep, deps.create, (shipmentId, error) => {
      allCreated = false;
      deps.logger.error({ shipmentId, error: describeError(error) }, 'an accepted order is not created yet');
    });
    if (!allCreated) after = forgotten.at(-1)!;
    return true;
  };
}
