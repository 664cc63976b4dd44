import type { Due, DueClaim, HandOver } from '../outbox/types.js';
import { distinctTurns, supersedeAndRelease } from '../outbox/turns.js';
import { databaseNowMs } from '../../platform/clock.js';
import { ApiError, conflict, notFound, unavailable } from '../../platform/errors.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { traceIdOf, type Span, type TraceContext, type Tracing } from '../../platform/telemetry/tracing.js';
import { newId } from '../../platform/ids.js';
import {
  isNullViolation,
  isTooSlow,
  isUniqueViolation,
  type Database,
  type Queries,
} from '../../platform/database/postgres.js';
import { claimOf, insertEvents, type EventRow, type Move, type Owed } from '../outbox/insert.js';
import {
  findEventsByExternalId,
  loadShipments,
  renderNotification,
  withoutPersonalData,
  type ShipmentHead,
  type StateEvent,
} from './store.js';

/** The shipment is given by id, by tracking id, or as known from its order, which saves a query. */
export type NewEvent = StateEvent & { /** The span of its request. */ trace?: TraceContext } & (
    { shipmentId: string } | { trackingId: string } | { order: ShipmentHead }
  );

/** `eventId` is the caller's own, if it sent one. */
export type RecordResult = { eventId: string } | ApiError;

export interface RecordDependencies {
  /** Not an open transaction: each attempt to record must be its own, or the feed is out of order. */
  db: Database;
  allows(from: string | null, to: string): boolean;
  next(from: string | null): string[];
  terminalStates: string[];
  leaseMs: number;
  orderHoldMs: number;
  /** Gets the owed deliveries after the commit. */
  handOver: HandOver;
  onRecorded?(shipperIds: Set<string>): void;
  onStored?(shipperId: string, bytes: number): void;
  tracing: Tracing;
  metrics: Pick<Metrics, 'eventsRecorded' | 'fannedOut' | 'batchSize' | 'orderToCreated' | 'exemplars'>;
}

const rounds = 10;
const eventsPerStatement = 200;
const fewEvents = 10;

interface PlannedRow {
  row: EventRow;
  /** The span of the recording. */
  span: Span;
  /** The place of the event among those given; null for a creation that is recorded before one of them. */
  index: number | null;
  /** When the order was accepted, if the event creates its shipment. */
  acceptedAt: Date | null;
}

/** Shipments are found by either id, events by their callers' ids. */
interface Known {
  shipments: Map<string, ShipmentHead>;
  known: Map<string, { shipmentId: string; state: string }>;
}

interface Plan {
  moves: Map<string, Move>;
  rows: PlannedRow[];
}

/**
 * Many events share a statement; those of one shipment keep the given order. Reading and writing are two statements; a
 * shipment that another writer changed in between is read again (optimistic concurrency). Throws if nothing was
 * recorded; after the first commit, events are refused one by one.
 */
export async function recordEvents(deps: RecordDependencies, events: NewEvent[]): Promise<RecordResult[]> {
  const results: RecordResult[] = [];
  let size = eventsPerStatement;
  while (results.length < events.length) {
    const chunk = events.slice(results.length, results.length + size);
    try {
      results.push(...(await recordChunk(deps, chunk)));
    } catch (error) {
      // The deliveries they owe are too many for one statement's timeout: continue with fewer events.
      if (isTooSlow(error) && chunk.length > 1) size = chunk.length > fewEvents ? fewEvents : 1;
      else if (results.length > 0 && error instanceof ApiError) results.push(...chunk.map(() => error));
      else throw error;
    }
  }
  return results;
}

