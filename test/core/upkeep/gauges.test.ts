import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readUncalled, readBacklog } from '../../../src/observe/owed.js';
import { createBacklogGauges, oldestSnapshotReader, refreshGauges } from '../../../src/observe/backlog.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { lapse, muchRoom, record, takeUpLapsed } from '../../support/core/acts.js';
import {
  addShipment,
  addWebhook,
  createWorld,
  forNewShipper,
  openPool,
  setStatus,
  type World,
} from '../../support/core/world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const depsWith = (metrics: ReturnType<typeof createMetrics>) => ({
  db: world.db,
  producers: new Map(),
  metrics,
  readOldestSnapshot: oldestSnapshotReader(world.db),
});
const gauge = async (name: string) => {
  const metrics = createMetrics();
  await refreshGauges(depsWith(metrics));
  await createBacklogGauges({ db: world.db, metrics, concurrency: 100 }).refresh();
  return figure(metrics, name);
};
const figure = async (metrics: ReturnType<typeof createMetrics>, name: string) =>
  Number(new RegExp(`^parcelhook_${name} (.+)$`, 'm').exec(await metrics.text())![1]);

test('an expired claim is shown until a process takes it over; a valid one is not shown', async () => {
  const oldest = () => gauge('oldest_lapsed_claim_seconds');
  await addWebhook(world);
  await record(world.db, await addShipment(world), ['CREATED'], { room: muchRoom });
  expect(await oldest()).toBe(0);
  await lapse(world);
  expect(await oldest()).toBeGreaterThan(0.9);
  await takeUpLapsed(world.db);
  expect(await oldest()).toBe(0);
});

test.each([
  ['that reads at one snapshot', 'begin isolation level repeatable read; select 1'],
  ['that has written something', 'begin; update shippers set name = name'],
])(
  "the oldest snapshot belongs to a transaction left open %s, and ends with it, whether or not its role's are visible",
  async (_what, begin) => {
    const role = `onlooker_${randomBytes(4).toString('hex')}`;
    await world.sql(`create role ${role} login password 'secret'`);
    const url = new URL(world.databaseUrl);
    Object.assign(url, { username: role, password: 'secret' });
    const others = openPool(url.href, 1);
    const [byOwner, byOther] = [oldestSnapshotReader(world.db), oldestSnapshotReader(others)];
    const forgotten = new pg.Client({ connectionString: world.databaseUrl });
    await forgotten.connect();
    await forgotten.query(begin);
    const write = () => world.sql('select pg_current_xact_id()');
    await write();
    await byOther();
    await sleep(1_100);
    await write();
    expect(await byOther()).toBeGreaterThan(1);
    expect(await byOwner()).toBeGreaterThan(1);
    expect(await gauge('postgres_oldest_snapshot_seconds')).toBeGreaterThan(1);
    await forgotten.query('commit');
    await write();
    expect(await byOther()).toBe(0);
    expect(await byOwner()).toBe(0);
    await forgotten.end();
    await others.end();
    await world.sql(`drop role ${role}`);
  },
);

test('deliveries owed to webhooks that are not called are counted up to a limit that they share', async () => {
  await world.sql('truncate outbox');
  const owing = async (webhooks: number, states: number, status: 'ACTIVE' | 'PAUSED' = 'PAUSED') => {
    const own = await forNewShipper(world);
    for (let n = 0; n < webhooks; n += 1)
      await setStatus(own, await addWebhook(own, { interests: ['IN_TRANSIT'] }), status);
    await record(own.db, await addShipment(own), Array<string>(states).fill('IN_TRANSIT'));
    return own.shipperId;
  };
  const much = await owing(1, 40);
  const little = await owing(2, 3);
  await owing(1, 5, 'ACTIVE');
  const counted = (shipperId: string, webhooks: number, deliveries: number, isMore: boolean) => ({
    shipperId,
    name: 'S',
    webhooks,
    deliveries,
    isMore,
  });
  expect(await readUncalled(world.db, 1_000)).toEqual([
    counted(much, 1, 40, false),
    counted(little, 2, 6, false),
  ]);
  expect(await readUncalled(world.db, 15)).toEqual([counted(little, 2, 6, false), counted(much, 1, 5, true)]);
  expect(await readUncalled(world.db, 1_000, 1)).toEqual([counted(much, 1, 40, false)]);
  expect(await gauge('deliveries_uncalled')).toBe(46);
});

test('the oldest due delivery is sought among a bounded number of webhooks with owed deliveries', async () => {
  await world.sql('truncate outbox');
  const own = await forNewShipper(world);
  for (let n = 0; n < 3; n += 1) await addWebhook(own);
  await record(own.db, await addShipment(own), ['CREATED']);
  const webhookIds = (await world.sql(`select webhook_id from outbox order by webhook_id`)).map(
    (row) => row.webhook_id as string,
  );
  for (const [n, id] of webhookIds.entries())
    await world.sql(`update outbox set due_at = now() - make_interval(secs => $2) where webhook_id = $1`, [
      id,
      100 * (n + 1),
    ]);
  const never = { fullFrom: 5, shipperFullFrom: 50, last: { full: {}, readAtMs: 0 } };
  const waited = async (maxWebhooks: number) =>
    Math.round((await readBacklog(world.db, { ...never, maxWebhooks })).oldestDueSeconds / 100);
  expect(webhookIds).toHaveLength(3);
  expect([await waited(1), await waited(2), await waited(3)]).toEqual([1, 2, 3]);
});

test('a gauge that can no longer be read has no series instead of its old value', async () => {
  const metrics = createMetrics();
  const deps = depsWith(metrics);
  await refreshGauges(deps);
  const names = ['postgres_oldest_snapshot_seconds', 'deliveries_uncalled', 'circuits_open'];
  const shown = async () => {
    const text = await metrics.text();
    return names.filter((name) => text.includes(`\nparcelhook_${name} `));
  };
  expect(await shown()).toEqual(names);
  const pool = openPool('postgres://nobody@127.0.0.1:1/none', 1);
  await expect(
    refreshGauges({ ...deps, db: pool, readOldestSnapshot: oldestSnapshotReader(pool) }),
  ).rejects.toThrow();
  expect(await shown()).toEqual([]);
  await pool.end();
});
