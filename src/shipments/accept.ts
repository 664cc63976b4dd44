import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShipmentHead } from '../engine/engine.js';
import { isoOffset, type RouteResult } from '../http/route.js';
import { momentMs } from '../http/request/fields.js';
import { databaseNowMs } from '../platform/clock.js';
import { createBatcher, patienceMs } from '../platform/batch.js';
import { conflict, isUnavailable } from '../platform/errors.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import { newId, pooledRandomBytes } from '../platform/ids.js';
import type { Database } from '../platform/database/postgres.js';
import type { TraceContext } from '../platform/telemetry/tracing.js';
import { dropoffChooser } from './dropoff.js';
import type { InsertAndCreate } from './create.js';
import type { Order } from './order.js';
import type { DropoffLocation } from './responses.js';
import {
  deleteExpiredIdempotencyKey,
  findByIdempotencyKey,
  insertOrders,
  type AcceptedOrder,
  type EarlierOrder,
} from './store.js';
import type { StoredBytes } from '../platform/limits/stored-bytes.js';
import { createGate, refusalOf, type Refusal, createHeldTime } from '../platform/limits/gate.js';

/** A slow creation must not delay other orders longer than this. */
const maxShareMs = 300;

export type AcceptOrder = (
  shipperId: string,
  order: Order,
  idempotencyKey: string | undefined,
  trace: TraceContext,
  onWait?: OnWait,
) => Promise<RouteResult>;

/**
 * Accepted means committed. Concurrent requests share one statement. The creation of the shipment is not awaited: the
 * sweeper finds an order whose creation was lost. Orders wait at the `admission`, because owed deliveries come first.
 */
export function createAcceptOrder(deps: {
  db: Database;
  dropoffLocations: DropoffLocation[];
  cell?: string | undefined;
  /** Null in a process that creates no shipments. */
  insertAndCreate: InsertAndCreate | null;
  /** Called after the commit, unless the shipment is created already. */
  onAccepted(order: ShipmentHead): Promise<void>;
  admission: Admission;
  stored: StoredBytes;
  metrics: Metrics;
}): AcceptOrder {
  const { db } = deps;
  const chooseDropoff = dropoffChooser(deps.dropoffLocations);
  let storedAt = -Infinity; // performance.now() of the last commit of any orders
  const insertOnly: InsertAndCreate = async (_, insert) => ({
    inserted: await insert(db, true),
    created: Promise.resolve(new Set()),
  });
  const insert = deps.insertAndCreate ?? insertOnly;
  const inserts = createBatcher<AcceptedOrder, Inserted | null>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 5_000,
    onFlush: deps.metrics.batchSize.labels('orders').observe,
    flush: async (orders) => {
      const heads = orders.map(headOf);
      const { inserted, created } = await insert(heads, (one, isFlushed) =>
        insertOrders(one, orders, isFlushed),
      );
      storedAt = performance.now();
      deps.metrics.ordersAccepted.inc(inserted.size);
      for (const { shipmentId, shipperId, orderText } of orders)
        if (inserted.has(shipmentId)) deps.stored.add(shipperId, Buffer.byteLength(orderText));
      const follow = async (head: ShipmentHead) =>
        (await created).has(head.shipmentId) ? undefined : deps.onAccepted(head);
      return heads.map((head) => (inserted.has(head.shipmentId) ? { following: follow(head) } : null));
    },
  });

  const prepare = (
    shipperId: string,
    order: Order,
    idempotencyKey: string | undefined,
    trace: TraceContext,
  ): AcceptedOrder => {
    const acceptedAt = new Date(databaseNowMs());
    const orderText = JSON.stringify(order);
    return {
      shipmentId: newId(acceptedAt.getTime()), // queries find shipments by the time in their ids
      shipperId,
      processId: randomUUID(),
      trackingId: newTrackingId(Date.now(), deps.cell),
      order,
      orderText,
      dropoffLocation: chooseDropoff(order.recipientLocation),
      acceptedAt,
      idempotency: idempotencyKey === undefined ? null : { key: idempotencyKey, bodyHash: hashOf(orderText) },
      trace,
    };
  };

  return async (shipperId, order, idempotencyKey, trace, onWait) => {
    deps.stored.require(shipperId);
    const leave = await deps.admission.enter(shipperId, weightOf(order), onWait);
    const enteredAt = performance.now();
    let following: Promise<void> | undefined;
    try {
      // The order is prepared after the wait: an earlier time would let readers of the list page past the shipment.
      const accepted = prepare(shipperId, order, idempotencyKey, trace);
      // The second try follows the deletion of an expired key; another request may have taken it since.
      for (let tries = 1; tries <= 2; tries += 1) {
        const inserted = await inserts.add(accepted);
        if (inserted) {
          following = inserted.following;
          return responseOf(accepted);
        }
        const earlier = await earlierOrder(db, accepted);
        if (earlier) return responseOf(earlier);
      }
      throw conflict('Another request with this idempotency key is under way. Send this one again.');
    } catch (error) {
      // A single statement may fail. Without any success for this long, PostgreSQL is unavailable.
      if (isUnavailable(error) && performance.now() - Math.max(enteredAt, storedAt) >= patienceMs)
        deps.admission.turnAway();
      throw error;
    } finally {
      void Promise.race([following, following && sleep(maxShareMs)]).finally(leave);
    }
  };
}