async function recordChunk(deps: RecordDependencies, events: NewEvent[]): Promise<RecordResult[]> {
  const results = new Map<number, RecordResult>();
  for (let round = 0; round < rounds && results.size < events.length; round += 1) {
    try {
      await recordRound(deps, events, results, round);
    } catch (error) {
      // Events of earlier rounds stay recorded; only the open ones are refused.
      if (!(error instanceof ApiError) || round === 0) throw error;
      return events.map((_, index) => results.get(index) ?? error);
    }
  }
  return events.map(
    (_, index) => results.get(index) ?? unavailable('The shipment is being changed too often.'),
  );
}

async function recordRound(
  deps: RecordDependencies,
  events: NewEvent[],
  results: Map<number, RecordResult>,
  round: number,
): Promise<void> {
  const open = events.flatMap((event, index) => (results.has(index) ? [] : [{ event, index }]));
  const shipments = await loadHeads(
    deps.db,
    open.map(({ event }) => event),
    round === 0, // later, another process may have created the shipment of an order
  );
  // Read after the shipments: an event that has moved one is then found here, and repeated instead of refused.
  const externalIds = open.flatMap(({ event }) => event.externalId ?? []);
  const known = await findEventsByExternalId(deps.db, externalIds);
  await recordPlan(deps, planOf(deps, open, { shipments, known }, results), results, deps.db);
}

/**
 * Records the first state of orders by one statement on `db`, which is sent before this function returns. Leaves out
 * orders that are not stored when it runs. Resolves with the shipmentIds recorded.
 */
export async function recordCreations(
  deps: RecordDependencies,
  db: Queries,
  orders: ShipmentHead[],
  state: string,
): Promise<Set<string>> {
  const results = new Map<number, RecordResult>();
  const open = orders.map((order, index) => ({ event: { order, state }, index }));
  const shipments = new Map(orders.map((order) => [order.shipmentId, { ...order }]));
  await recordPlan(deps, planOf(deps, open, { shipments, known: new Map() }, results), results, db);
  return new Set([...results.keys()].map((index) => orders[index]!.shipmentId));
}

/** The claims that the first state of an order would be sent by. `tx` is to be rolled back. */
export async function rehearseCreation(
  deps: RecordDependencies,
  tx: Queries,
  order: ShipmentHead,
  state: string,
): Promise<DueClaim[]> {
  const shipments = new Map([[order.shipmentId, { ...order }]]);
  const open = [{ event: { order, state }, index: 0 }];
  const { moves, rows } = planOf(deps, open, { shipments, known: new Map() }, new Map());
  const room = { byWebhook: {}, ofOthers: 1, total: 1 };
  const events = rows.map(({ row }) => row);
  const { owed } = await insertEvents(tx, [...moves.values()], events, room, deps);
  return owed.filter(({ started }) => started).map(claimOf);
}

async function recordPlan(
  deps: RecordDependencies,
  plan: Plan,
  results: Map<number, RecordResult>,
  db: Queries,
): Promise<void> {
  if (plan.rows.length === 0) return;
  const { recorded, owed } = await insertUnlessTaken(deps, plan, db);
  for (const { row, span, index, acceptedAt } of plan.rows) {
    if (!recorded.has(row.eventId)) continue;
    if (span.isSampled)
      span.end({ attributes: { 'parcelhook.event_id': row.eventId, 'parcelhook.state': row.state } });
    if (index !== null) results.set(index, { eventId: row.externalId ?? row.eventId });
    deps.metrics.eventsRecorded.inc({ state: row.state });
    deps.onStored?.(row.shipperId, row.body.length);
    if (acceptedAt) {
      const { orderToCreated, exemplars } = deps.metrics;
      const seconds = Math.max(0, databaseNowMs() - acceptedAt.getTime()) / 1_000;
      orderToCreated.observe(seconds);
      exemplars?.keep(orderToCreated, seconds, traceIdOf(span.context));
    }
  }
  if (recorded.size > 0) deps.onRecorded?.(new Set(plan.rows.map(({ row }) => row.shipperId)));
  const later: Owed[] = [];
  let fannedOut = 0;
  for (const one of owed) {
    if (!one.parked) fannedOut += 1;
    if (one.waitsTurn || (one.supersedes && one.event.sequence > 1)) later.push(one);
  }
  deps.metrics.fannedOut.inc(fannedOut);
  if (later.length > 0) await releaseAgain(deps, later);
}

