import { supersede } from '../deliveries/order-store.js';
import type { DueDelivery } from '../deliveries/enqueue.js';
import { ApiError, conflict, notFound, unavailable } from '../platform/errors.js';
import type { Metrics } from '../platform/metrics.js';
import { newId } from '../platform/ids.js';
import { isTooSlow, isUniqueViolation, type Database } from '../platform/postgres.js';
import { renderNotification, type StateEvent } from './notification.js';
import {
  findEventsByExternalId,
  insertEvents,
  loadShipments,
  type EventRow,
  type Move,
  type ShipmentHead,
} from './store.js';

/** A state event and the shipment it belongs to, by its id or its tracking id. */
export type NewEvent = StateEvent & ({ shipmentId: string } | { trackingId: string });

/** The event's id (the caller's own where it sent one), or why it was refused. */
export type RecordResult = { eventId: string } | ApiError;

export interface RecordDependencies {
  db: Database;
  /** Whether a shipment may go from one state to another; `from` is null before it is created. */
  allows(from: string | null, to: string): boolean;
  /** Never superseded. */
  terminalStates: string[];
  /** When the sweeper takes a delivery for forgotten that no job came for. */
  sweepAfterMs: number;
  /** Told after the commit which deliveries are due; never waited for. */
  onOwed(due: DueDelivery[]): void;
  metrics: Pick<Metrics, 'eventsRecorded' | 'fannedOut'>;
}

const rounds = 10;
const eventsPerStatement = 200;
const fewEvents = 10;

interface Plan {
  moves: Map<string, Move>;
  rows: { row: EventRow; index: number }[];
}

/**
 * Records state events with everything that is owed for them, many in one statement. Events of one shipment
 * are taken in the order given. Reading and writing are two statements; a shipment that another writer moved
 * between them is read again (optimistic concurrency). Throws where nothing was recorded; later, what cannot be
 * recorded any more is refused event by event, for what was committed before stays.
 */
export async function recordEvents(deps: RecordDependencies, events: NewEvent[]): Promise<RecordResult[]> {
  const results: RecordResult[] = [];
  let size = eventsPerStatement;
  while (results.length < events.length) {
    const chunk = events.slice(results.length, results.length + size);
    try {
      results.push(...(await recordChunk(deps, chunk)));
    } catch (error) {
      // What they owe is more than one statement can do in its time: fewer at once from now on.
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
      await recordRound(deps, events, results);
    } catch (error) {
      // What was recorded in an earlier round stays; only the open events are refused.
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
): Promise<void> {
  const plan = await planRound(deps, events, results);
  const { recorded, owed, due, later } = await insertUnlessTaken(deps, plan);
  for (const { row, index } of plan.rows) {
    if (!recorded.has(row.eventId)) continue;
    results.set(index, { eventId: row.externalId ?? row.eventId });
    deps.metrics.eventsRecorded.inc({ state: row.state });
  }
  deps.metrics.fannedOut.inc(owed);
  if (later.length > 0)
    due.push(...(await supersede(deps.db, later, deps.terminalStates, deps.sweepAfterMs)));
  if (due.length > 0) deps.onOwed(due);
}

/**
 * A caller's event id may have been taken since it was looked up: the next round sees it. Shipments are locked in
 * the order of their ids; two statements that wait for each other's would be a deadlock.
 */
async function insertUnlessTaken(deps: RecordDependencies, { moves, rows }: Plan) {
  const nothing = { recorded: new Set<string>(), owed: 0, due: [] as DueDelivery[], later: [] };
  if (rows.length === 0) return nothing;
  try {
    return await insertEvents(
      deps.db,
      [...moves.values()].sort((a, b) => (a.shipmentId < b.shipmentId ? -1 : 1)),
      rows.map(({ row }) => row),
      deps.sweepAfterMs,
    );
  } catch (error) {
    if (isUniqueViolation(error)) return nothing;
    throw error;
  }
}

/** Decides on every event that has no result yet: settles it in `results`, or plans its row and its shipment's move. */
async function planRound(
  deps: RecordDependencies,
  events: NewEvent[],
  results: Map<number, RecordResult>,
): Promise<Plan> {
  const open = events.flatMap((event, index) => (results.has(index) ? [] : [{ event, index }]));
  const externalIds = open.flatMap(({ event }) => event.externalId ?? []);
  const known = await findEventsByExternalId(deps.db, externalIds);
  const shipments = await loadHeads(
    deps.db,
    open.map(({ event }) => event),
  );
  const plan: Plan = { moves: new Map(), rows: [] };
  const planned = new Set<string>();

  for (const { event, index } of open) {
    const shipment = shipments.get('shipmentId' in event ? event.shipmentId : event.trackingId);
    const earlier = event.externalId === undefined ? undefined : known.get(event.externalId);
    if (!shipment) results.set(index, notFound('This shipment'));
    else if (earlier) results.set(index, repeated(event, shipment, earlier));
    else if (event.externalId !== undefined && planned.has(event.externalId))
      continue; // decided in the next round
    else if (!deps.allows(shipment.state, event.state)) results.set(index, changeNotAllowed(shipment, event));
    else {
      if (event.externalId !== undefined) planned.add(event.externalId);
      plan.rows.push({ row: advance(shipment, event, plan.moves), index });
    }
  }
  return plan;
}

async function loadHeads(db: Database, events: NewEvent[]): Promise<Map<string, ShipmentHead>> {
  const shipmentIds = events.flatMap((event) => ('shipmentId' in event ? [event.shipmentId] : []));
  const trackingIds = events.flatMap((event) => ('trackingId' in event ? [event.trackingId] : []));
  const heads = await loadShipments(db, shipmentIds, trackingIds);
  return new Map(
    heads.flatMap((head): [string, ShipmentHead][] => [
      [head.shipmentId, head],
      [head.trackingId, head],
    ]),
  );
}

/** Moves the shipment on in memory, so that the next event of the same batch builds on this one. */
function advance(shipment: ShipmentHead, event: NewEvent, moves: Map<string, Move>): EventRow {
  const recordedAt = new Date();
  const timestampMs = event.timestampMs ?? recordedAt.getTime();
  const fromSequence = moves.get(shipment.shipmentId)?.fromSequence ?? shipment.sequence;
  shipment.sequence += 1;
  shipment.state = event.state;
  moves.set(shipment.shipmentId, {
    shipmentId: shipment.shipmentId,
    fromSequence,
    toSequence: shipment.sequence,
    state: event.state,
  });
  return {
    eventId: newId(recordedAt.getTime()),
    externalId: event.externalId ?? null,
    shipperId: shipment.shipperId,
    shipmentId: shipment.shipmentId,
    sequence: shipment.sequence,
    state: event.state,
    occurredAt: new Date(timestampMs),
    recordedAt,
    body: renderNotification(shipment, event, timestampMs),
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

const changeNotAllowed = (shipment: ShipmentHead, event: NewEvent): ApiError =>
  conflict(`A shipment in state ${shipment.state ?? '(not created yet)'} cannot change to ${event.state}.`);