/** `following` resolves when the shipment is created or left to others. */
interface Inserted {
  following: Promise<void>;
}

const charsPerWeight = 16_384;

/** Only `items` may be large, and a large order delays the others. */
const weightOf = ({ package: { items } }: Order): number =>
  items ? 1 + Math.floor(JSON.stringify(items).length / charsPerWeight) : 1;

const headOf = ({
  shipmentId,
  shipperId,
  trackingId,
  order,
  acceptedAt,
  trace,
}: AcceptedOrder): ShipmentHead => ({
  shipmentId,
  shipperId,
  trackingId,
  shipperTrackingId: order.shipperTrackingId,
  acceptedAt,
  state: null,
  sequence: 0,
  erased: false,
  trace,
});

const responseOf = (accepted: AcceptedOrder | EarlierOrder): RouteResult => ({
  httpStatus: 201,
  processId: accepted.processId,
  timestampMs: accepted.acceptedAt.getTime(),
  data: orderResult(accepted),
});

/** Exactly the specification's fields, in its order: validation has put those of the request into it. */
export function orderResult(
  accepted: Pick<EarlierOrder, 'order' | 'dropoffLocation' | 'trackingId' | 'shipmentId'>,
) {
  const { order, dropoffLocation, trackingId, shipmentId } = accepted;
  const {
    notes = null,
    reference = null,
    intNumber = null,
    lat = null,
    lng = null,
    ...address
  } = order.recipientLocation;
  const { email = null, ...recipient } = order.recipientInformation;
  const { items = null, ...parcel } = order.package;
  return {
    recipientLocation: { ...address, notes, reference, intNumber, lat, lng },
    shipperTrackingId: order.shipperTrackingId,
    shipperDropoffDate: isoOffset(new Date(momentMs(order.shipperDropoffDate))),
    expectedDeliveryDate: isoOffset(new Date(momentMs(order.expectedDeliveryDate))),
    lotId: order.lotId ?? null,
    recipientInformation: { ...recipient, email },
    package: { ...parcel, contentValue: Math.trunc(parcel.contentValue), items },
    dropoffLocation,
    trackingId,
    shipmentId,
  };
}