/** If an event id was taken or a shipment created since the read, inserts nothing and the next round sees it. */
async function insertUnlessTaken(
  deps: RecordDependencies,
  { moves, rows }: Plan,
  db: Queries,
): Promise<{ recorded: Set<string>; owed: Owed[] }> {
  const { handOver } = deps;
  const events = rows.map(({ row }) => row);
  const inOrder = [...moves.values()].sort((a, b) => (a.shipmentId < b.shipmentId ? -1 : 1));
  const room = handOver.reserve(events.map(({ shipperId }) => shipperId));
  const asOfMs = performance.now();
  let owed: Owed[] = [];
  try {
    const inserted = await insertEvents(db, inOrder, events, room, deps);
    owed = inserted.owed;
    return inserted;
  } catch (error) {
    if (isUniqueViolation(error)) return { recorded: new Set(), owed: [] };
    if (isNullViolation(error)) throw clockIsWrong();
    throw error;
  } finally {
    const claims: DueClaim[] = [];
    const left: Due[] = [];
    for (const one of owed) {
      if (one.started) claims.push(claimOf(one));
      else if (!one.waitsTurn) left.push({ webhookId: one.webhookId, dueFromMs: one.dueAt.getTime() });
    }
    handOver.recorded(room, claims, left, asOfMs);
  }
}

const clockIsWrong = () =>
  unavailable('The clocks of this server and its database are more than a day apart; nothing was recorded.');

/**
 * A waiting delivery saw an earlier one that may have been settled meanwhile by a statement that did not see the later
 * one. Superseded deliveries are settled first. The sweeper releases what is lost here.
 */
