import { withoutExport } from '../../../src/platform/telemetry/tracing.js';
import { takeLapsedRedeliveries } from '../../../src/engine/outbox/redelivery.js';
import { withdrawCancelled } from '../../../src/catch-up/replay/cancel-replay.js';
import { inspectPage } from '../../../src/engine/outbox/sweep.js';
import { takeLapsed, pullDue } from '../../../src/engine/outbox/claim.js';
import { createSweeper as sweeperOf } from '../../../src/engine/sweep/sweeper.js';
import {
  noRoom,
  type Due,
  type HandOver,
  type Room,
  type Claim,
  type DueClaim,
  type Settlement,
} from '../../../src/engine/outbox/types.js';
import { durationsOf } from '../../../src/platform/durations.js';
import { createSettleBatch, type SettleBatchOptions } from '../../../src/engine/settle/settler.js';
import { recordEvents, type RecordDependencies } from '../../../src/engine/record/record.js';
import { createMetrics, type Metrics } from '../../../src/platform/telemetry/metrics.js';
import type { Database, Pool } from '../../../src/platform/database/postgres.js';
import { logger, type World } from './world.js';

export const leaseMs = 10_000;
export const longHoldMs = 3_600_000;
export const terminalStates = ['DELIVERED'];
const metrics = createMetrics();

export interface Collector extends HandOver {
  claims: DueClaim[];
}

export function collector(room: Room = noRoom): Collector {
  const claims: DueClaim[] = [];
  return {
    claims,
    reserve: () => room,
    recorded: (_room, claimed) => void claims.push(...claimed),
    notify: () => undefined,
  };
}

export const muchRoom: Room = { byWebhook: {}, ofOthers: 1_000, total: 1_000 };

export const recording = (db: Database, handOver: HandOver, orderHoldMs: number): RecordDependencies => ({
  db,
  allows: () => true,
  next: () => [],
  terminalStates,
  tracing: withoutExport,
  leaseMs,
  orderHoldMs,
  handOver,
  metrics,
});

interface RecordOptions {
  room?: Room;
  /** Default: true, so that the room is there whatever else is due. */
  knowsWebhooks?: boolean;
  orderHoldMs?: number;
}

/** Records in one statement; returns the claims made for this process. */
export const record = (
  db: Database,
  shipmentId: string,
  states: string[],
  options: RecordOptions = {},
): Promise<DueClaim[]> =>
  recordAll(
    db,
    states.map((state) => [shipmentId, state]),
    options,
  );

async function toKnownWebhooks(db: Database, { room, knowsWebhooks = true }: RecordOptions) {
  if (!room || room.ofOthers === 0 || !knowsWebhooks) return room;
  const rows = await db.query<{ id: string }>('webhooks', 'select webhook_id as id from webhooks');
  return {
    ...room,
    byWebhook: { ...Object.fromEntries(rows.map(({ id }) => [id, room.ofOthers])), ...room.byWebhook },
  };
}

/** Works as `record` does; each shipment from its given state on. */
export async function recordAll(
  db: Database,
  states: [shipmentId: string, state: string][],
  options: RecordOptions = {},
): Promise<DueClaim[]> {
  const collected = collector(await toKnownWebhooks(db, options));
  const results = await recordEvents(
    recording(db, collected, options.orderHoldMs ?? longHoldMs),
    states.map(([shipmentId, state]) => ({ shipmentId, state })),
  );
  for (const result of results) if (result instanceof Error) throw result;
  return collected.claims;
}

export const pull = (db: Database, webhookIds: string | string[], room = 1_000): Promise<DueClaim[]> =>
  pullDue(
    db,
    [webhookIds].flat().map((webhookId) => ({ webhookId, room, since: null })),
    leaseMs,
  );

type Outcome = Settlement['status'];

export const settlementOf = (
  claim: Claim,
  status: Outcome,
  delayMs = 0,
  startedAt = new Date(Date.now() - 60_000 + 1_000 * claim.number), // so that no two attempts of a delivery start at the same time
): Settlement => ({
  shipperId: claim.shipperId,
  deliveryId: claim.deliveryId,
  number: claim.number,
  trigger: claim.trigger,
  status,
  reason: null,
  delayMs: status === 'RETRY' ? delayMs : null,
  startedAt,
  durationMs: 1,
  statusCode: status === 'SUCCEEDED' ? 200 : 500,
  errorCode: status === 'SUCCEEDED' ? null : 'HTTP_STATUS',
  responseBody: null,
  detail: null,
});

