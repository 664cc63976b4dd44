import { listReplays } from '../deliveries/replay-store.js';
import type { Database } from '../platform/postgres.js';
import type { Producer } from '../platform/queue.js';
import { describeError } from '../platform/errors.js';
import { version } from '../version.js';

const replaysShown = 20;

// What is due has its sweep_at within two minutes and a half, so future retries need not be looked at.

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
            (select count(*)::int from circuits where open_until is not null) as "openCircuits",
            (select count(*)::int from (select 1 from shipments where state is null limit 10000) s) as "ordersToCreate",
            (select count(*)::int from (select 1 from deliveries
               where sweep_at <= now() + interval '150 seconds' and status = 'PENDING' and due_at <= now()
               limit 10000) d) as "deliveriesDue",
            (select coalesce(extract(epoch from now() - min(due_at)), 0)::int from (
               select due_at from deliveries
                where sweep_at is not null and status = 'PENDING' and not claimed
                order by sweep_at limit 1000) d where due_at <= now()) as "oldestDueSeconds"`,
  );
  const { postgres, openCircuits, ...lag } = row as Record<string, unknown>;
  return {
    queues: Object.fromEntries(queues) as object,
    lag,
    openCircuits,
    replays: await listReplays(deps.db, replaysShown),
    versions: { parcelhook: version, node: process.versions.node, postgres, queueEngine: deps.engineKind },
  };
}