async function releaseAgain(deps: RecordDependencies, later: Owed[]): Promise<void> {
  const inOrder = [...later].sort((a, b) => a.event.sequence - b.event.sequence);
  const turns = distinctTurns(
    inOrder.map(({ webhookId, event, supersedes }) => ({
      webhookId,
      shipmentId: event.shipmentId,
      before: supersedes ? event.sequence : null,
    })),
  );
  try {
    const overtaken = turns.filter(({ before }) => before !== null);
    deps.handOver.notify(await supersedeAndRelease(deps.db, { overtaken, turns }, deps));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

function planOf(
  deps: RecordDependencies,
  open: { event: NewEvent; index: number }[],
  { shipments, known }: Known,
  results: Map<number, RecordResult>,
): Plan {
  const plan: Plan = { moves: new Map(), rows: [] };
  // One for all: within a commit the feed is ordered by id, and a clock may be set back.
  const recordedAt = new Date(databaseNowMs());
  const planned = new Set<string>();

  for (const { event, index } of open) {
    const shipment = shipments.get(keyOf(event));
    const earlier = event.externalId === undefined ? undefined : known.get(event.externalId);
    if (!shipment) results.set(index, notFound('This shipment'));
    else if (earlier) results.set(index, repeated(event, shipment, earlier));
    else if (event.externalId !== undefined && planned.has(event.externalId))
      continue; // decided in the next round
    else {
      const creation = creationBefore(deps, shipment, event);
      const from = creation ?? shipment.state;
      if (!deps.allows(from, event.state)) {
        results.set(index, changeRefused(shipment.state, event.state, deps.next(from)));
        continue;
      }
      if (event.externalId !== undefined) planned.add(event.externalId);
      const steps = [
        ...(creation === null ? [] : [{ step: { state: creation }, of: null }]),
        { step: event, of: index },
      ];
      for (const { step, of } of steps) {
        const acceptedAt = shipment.state === null ? shipment.acceptedAt : null;
        const parent = (of === null ? undefined : event.trace) ?? shipment.trace;
        const span = deps.tracing.start('record', { parent });
        const row = advance(shipment, step, plan.moves, recordedAt, span.context);
        plan.rows.push({ row, span, index: of, acceptedAt });
      }
    }
  }
  return plan;
}

/**
 * The initial state, if it has to be recorded before the event: the order is accepted, and its shipment not created yet.
 * That is our lateness, so the event is not refused for it.
 */
const creationBefore = (
  deps: RecordDependencies,
  { state }: ShipmentHead,
  event: StateEvent,
): string | null => (state === null && !deps.allows(null, event.state) ? (deps.next(null)[0] ?? null) : null);

const keyOf = (event: NewEvent) =>
  'order' in event ? event.order.shipmentId : 'shipmentId' in event ? event.shipmentId : event.trackingId;

async function loadHeads(
  db: Database,
  events: NewEvent[],
  known: boolean,
): Promise<Map<string, ShipmentHead>> {
  const heads = known ? events.flatMap((event) => ('order' in event ? [{ ...event.order }] : [])) : [];
  const others = known ? events.filter((event) => !('order' in event)) : events;
  const trackingIds = others.flatMap((event) => ('trackingId' in event ? [event.trackingId] : []));
  const shipmentIds = others.flatMap((event) => ('trackingId' in event ? [] : [keyOf(event)]));
  if (others.length > 0) heads.push(...(await loadShipments(db, shipmentIds, trackingIds)));
  return new Map(
    heads.flatMap((head): [string, ShipmentHead][] => [
      [head.shipmentId, head],
      [head.trackingId, head],
    ]),
  );
}

/** Moves the shipment in memory, so that the next event of the batch builds on this one. */
function advance(
  shipment: ShipmentHead,
  event: StateEvent,
  moves: Map<string, Move>,
  recordedAt: Date,
  trace: TraceContext,
): EventRow {
  const timestampMs = event.timestampMs ?? recordedAt.getTime();
  const eventId = newId(recordedAt.getTime());
  const earlier = moves.get(shipment.shipmentId);
  const fromSequence = earlier?.fromSequence ?? shipment.sequence;
  shipment.sequence += 1;
  shipment.state = event.state;
  shipment.trace = null;
  moves.set(shipment.shipmentId, {
    shipmentId: shipment.shipmentId,
    shipperId: shipment.shipperId,
    fromSequence,
    toSequence: shipment.sequence,
    state: event.state,
    erased: shipment.erased,
    firstEventId: earlier?.firstEventId ?? eventId,
    lastEventId: eventId,
  });
  return {
    eventId,
    externalId: event.externalId ?? null,
    shipperId: shipment.shipperId,
    shipmentId: shipment.shipmentId,
    sequence: shipment.sequence,
    state: event.state,
    recordedAt,
    body: renderNotification(shipment, shipment.erased ? withoutPersonalData(event) : event, timestampMs),
    erased: shipment.erased,
    trace,
  };
}

const repeated = (
  event: NewEvent,
  shipment: ShipmentHead,
  earlier: { shipmentId: string; state: string },
): RecordResult =>
  earlier.shipmentId === shipment.shipmentId && earlier.state === event.state
    ? { eventId: event.externalId as string }
    : conflict('The eventId was used for another event.');

/** Says which states may follow `from`, which is null before the shipment is created. */
export function allowedFrom(from: string | null, allowed: readonly string[]): string {
  return allowed.length > 0 ? `allowed: ${allowed.join(', ')}` : `nothing follows ${from ?? 'its creation'}`;
}

export const changeRefused = (from: string | null, to: string, allowed: readonly string[]): ApiError =>
  conflict(
    from === null
      ? `A shipment that is not created yet cannot change to ${to}; ${allowedFrom(from, allowed)}.`
      : `A shipment cannot change from ${from} to ${to}; ${allowedFrom(from, allowed)}.`,
  );
