import { listReplays } from '../deliveries/replay-store.js';
import type { Database } from '../platform/postgres.js';
import type { Producer } from '../platform/queue.js';
import { describeError } from '../platform/errors.js';
import { version } from '../version.js';
import { countOpenCircuits, oldestWaitingSeconds } from './lag-store.js';

const replaysShown = 20;

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
            (select count(*)::int from (select 1 from shipments where state is null limit 10000) s) as "ordersToCreate",
            (select count(*)::int from (select 1 from deliveries
               where sweep_at <= now() + interval '150 seconds' and status = 'PENDING' and due_at <= now()
               limit 10000) d) as "deliveriesDue"`,
  );
  const { postgres, ...counts } = row as Record<string, unknown>;
  return {
    queues: Object.fromEntries(queues) as object,
    lag: { ...counts, oldestDueSeconds: Math.round(await oldestWaitingSeconds(deps.db)) },
    openCircuits: await countOpenCircuits(deps.db),
    replays: await listReplays(deps.db, replaysShown),
    versions: { parcelhook: version, node: process.versions.node, postgres, queueEngine: deps.engineKind },
  };
}
