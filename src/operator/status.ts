import { listReplays, replayView } from '../deliveries/replay/progress-store.js';
import { isoOffset } from '../http/envelope.js';
import type { Database } from '../platform/database/postgres.js';
import type { Producer } from '../platform/queue/engine.js';
import { describeError } from '../platform/errors.js';
import { version } from '../version.js';
import {
  countOpenCircuits,
  listOpenCircuits,
  readLag,
  readUncalled,
  type OpenCircuit,
} from '../deliveries/outbox/lag.js';

const replaysShown = 20;
const circuitsShown = 100;
const countedMax = 10_000;
const uncalledCounted = 200_000;
const shippersShown = 10;

/** `GET /operator/v1/status`: queues, lag, open circuits, replays, versions. A part that is away says so. */
export async function readStatus(deps: {
  db: Database;
  engineKind: string;
  producers: Map<string, Producer>;
}): Promise<object> {
  const queues = await Promise.all(
    [...deps.producers].map(async ([name, producer]) => [
      name,
      await producer.counts().catch((error: unknown) => ({ error: describeError(error) })),
    ]),
  );
  const [row] = await deps.db.query(
    'read-status',
    `select current_setting('server_version') as postgres,
            (select count(*)::int from (select 1 from orders_to_create limit ${countedMax}) s) as "ordersToCreate"`,
  );
  const { postgres, ordersToCreate } = row as Record<string, unknown>;
  const { due, oldestDueSeconds } = await readLag(deps.db, countedMax);
  return {
    queues: Object.fromEntries(queues) as object,
    lag: { ordersToCreate, deliveriesDue: due, oldestDueSeconds: Math.round(oldestDueSeconds) },
    uncalled: await uncalledView(deps.db),
    openCircuits: await countOpenCircuits(deps.db),
    circuits: (await listOpenCircuits(deps.db, circuitsShown)).map(circuitView),
    replays: (await listReplays(deps.db, replaysShown)).map(replayView),
    versions: { parcelhook: version, node: process.versions.node, postgres, queueEngine: deps.engineKind },
  };
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
