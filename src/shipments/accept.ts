import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShipmentHead } from '../events/store.js';
import type { Answer } from '../http/envelope.js';
import { createBatcher, patienceMs } from '../platform/batch.js';
import { conflict, isUnavailable } from '../platform/errors.js';
import type { Metrics } from '../platform/metrics.js';
import { newId } from '../platform/ids.js';
import type { Database } from '../platform/database/postgres.js';
import type { Admission } from './admission.js';
import { dropoffChooser } from './dropoff.js';
import { orderResult, type DropoffLocation, type Order } from './order.js';
import {
  deleteExpiredIdempotencyKey,
  findByIdempotencyKey,
  insertOrders,
  type AcceptedOrder,
  type EarlierOrder,
} from './store.js';
import { newTrackingId } from './tracking-id.js';

/** What follows an order may take long where something is stuck: that must not keep other orders waiting. */
const longestShareMs = 300;

export type AcceptOrder = (
  shipperId: string,
  order: Order,
  idempotencyKey: string | undefined,
) => Promise<Answer>;

/**
 * Accepts orders: accepted means committed. Concurrent requests share one statement. `onAccepted` is told
 * after the commit and not waited for: an order it loses is found by the sweeper. Orders take their turns at the
 * `admission`: what is owed goes before what is asked for.
 */
export function createAcceptOrder(deps: {
  db: Database;
  dropoffLocations: DropoffLocation[];
  /** Resolves when the order has had its share of this process. */
  onAccepted(order: ShipmentHead): Promise<void>;
  admission: Admission;
  metrics: Metrics;
}): AcceptOrder {
  const { db } = deps;
  const chooseDropoff = dropoffChooser(deps.dropoffLocations);
  let storedAt = -Infinity; // performance.now() when orders, whosever, were committed last
  const inserts = createBatcher<AcceptedOrder, boolean>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 5_000,
    onFlush: (items) => deps.metrics.batchSize.observe({ batch: 'orders' }, items),
    flush: async (orders) => {
      const stored = await insertOrders(db, orders);
      storedAt = performance.now();
      deps.metrics.ordersAccepted.inc(stored.size);
      return orders.map((order) => stored.has(order.shipmentId));
    },
  });

  const prepare = (shipperId: string, order: Order, idempotencyKey?: string): AcceptedOrder => {
    const acceptedAt = new Date();
    return {
      shipmentId: newId(acceptedAt.getTime()), // shipments are found by the time in their ids
      shipperId,
      processId: randomUUID(),
      trackingId: newTrackingId(),
      order,
      dropoffLocation: chooseDropoff(order.recipientLocation),
      acceptedAt,
      idempotency: idempotencyKey === undefined ? null : { key: idempotencyKey, bodyHash: hashOf(order) },
    };
  };

  return async (shipperId, order, idempotencyKey) => {
    const leave = await deps.admission.enter(shipperId, weightOf(order));
    const enteredAt = performance.now();
    let following: Promise<void> | undefined;
    try {
      // After the wait: who lists shipments by their time would pass over those that waited.
      const accepted = prepare(shipperId, order, idempotencyKey);
      // The second time, an expired key has been freed; another request may have taken it since.
      for (let time = 1; time <= 2; time += 1) {
        if (await inserts.add(accepted)) {
          following = deps.onAccepted(headOf(accepted));
          return answerOf(accepted);
        }
        const earlier = await earlierOrder(db, accepted);
        if (earlier) return answerOf(earlier);
      }
      throw conflict('The idempotency key is being used by another request; send it again.');
    } catch (error) {
      // A statement may fail by itself. Where none has succeeded for as long, it is PostgreSQL that is away.
      if (isUnavailable(error) && performance.now() - Math.max(enteredAt, storedAt) >= patienceMs)
        deps.admission.turnAway();
      throw error;
    } finally {
      void Promise.race([following, following && sleep(longestShareMs)]).finally(leave);
    }
  };
}

const charsPerWeight = 16_384;

/** Only `items` may be large: while they are read, stored and answered, others wait. */
const weightOf = ({ package: { items } }: Order): number =>
  items ? 1 + Math.floor(JSON.stringify(items).length / charsPerWeight) : 1;

const headOf = ({ shipmentId, shipperId, trackingId, order }: AcceptedOrder): ShipmentHead => ({
  shipmentId,
  shipperId,
  trackingId,
  shipperTrackingId: order.shipperTrackingId,
  state: null,
  sequence: 0,
  erased: false,
});

const answerOf = (accepted: AcceptedOrder | EarlierOrder): Answer => ({
  httpStatus: 201,
  processId: accepted.processId,
  timestampMs: accepted.acceptedAt.getTime(),
  data: orderResult(accepted),
});

/** The order first sent under this key, null where that is more than 24 hours ago. 409 if its body was another. */
async function earlierOrder(
  db: Database,
  { shipperId, idempotency }: AcceptedOrder,
): Promise<EarlierOrder | null> {
  if (!idempotency) throw new Error('an order without idempotency key was left out');
  const earlier = await findByIdempotencyKey(db, shipperId, idempotency.key);
  const isErased = earlier?.bodyHash.length === 0; // nobody can tell any more what the first body was
  if (earlier && !isErased && !earlier.bodyHash.equals(idempotency.bodyHash)) {
    throw conflict('The idempotency key was used with another body in the last 24 hours.');
  }
  if (!earlier) await deleteExpiredIdempotencyKey(db, shipperId, idempotency.key);
  return earlier;
}

/** The validated order has its fields in one order whatever the caller's, so equal orders hash alike. */
const hashOf = (order: Order): Buffer => createHash('sha256').update(JSON.stringify(order)).digest();
