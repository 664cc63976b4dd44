import * as z from 'zod';
import {
  countOpenCircuits,
  listOpenCircuits,
  readUncalled,
  type OpenCircuit,
  readBacklog,
  type Backlog,
} from '../observe/owed.js';
import { listReplays } from '../catch-up/replay/request-store.js';
import { replayProgress, replayView } from '../catch-up/replay/routes.js';
import { isoOffset, operatorRoute, type Route } from '../http/route.js';
import { described, instant, uuid } from '../http/request/fields.js';
import type { Database } from '../platform/database/postgres.js';
import { describeError } from '../platform/errors.js';
import { listProcesses, type Process, listWrongClocks, type WrongClock } from '../observe/processes.js';
import type { Producer } from '../platform/queue/engine.js';
import type { StoredBytes } from '../platform/limits/stored-bytes.js';
import { fullFrom } from '../observe/backlog.js';
import { version } from '../platform/version.js';

const count = (description: string, example = 0) => described(z.int().min(0), description, example);

const uncalled = {
  deliveries: count(
    'Deliveries owed; counted up to 200,000 in total, up to the same number for each webhook.',
    12,
  ),
  isMore: described(z.boolean(), 'Whether there are more deliveries than were counted.', false),
  webhooks: count('Webhooks to which they are owed.', 1),
};

const jobs = Object.fromEntries(
  ['waiting', 'active', 'delayed'].map((state) => [state, count(`Jobs that are ${state}.`).optional()]),
);