/** Null if that was over 24 hours ago. Throws CONFLICT if the body differs. */
async function earlierOrder(
  db: Database,
  { shipperId, idempotency }: AcceptedOrder,
): Promise<EarlierOrder | null> {
  if (!idempotency) throw new Error('an order without an idempotency key was not stored');
  const earlier = await findByIdempotencyKey(db, shipperId, idempotency.key);
  const isErased = earlier?.bodyHash.length === 0; // the first body is no longer known
  if (earlier && !isErased && !earlier.bodyHash.equals(idempotency.bodyHash)) {
    throw conflict(
      'The idempotency key was used with another body in the last 24 hours: send that body again, or use a new key for this one.',
    );
  }
  if (!earlier) await deleteExpiredIdempotencyKey(db, shipperId, idempotency.key);
  return earlier;
}

/** Validation puts the fields in one order, so equal orders have equal hashes. */
const hashOf = (orderText: string): Buffer => createHash('sha256').update(orderText).digest();

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * `PH`, the cell, the time in milliseconds (9 characters) and 45 random bits (9): unique, unguessable, ordered by time.
 */
export function newTrackingId(nowMs: number, cell = ''): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 9; i += 1, rest = Math.floor(rest / 32))
    time = crockford[rest % 32] + time;
  const random = Array.from(pooledRandomBytes(9), (byte) => crockford[byte & 31]).join('');
  return `PH${cell.toUpperCase()}${time}${random}`;
}

type Admission = ReturnType<typeof createAdmission>;

type OnWait = (heldMs: () => number) => void;

interface AdmissionOptions {
  /** The total weight of concurrent orders; the last one may exceed it. */
  atOnce: number;
  /** There is room for what one more order of this shipper will owe, beside what those under way will. */
  hasRoom(shipperId: string, orders: { ofShipper: number; all: number }): boolean;
}

const maxWaiting = 5_000;
const recheckMs = 4;
/** A shipper whose orders are this part of all under way waits for its own more than for those of others. */
const ownPart = 0.5;

/**
 * Owed deliveries come before new orders: an order waits, and is not refused for it, until what it will owe has room.
 */
export function createAdmission({ atOnce, hasRoom }: AdmissionOptions) {
  const mayStart = (shipperId: string): boolean =>
    hasRoom(shipperId, { ofShipper: gate.working(shipperId), all: gate.working() });
  const gate = createGate({ concurrency: atOnce, mayStart, maxWaiting });
  const held = createHeldTime((shipperId) => gate.working(shipperId) >= ownPart * atOnce);
  let checking = false;

  const recheckWhileAnyWaits = async () => {
    if (checking) return;
    checking = true;
    for (; gate.waiting() > 0; gate.startReady()) await sleep(recheckMs);
    checking = false;
  };

  const placed = (shipperId: string, leave: () => void) => {
    held.note(shipperId);
    return () => {
      leave();
      held.note(shipperId);
    };
  };

  const slotFor = (shipperId: string, weight: number, onWait?: OnWait) =>
    new Promise<() => void>((resolve, reject) => {
      const clock = held.start(shipperId);
      onWait?.(clock.heldMs);
      const start = (leave: () => void) => {
        clock.stop();
        resolve(placed(shipperId, leave));
      };
      const refuse = (why: Refusal) => {
        clock.stop();
        reject(refusalOf(why));
      };
      gate.ask(shipperId, { start, refuse, weight });
      void recheckWhileAnyWaits();
    });

  return {
    /**
     * Resolves, when the order's turn has come, with a function that ends it. Shippers are served in rotation. A large
     * order weighs more than 1. Rejects with ApiError if too many wait, or with UNAVAILABLE after `turnAway`. Tells
     * `onWait` how much of the wait is spent behind the shipper's own orders.
     */
    enter: (shipperId: string, weight: number, onWait?: OnWait): Promise<() => void> => {
      gate.startReady(); // orders that wait already go first
      const leave = gate.enter(shipperId, weight);
      return leave ? Promise.resolve(placed(shipperId, leave)) : slotFor(shipperId, weight, onWait);
    },
    /** Refuses orders that have waited for long: none can be stored at present. */
    turnAway: () => gate.turnAway((sinceMs) => performance.now() - sinceMs >= patienceMs),
  };
}