/** Settles with the worker's own code. Returns the claims whose outcome counted. */
export async function finish(
  db: Database | Pool,
  claims: Claim[],
  status: Outcome,
  options: {
    delayMs?: number;
    startedAt?: Date;
    orderHoldMs?: number;
    notify?: (due: Due[]) => void;
  } = {},
): Promise<Claim[]> {
  const { notify = () => undefined, orderHoldMs = longHoldMs } = options;
  const settling = createSettleBatch({
    db: 'together' in db ? db : oneByOne(db),
    logger,
    orderHoldMs,
    terminalStates,
    notify,
  });
  const items = claims.map((claim) => ({
    claim,
    settlement: settlementOf(claim, status, options.delayMs, options.startedAt),
  }));
  const results = await settling.settle(items);
  return claims.filter((_, index) => results[index]!.kind !== 'lost');
}

/** Sends each statement separately, so that a barrier can stop it. */
const oneByOne = (db: Database): SettleBatchOptions['db'] => ({
  ...db,
  together: async (first, second) => {
    const [response] = await Promise.allSettled([first(db)]);
    const [next] = await Promise.allSettled([second(db)]);
    return [response, next];
  },
});

export const inspect = (db: Database, limit = 20_000) =>
  inspectPage(db, null, {
    unattendedAfterMs: 0,
    orderHoldMs: longHoldMs,
    maxLeaseMs: 2 * leaseMs,
    terminalStates,
    limit,
  });

export const takeUpLapsed = async (db: Database, testLeaseMs = leaseMs) =>
  takeLapsed(db, (await inspect(db)).lapsed, { leaseMs, testLeaseMs });

export function createSweeper(
  db: Database,
  orderHoldMs = longHoldMs,
  log = logger,
): {
  sweep(): Promise<unknown>;
  takeUpLapsed(): Promise<unknown>;
  probes: DueClaim[];
  notified: Set<string>;
  metrics: Metrics;
} {
  const probes: DueClaim[] = [];
  const notified = new Set<string>();
  const { walk, takeUpLapsed } = sweeperOf({
    db,
    logger: log,
    metrics,
    durations: { ...durationsOf(), unattendedAfterMs: 0, leaseMs },
    orderHoldMs,
    terminalStates,
    testLeaseMs: 20_000,
    accept: (claims) => void probes.push(...claims),
    redeliver: () => Promise.resolve(),
    notify: (due) => due.forEach(({ webhookId }) => notified.add(webhookId)),
  });
  return { sweep: walk, takeUpLapsed, probes, notified, metrics };
}

export async function lapse({ sql }: World): Promise<void> {
  await sql(`update outbox set lease_until = now() - interval '1 second' where status = 'SENDING'`);
  await sql(
    `update redeliveries set lease_until = now() - interval '1 second' where lease_until is not null`,
  );
}

/** Works like a healthy worker with a sweeper, until nothing is owed. Returns the successes. */
export async function drain(world: World, rounds = 60): Promise<Claim[][]> {
  const { sql, db } = world;
  const { sweep } = createSweeper(db);
  const batches: Claim[][] = [];
  await lapse(world);
  await takeLapsedRedeliveries(db, leaseMs, 100);
  for (let round = 0; round < rounds; round += 1) {
    await sweep();
    await withdrawCancelled({ db, logger, orderHoldMs: longHoldMs, notify: () => undefined });
    await sql(`update outbox set due_at = now() where due_at > now()`);
    const owed = await sql<{ webhook_id: string }>(`select distinct webhook_id from outbox`);
    if (owed.length === 0) return batches;
    const webhookIds = owed.map((row) => row.webhook_id);
    for (let claims = await pull(db, webhookIds); claims.length > 0; claims = await pull(db, webhookIds))
      batches.push(await finish(db, claims, 'SUCCEEDED'));
  }
  const left = await sql(
    `select webhook_id, shipment_id, sequence, status, waits_turn, due_at from outbox limit 10`,
  );
  throw new Error(`still owed: ${JSON.stringify(left, null, 1)}`);
}