const statusResponse = z
  .object({
    processes: described(
      z.array(
        z
          .object({
            role: described(z.string(), 'Its role.', 'worker'),
            host: described(z.string(), 'Name of the machine or the container.', 'worker-2'),
            version: described(z.string(), 'Version of the service.', version),
            commit: described(
              z.string().nullable(),
              'The commit that it was built from; null if that is not known.',
              '3e0e04b7d1c2',
            ),
            startedAt: instant('When it started.'),
            seenAt: instant('When it was last seen.'),
            isAlive: described(z.boolean(), 'Whether it was seen less than 90 s ago.', true),
          })
          .meta({ id: 'Process', description: 'A process of the service.' }),
      ),
      'The processes that were seen within the last hour, by role, at most 200. A process that stops in good order leaves the list at once.',
    ).optional(),
    backlog: z
      .object({
        sendable: count('Deliveries that wait for the service; counted up to 10,000 in all.'),
        oldestSendableSeconds: count('How long the oldest of them has been sendable.'),
        sending: count('Deliveries that are being sent.', 3),
        waiting: described(
          z.record(z.string(), z.int()),
          'Deliveries that wait for others, by cause: `receiver` (it has as many attempts as it may), `turn`, `retry`, `circuit`, `paused`, `disabled`, `suspended`.',
          { receiver: 12, turn: 0, retry: 4, circuit: 0, paused: 0, disabled: 0, suspended: 0 },
        ),
      })
      .meta({
        description: 'The deliveries owed: those that wait for the service, and those that wait for others.',
      })
      .optional(),
    unread: described(
      z.record(z.string(), z.string()),
      'The parts that could not be read, and why. They are left out.',
      {},
    ),
    queues: described(
      z.record(
        z.string(),
        z
          .object({
            ...jobs,
            error: described(z.string(), 'Why it could not be read.', 'ECONNREFUSED').optional(),
          })
          .meta({ id: 'QueueStatus', description: 'The jobs of a queue by state, or an error.' }),
      ),
      'Jobs by queue and state, or why a queue could not be read.',
      { creation: { waiting: 0, active: 1, delayed: 0 } },
    ).optional(),
    lag: z
      .object({
        ordersToCreate: count('Orders whose shipment is not created yet; counted up to 10,000.'),
        deliveriesDue: count('Deliveries that are due; counted up to 10,000.'),
        oldestDueSeconds: count('How long the oldest of them has been due.'),
      })
      .optional(),
    uncalled: z
      .object({
        ...uncalled,
        shippers: described(
          z.array(
            z
              .object({
                shipperId: uuid('The shipper.'),
                name: described(z.string(), 'Its name.', 'Acme'),
                ...uncalled,
              })
              .meta({
                id: 'UncalledOfShipper',
                description: 'Deliveries owed to webhooks of a shipper that are not called.',
              }),
          ),
          'The shippers that are owed the most, at most 10.',
        ),
      })
      .meta({
        description:
          'Deliveries owed to webhooks that are not called: paused, disabled, with an open circuit, or of a suspended shipper.',
      })
      .optional(),
    storedBytes: z
      .object({
        limit: described(z.int(), '`STORED_BYTES_PER_DAY`; 0: no limit.', 1_073_741_824),
        shippers: described(
          z.array(
            z
              .object({
                shipperId: uuid('The shipper.'),
                name: described(z.string(), 'Its name.', 'Acme'),
                bytes: count(
                  'Bytes of its orders, events and responses that were stored today (UTC).',
                  52_428_800,
                ),
                isLimited: described(z.boolean(), 'Whether its orders are refused.', false),
              })
              .meta({ id: 'StoredBytesOfShipper', description: 'The bytes stored for a shipper today.' }),
          ),
          'The shippers that have stored the most today (UTC), at most 10.',
        ),
      })
      .meta({ description: 'The bytes that shippers have stored today, and their limit.' })
      .optional(),
    openCircuits: count('Webhooks whose circuit is open.', 1).optional(),
    circuits: described(
      z.array(
        z
          .object({
            webhookId: uuid('The webhook.'),
            shipperId: uuid('Its shipper.'),
            failingSince: instant(
              'Its first failure since its last success; null if an attempt that began earlier has succeeded since.',
            ).nullable(),
            nextProbeAt: instant(
              'When the wait of the circuit ends. The next probe is a delivery that is due by then, or else the next to become due, so this time may be in the past.',
              '2026-11-21T12:00:30+00:00',
            ),
          })
          .meta({ id: 'OpenCircuit', description: 'A webhook whose circuit is open.' }),
      ),
      'Those webhooks, at most 100; the last to begin failing comes first.',
    ).optional(),
    clocks: described(
      z.array(
        z
          .object({
            host: described(z.string(), 'Name of the machine or the container.', 'worker-2'),
            role: described(z.string(), 'Role of the process.', 'worker'),
            aheadSeconds: described(z.number(), 'How far it is ahead; negative if it is behind.', 600),
            seenAt: instant('When it was last seen so.'),
          })
          .meta({ id: 'WrongClock', description: 'A process whose clock is wrong.' }),
      ),
      "Processes whose clocks differ from PostgreSQL's by more than 30 s, at most 100; the worst come first.",
    ).optional(),
    replays: described(z.array(replayProgress), 'Running replays, and the newest finished ones.').optional(),
    versions: z.object({
      parcelhook: described(z.string(), 'Version of the service.', version),
      node: described(z.string(), 'Version of Node.', '24.11.0'),
      postgres: described(
        z.string().nullable(),
        'Version of PostgreSQL; null if it could not be read.',
        '18.0',
      ),
      queueEngine: described(z.enum(['redis', 'postgres']), 'The store behind the queue.'),
    }),
  })
  .meta({ id: 'Status', description: 'How the service is doing.' });

const replaysShown = 20;
const circuitsShown = 100;
const clocksShown = 100;
const processesShown = 200;
const patienceMs = 8_000;
const countedMax = 10_000;
const uncalledCounted = 200_000;
const shippersShown = 10;

