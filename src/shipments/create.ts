import { setTimeout as sleep } from 'node:timers/promises';
import {
  recordCreations,
  recordEvents,
  type NewEvent,
  type RecordDependencies,
  type ShipmentHead,
} from '../engine/engine.js';
import { createBatcher } from '../platform/batch.js';
import { ApiError, describeError, unavailable } from '../platform/errors.js';
import { createThrottledWarn, type Logger } from '../platform/telemetry/logger.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import { inDoubtAfter, type Database, type Pool, type Queries } from '../platform/database/postgres.js';
import type { Producer } from '../platform/queue/engine.js';
import { inPieces } from '../platform/tasks.js';
import { findForgottenOrders, flushOrders } from './store.js';

export type CreationDependencies = RecordDependencies & { initialState: string };

/**
 * Creates each in a commit of its own. Skips shipments that exist already, as after a repeated job. Returns the number
 * created.
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

/** Creates in batches. Resolves when created, or left to the sweeper. */
export function createInProcess(
  deps: CreationDependencies & { logger: Logger },
): (order: ShipmentHead) => Promise<void> {
  const batches = createBatcher<ShipmentHead, undefined>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    onFlush: deps.metrics.batchSize.labels('creations').observe,
    flush: async (orders) => {
      await createShipments(deps, orders);
      return orders.map(() => undefined);
    },
  });
  return (order) =>
    batches
      .add(order)
      .catch((error: unknown) =>
        deps.logger.warn({ error: describeError(error) }, 'shipment not created; the sweeper takes over'),
      );
}

/** Resolves when the orders are on disk. `created` resolves with the created shipmentIds once the creation has ended. */
export type InsertAndCreate = (
  orders: ShipmentHead[],
  insert: (db: Queries, isFlushed: boolean) => Promise<Set<string>>,
) => Promise<{ inserted: Set<string>; created: Promise<Set<string>> }>;

/** More orders than these go alone: the next ones are inserted while their shipments are created. */
const fewOrders = 10;
/** Connections of the API that may be busy with creations, since a creation may take long. */
const maxTogether = 2;
/** The responses to orders wait no longer than this for their creation. */
const maxDelayMs = 25;

/**
 * Sends a few orders and their creation in one message. The creation leaves out an order that was not inserted. Its
 * commit flushes the orders as well, so both wait for the disk only once.
 */
export function createInsertAndCreate(deps: CreationDependencies & { db: Pool }): InsertAndCreate {
  const { db, initialState } = deps;
  const none = new Set<string>();
  let underWay = 0;

  const send = (orders: ShipmentHead[], insert: Parameters<InsertAndCreate>[1]) =>
    new Promise<Awaited<ReturnType<InsertAndCreate>>>((resolve, reject) => {
      underWay += 1;
      const both = db.together(
        (one) => {
          const inserting = insert(one, false);
          inserting.then((inserted) => resolve({ inserted, created }), reject);
          return inserting;
        },
        (one) => recordCreations(deps, one, orders, initialState),
      );
      const created = both
        .then(
          ([, creation]) => (creation.status === 'fulfilled' ? creation.value : none),
          (error: Error) => {
            reject(error);
            return none;
          },
        )
        .finally(() => (underWay -= 1));
    });

  return async (orders, insert) => {
    if (orders.length > fewOrders || underWay >= maxTogether)
      return { inserted: await insert(db, true), created: Promise.resolve(none) };
    const { inserted, created } = await send(orders, insert);
    const isFlushed =
      inserted.size === 0 || (await Promise.race([created, sleep(maxDelayMs, none)])).size > 0;
    if (isFlushed) return { inserted, created };
    const flushed = await flushOrders(db, [...inserted]).catch((error: unknown) => {
      throw inDoubtAfter(error);
    });
    if (flushed.size < inserted.size) throw unavailable('The database stopped before the order was stored.');
    return { inserted, created };
  };
}

const forgottenAfterMs = 5_000;
const ordersPerSweep = 2_000;

/**
 * Creates orders whose job was lost. One that fails delays no other: the next sweep begins after its page and returns
 * later.
 */
export function createOrderSweep(deps: {
  db: Database;
  create(shipmentIds: string[]): Promise<number>;
  logger: Logger;
  metrics: Metrics;
}): () => Promise<boolean> {
  let after: string | null = null;
  return async () => {
    const forgotten = await findForgottenOrders(deps.db, forgottenAfterMs, after, ordersPerSweep);
    const hadStart = after !== null;
    after = null;
    if (forgotten.length === 0) return hadStart;
    deps.logger.info({ orders: forgotten.length }, 'forgotten orders found; creating their shipments');
    let allCreated = true;
    const create = async (some: string[]) =>
      deps.metrics.swept.inc({ kind: 'order' }, await deps.create(some));
    await inPieces(forgotten, ordersPerSweep, create, (shipmentId, error) => {
      allCreated = false;
      deps.logger.error(
        { shipmentId, error: describeError(error) },
        'shipment of an accepted order not created; a later sweep retries',
      );
    });
    if (!allCreated) after = forgotten.at(-1)!;
    return true;
  };
}

export const creationQueueName = 'create';
const idsPerJob = 100;

export function createCreationQueue(producer: Producer, logger: Logger) {
  const giveUp = createThrottledWarn(logger, 'orders not enqueued; the sweeper takes over');
  const batcher = createBatcher<string, undefined>({
    maxItems: idsPerJob,
    concurrency: 1,
    maxWaiting: 50_000,
    flush: async (ids) => {
      await producer.add([{ name: 'create', id: `c-${ids[0]}-${Date.now()}`, ids }]).catch(giveUp);
      return ids.map(() => undefined);
    },
  });
  return (shipmentId: string): Promise<void> => batcher.add(shipmentId).catch(() => undefined);
}
