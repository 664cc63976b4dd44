import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tmpdir } from 'node:os';
import pg from 'pg';
import { dropExpiredDays, makeLogPartitions } from '../../src/history/retention/retention.js';
import {
  refreshLimits,
  refreshSizes,
  refreshTables,
  type InfrastructureDependencies,
} from '../../src/observe/infrastructure.js';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import { createQueueEngine, type QueueEngine } from '../../src/platform/queue/engine.js';
import { createWorld, logger, openPool, type World } from '../support/core/world.js';
import { redisProgram, startRedis } from '../support/redis.js';

const dayMs = 86_400_000;
const mebibyte = 1_048_576;

let world: World;
let queueOnPostgres: QueueEngine;
beforeAll(async () => {
  world = await createWorld();
  queueOnPostgres = openQueue(undefined);
});
afterAll(async () => {
  await queueOnPostgres.close();
  await world.stop();
});

const openQueue = (redisUrl: string | undefined) =>
  createQueueEngine({ redisUrl, databaseUrl: world.databaseUrl, prefix: 'memory', logger });

const dependencies = (changes: Partial<InfrastructureDependencies> = {}): InfrastructureDependencies => ({
  db: world.db,
  engine: queueOnPostgres,
  metrics: createMetrics(),
  sizeLimitBytes: undefined,
  retentionMs: { log: 30 * dayMs, audit: 400 * dayMs, shipments: 400 * dayMs },
  ...changes,
});

/** `table_size_bytes{table="events"}`; null without the series. */
async function figure({ metrics }: InfrastructureDependencies, name: string): Promise<number | null> {
  const line = (await metrics.text()).split('\n').find((text) => text.startsWith(`parcelhook_${name} `));
  return line === undefined ? null : Number(line.split(' ')[1]);
}

test('a new deployment has partitions for two days before its first maintenance', async () => {
  const fresh = await createWorld();
  try {
    const deps = dependencies({ db: fresh.db });
    await refreshSizes(deps, Date.now());
    for (const table of ['deliveries', 'attempts', 'events'])
      expect(await figure(deps, `partitions_ahead_days{table="${table}"}`)).toBeGreaterThan(2);
  } finally {
    await fresh.stop();
  }
});