export async function readStatus(deps: {
  db: Database;
  engineKind: string;
  producers: Map<string, Producer>;
  stored: StoredBytes;
  /** DELIVERY_CONCURRENCY of the workers. */
  concurrency: number;
}): Promise<object> {
  const { db } = deps;
  const full = fullFrom(deps.concurrency);
  const readOwed = () => readBacklog(db, { ...full, last: { full: {}, readAtMs: 0 }, limit: countedMax });
  let backlog: ReturnType<typeof readOwed> | undefined;
  const parts: Record<string, () => Promise<unknown>> = {
    processes: async () => (await listProcesses(db, processesShown)).map(processView),
    backlog: async () => backlogView(await (backlog ??= readOwed())),
    queues: () => queuesView(deps.producers),
    lag: async () => {
      const { due, oldestDueSeconds } = await (backlog ??= readOwed());
      return {
        ordersToCreate: await countOrders(db),
        deliveriesDue: due,
        oldestDueSeconds: Math.round(oldestDueSeconds),
      };
    },
    uncalled: () => uncalledView(db),
    storedBytes: () => storedView(deps.stored),
    openCircuits: () => countOpenCircuits(db),
    circuits: async () => (await listOpenCircuits(db, circuitsShown)).map(circuitView),
    clocks: async () => (await listWrongClocks(db, clocksShown)).map(clockView),
    replays: async () => (await listReplays(db, replaysShown)).map(replayView),
    postgres: () =>
      db.query<{ postgres: string }>(
        'server-version',
        `select current_setting('server_version') as postgres`,
      ),
  };
  const read: Record<string, unknown> = {};
  const unread: Record<string, string> = {};
  const limit = AbortSignal.timeout(patienceMs);
  const late = new Promise<never>((_, reject) =>
    limit.addEventListener('abort', () => reject(new Error('it took too long'))),
  );
  late.catch(() => undefined);
  // The parts are read one after the other: requests need the connections.
  for (const [name, part] of Object.entries(parts)) {
    if (limit.aborted) unread[name] = 'the parts before it took too long';
    else
      await Promise.race([part(), late]).then(
        (value) => (read[name] = value),
        (error: unknown) => (unread[name] = reasonOf(error)),
      );
  }
  const { postgres, ...shown } = read;
  return {
    ...shown,
    unread,
    versions: {
      parcelhook: version,
      node: process.versions.node,
      postgres: (postgres as { postgres: string }[] | undefined)?.[0]?.postgres ?? null,
      queueEngine: deps.engineKind,
    },
  };
}

/** The cause is for operators; the message is for the callers of the API. */
const reasonOf = (error: unknown) => describeError((error as { cause?: unknown } | null)?.cause ?? error);

async function queuesView(producers: Map<string, Producer>): Promise<object> {
  const queues = await Promise.all(
    [...producers].map(async ([name, producer]) => [
      name,
      await producer.counts().catch((error: unknown) => ({ error: describeError(error) })),
    ]),
  );
  return Object.fromEntries(queues) as object;
}

async function countOrders(db: Database): Promise<number> {
  const [row] = await db.query<{ ordersToCreate: number }>(
    'count-orders-to-create',
    `select count(*)::int as "ordersToCreate" from (select 1 from orders_to_create limit ${countedMax}) s`,
  );
  return row!.ordersToCreate;
}

const backlogView = ({ sendable, oldestSendableSeconds, sending, waiting }: Backlog) => ({
  sendable,
  oldestSendableSeconds: Math.round(oldestSendableSeconds),
  sending,
  waiting,
});

const processView = ({ startedAt, seenAt, ...others }: Process) => ({
  ...others,
  startedAt: isoOffset(startedAt),
  seenAt: isoOffset(seenAt),
});

async function storedView(stored: StoredBytes): Promise<object> {
  const { limit } = stored;
  const shippers = await stored.largest();
  return { limit, shippers: shippers.map((one) => ({ ...one, isLimited: limit > 0 && one.bytes >= limit })) };
}

async function uncalledView(db: Database): Promise<object> {
  const shippers = await readUncalled(db, uncalledCounted);
  const sum = (count: 'webhooks' | 'deliveries') => shippers.reduce((total, { [count]: n }) => total + n, 0);
  return {
    deliveries: sum('deliveries'),
    isMore: shippers.some(({ isMore }) => isMore),
    webhooks: sum('webhooks'),
    shippers: shippers.slice(0, shippersShown),
  };
}

const circuitView = ({ webhookId, shipperId, failingSince, nextProbeAt }: OpenCircuit) => ({
  webhookId,
  shipperId,
  failingSince: isoOffset(failingSince),
  nextProbeAt: isoOffset(nextProbeAt),
});

const clockView = ({ host, role, aheadMs, seenAt }: WrongClock) => ({
  host,
  role,
  aheadSeconds: Math.round(aheadMs / 1_000),
  seenAt: isoOffset(seenAt),
});

export const statusRoute = (status: () => Promise<object>): Route =>
  operatorRoute({
    method: 'get',
    path: '/operator/v1/status',
    summary: 'Show how the service is doing',
    operationId: 'getStatus',
    description:
      'Shows queues, lag, deliveries owed to webhooks that are not called, what shippers have stored today, open circuits, wrong clocks, replays, versions and processes. A part that cannot be read is left out, and `unread` says why; a queue has an error instead.',
    responses: { 200: statusResponse },
    handle: async () => ({ data: await status() }),
  });