test('a size is what PostgreSQL says, grows with the data, and has its partitions in it', async () => {
  const deps = dependencies();
  const read = async () => {
    await refreshSizes(deps, Date.now());
    await refreshTables(deps, Date.now());
    return {
      database: (await figure(deps, 'database_size_bytes'))!,
      log: (await figure(deps, 'table_size_bytes{table="deliveries"}'))!,
      events: (await figure(deps, 'table_size_bytes{table="events"}'))!,
    };
  };
  const before = await read();
  await world.sql(
    `insert into events (event_id, shipper_id, sequence, state, recorded_at, body, position)
     select uuid_floor(now() + n * interval '1 ms'), $1, 0, 'TEST', now(), repeat(md5(n::text), 20), 0
       from generate_series(1, 4000) n`,
    [world.shipperId],
  );
  const after = await read();
  expect(after.events - before.events).toBeGreaterThan(mebibyte);
  expect(after.database - before.database).toBeGreaterThan(mebibyte);
  const [log] = await world.sql<{ bytes: number }>(
    `select sum(pg_total_relation_size(relid))::float8 as bytes from pg_partition_tree('deliveries')`,
  );
  expect(after.log).toBe(log!.bytes);
  expect(await deps.metrics.text()).not.toMatch(/table="\w+_\d{6}/);
});

test('the days of partitions ahead fall while nobody makes them, down to 0', async () => {
  await makeLogPartitions(world.db);
  const deps = dependencies();
  const aheadIn = async (days: number) => {
    await refreshSizes(deps, Date.now() + days * dayMs);
    return Promise.all(
      ['deliveries', 'attempts', 'events'].map((table) =>
        figure(deps, `partitions_ahead_days{table="${table}"}`),
      ),
    );
  };
  const [log, attempts, events] = await aheadIn(0);
  expect(log).toBeGreaterThan(7);
  expect(log).toBeLessThanOrEqual(8);
  expect(attempts).toBeCloseTo(log!, 2);
  expect(events).toBeGreaterThanOrEqual(log! - 0.01);
  expect((await aheadIn(6))[0]).toBeCloseTo(log! - 6, 2);
  expect((await aheadIn(50)).every((days) => days === 0)).toBe(true);
});

test('the retention is behind by the age of the oldest day beyond it, until that is dropped', async () => {
  await world.sql(
    `select make_log_partitions((now() - interval '41 days')::date, (now() - interval '41 days')::date)`,
  );
  const deps = dependencies();
  const behind = async (table: string) => {
    await refreshTables(deps, Date.now());
    return figure(deps, `retention_behind_days{table="${table}"}`);
  };
  expect(await behind('deliveries')).toBeGreaterThan(9.9);
  expect(await behind('attempts')).toBeLessThan(11.1);
  await dropExpiredDays(world.db, 30 * dayMs, logger);
  expect([await behind('deliveries'), await behind('attempts')]).toEqual([0, 0]);
});

test('the retention of the audit log and of shipments is behind by the days that the oldest row is overdue', async () => {
  const deps = dependencies();
  const oldId = `select uuid_floor(now() - interval '403 days')`;
  await world.sql(
    `insert into audit (audit_id, at, action, outcome, actor_kind) values ((${oldId}), now() - interval '403 days', 'LOGIN_REFUSED', 'REFUSED', 'UNKNOWN')`,
  );
  await world.sql(
    `insert into shipments_to_erase (shipment_id, last_state_at) values ((${oldId}), now() - interval '405 days')`,
  );
  await refreshTables(deps, Date.now());
  expect(await figure(deps, 'retention_behind_days{table="audit"}')).toBeCloseTo(3, 1);
  expect(await figure(deps, 'retention_behind_days{table="shipments"}')).toBeCloseTo(5, 1);
});

test('connections are counted against the limit that is nearest', async () => {
  const deps = dependencies();
  const read = async () => {
    await refreshLimits(deps);
    return [await figure(deps, 'postgres_connections'), await figure(deps, 'postgres_connections_limit')];
  };
  const [server] = await world.sql<{ max: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max`,
  );
  expect(await read()).toEqual([expect.any(Number), server!.max]);
  expect(await figure(deps, 'postgres_transaction_id_age')).toBeGreaterThan(0);
  const name = new URL(world.databaseUrl).pathname.slice(1);
  await world.sql(`alter database ${pg.escapeIdentifier(name)} connection limit 20`);
  const [before] = await read();
  const others = Array.from({ length: 5 }, () => new pg.Client({ connectionString: world.databaseUrl }));
  for (const other of others) await other.connect();
  const [used, limit] = await read();
  expect(limit).toBe(20);
  expect(used! - before!).toBeGreaterThanOrEqual(5);
  await Promise.all(others.map((other) => other.end()));
});

test('what PostgreSQL does not say has no series any more', async () => {
  const deps = dependencies();
  const series = async () =>
    (await deps.metrics.text())
      .split('\n')
      .filter((line) =>
        /^parcelhook_(database|table|partitions|retention|postgres|redis)_(?!pool|oldest)/.test(line),
      );
  expect(await series()).toEqual([]);
  await Promise.all([refreshLimits(deps), refreshSizes(deps, Date.now()), refreshTables(deps, Date.now())]);
  expect((await series()).length).toBeGreaterThan(20);
  const nowhere = openPool('postgres://nobody@127.0.0.1:1/none', 1);
  const away = { ...deps, db: nowhere };
  await expect(refreshLimits(away)).rejects.toThrow();
  await expect(refreshSizes(away, Date.now())).rejects.toThrow();
  await expect(refreshTables(away, Date.now())).rejects.toThrow();
  expect(await series()).toEqual([]);
  await nowhere.end();
});

(redisProgram ? describe : describe.skip)('the memory of Redis', () => {
  const start = async (settings: string[]) => {
    const redis = (await startRedis(tmpdir(), undefined, settings))!;
    const engine = openQueue(redis.url);
    await engine.prepare();
    const deps = dependencies({ engine });
    const read = async () => {
      await refreshLimits(deps);
      return [await figure(deps, 'redis_memory_bytes'), await figure(deps, 'redis_memory_limit_bytes')];
    };
    return { redis, engine, deps, read };
  };

  test('is shown with its limit, and not any more once Redis is away', async () => {
    const { redis, engine, deps, read } = await start(['--maxmemory', '64mb']);
    expect(await read()).toEqual([expect.any(Number), 64 * mebibyte]);
    expect(await figure(deps, 'redis_memory_bytes')).toBeGreaterThan(100_000);
    await redis.stop();
    expect(await read()).toEqual([null, null]);
    expect(await figure(deps, 'postgres_connections')).toBeGreaterThan(0);
    await engine.close();
  });

  test('has no limit where none is set', async () => {
    const { redis, engine, read } = await start([]);
    expect(await read()).toEqual([expect.any(Number), null]);
    await engine.close();
    await redis.stop();
  });
});
