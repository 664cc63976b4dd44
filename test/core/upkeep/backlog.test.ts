import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HeldBack } from '../../../src/engine/engine.js';
import { readBacklog, readUncalled, type Backlog } from '../../../src/observe/owed.js';
import { createBacklogGauges, oldestSnapshotReader, refreshGauges } from '../../../src/observe/backlog.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { lapse, muchRoom, pull, record, takeUpLapsed } from '../../support/core/acts.js';
import {
  addShipment,
  addShipments,
  addWebhook,
  createWorld,
  forNewShipper,
  openCircuit,
  openPool,
  setStatus,
  type World,
} from '../../support/core/world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.sql('truncate outbox, circuits'));

const fullFrom = 5;
const shipperFullFrom = 250;
const nothing = { full: {}, readAtMs: 0 };
const read = (last: Pick<Backlog, 'full' | 'readAtMs'> = nothing, limit?: number, maxWebhooks?: number) =>
  readBacklog(world.db, {
    fullFrom,
    shipperFullFrom,
    last,
    ...(limit && { limit }),
    ...(maxWebhooks && { maxWebhooks }),
  });

/** Owes them to a shipper of its own; the deliveries are of different shipments, due for `seconds`. */
async function owed(count: number, seconds: number): Promise<{ own: World; webhookId: string }> {
  const own = await forNewShipper(world);
  const webhookId = await addWebhook(own);
  for (const shipmentId of await addShipments(own, count)) await record(own.db, shipmentId, ['CREATED']);
  // One after the other: of equal ones, another plan takes others first.
  await world.sql(
    `update outbox o set due_at = now() - make_interval(secs => $2 + d.place * 0.001)
       from (select delivery_id, row_number() over (order by delivery_id desc) as place
               from outbox where webhook_id = $1) d
      where o.webhook_id = $1 and o.delivery_id = d.delivery_id`,
    [webhookId, seconds],
  );
  return { own, webhookId };
}
const only = <Cause extends string>(counts: Record<Cause, number>) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
const expectOldest = ({ oldestSendableSeconds }: Backlog, seconds: number) => {
  expect(oldestSendableSeconds).toBeGreaterThanOrEqual(seconds);
  expect(oldestSendableSeconds).toBeLessThan(seconds + 5);
};

test('what is due and claimed by nobody is sendable, and has been since it was due', async () => {
  await owed(3, 100);
  await owed(2, 700);
  const backlog = await read();
  expect(backlog.sendable).toBe(5);
  expectOldest(backlog, 700);
  expect([only(backlog.waiting), only(backlog.unserved)]).toEqual([{}, {}]);
});

test('what is claimed is not sendable until its lease expires', async () => {
  const { webhookId } = await owed(1, 300);
  await pull(world.db, webhookId);
  expect(await read()).toMatchObject({ sendable: 0, oldestSendableSeconds: 0 });
  await world.sql(`update outbox set lease_until = now() - interval '1 second'`);
  const backlog = await read();
  expect(backlog.sendable).toBe(1);
  expectOldest(backlog, 300);
});

test.each<[string, (own: World, webhookId: string) => Promise<unknown>]>([
  ['paused', (own, webhookId) => setStatus(own, webhookId, 'PAUSED')],
  [
    'disabled',
    (_, webhookId) => world.sql(`update webhooks set status = 'DISABLED' where webhook_id = $1`, [webhookId]),
  ],
  [
    'suspended',
    (_, webhookId) => world.sql(`update webhooks set suspended = true where webhook_id = $1`, [webhookId]),
  ],
  ['circuit', (_, webhookId) => openCircuit(world, webhookId, `now() + interval '30 seconds'`)],
])(
  'what is owed to a webhook held by %s is not claimed: it waits for that, whatever else it waits for',
  async (cause, hold) => {
    const { own, webhookId } = await owed(4, 500);
    await record(own.db, await addShipment(own), ['CREATED', 'PICKED_UP']); // the second waits its turn
    await hold(own, webhookId);
    expect(await pull(world.db, webhookId)).toEqual([]);
    const backlog = await read();
    expect(backlog).toMatchObject({ sendable: 0, oldestSendableSeconds: 0 });
    expect([only(backlog.waiting), only(backlog.unserved)]).toEqual([{ [cause]: 6 }, { [cause]: 1 }]);
  },
);

test('the backlog of a resumed webhook has been sendable since it was resumed', async () => {
  const { own, webhookId } = await owed(2, 5_000);
  await setStatus(own, webhookId, 'PAUSED');
  await setStatus(own, webhookId, 'ACTIVE');
  const backlog = await read();
  expect(backlog.sendable).toBe(2);
  expectOldest(backlog, 0);
  const claims = await pull(world.db, webhookId);
  expect(claims).toHaveLength(2);
  for (const { sendableForMs } of claims) expect(sendableForMs).toBeLessThan(5_000);
});

test('a claim knows for how long its delivery has been due', async () => {
  const { webhookId } = await owed(1, 60);
  const [claim] = await pull(world.db, webhookId);
  expect(claim!.sendableForMs).toBeGreaterThanOrEqual(60_000);
  expect(claim!.sendableForMs).toBeLessThan(65_000);
});

test('what waits its turn or for its retry is not sendable', async () => {
  const { own, webhookId } = await owed(1, 0);
  await record(own.db, await addShipment(own), ['CREATED', 'PICKED_UP']);
  await world.sql(
    `update outbox set status = 'RETRY', due_at = now() + interval '1 minute', first_failed_at = now()
      where webhook_id = $1 and not waits_turn`,
    [webhookId],
  );
  const backlog = await read();
  expect(backlog.sendable).toBe(0);
  expect([only(backlog.waiting), only(backlog.unserved)]).toEqual([{ turn: 1, retry: 2 }, {}]);
});

test('a webhook without a success since its last failure is failing', async () => {
  const { webhookId } = await owed(1, 1);
  await world.sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since)
     values ($1, now(), 1, 1, now())`,
    [webhookId],
  );
  expect(only((await read()).unserved)).toEqual({ failing: 1 });
});

test('what is due to a receiver with as many attempts as it may have waits for it', async () => {
  const { webhookId } = await owed(20, 900);
  await pull(world.db, webhookId, fullFrom - 1);
  expectOldest(await read(), 900);
  await pull(world.db, webhookId, 1);
  const full = await read();
  expect(full).toMatchObject({ sendable: 0, oldestSendableSeconds: 0 });
  expect([only(full.waiting), only(full.unserved)]).toEqual([{ receiver: 15 }, { slow: 1 }]);

  // Its attempts end, and the next read falls before the claims that follow.
  await world.sql(`update outbox set lease_until = now() - interval '1 second' where status = 'SENDING'`);
  const next = await read(full);
  expect(next).toMatchObject({ sendable: 0, unserved: { slow: 1 } });
  const later = await read(next);
  expect(later.sendable).toBe(20);
  expectOldest(later, 0); // since it was last seen full, not since it was due
  expectOldest(await read(), 900);
});

test('what a worker holds back is sendable with all behind it, although its claims would fill the receiver', async () => {
  const { webhookId } = await owed(20, 900);
  await pull(world.db, webhookId, fullFrom);
  const heldBack = (held: Partial<HeldBack>) => ({
    [webhookId]: { count: fullFrom, sendableForMs: 950_000, freeForMs: null, ...held },
  });
  const readBy = (held: Partial<HeldBack>, last = nothing) =>
    readBacklog(world.db, { fullFrom, shipperFullFrom, last, heldBack: heldBack(held) });
  const before = await read();
  expect(before).toMatchObject({ sendable: 0, unserved: { slow: 1 } });

  // The worker has sent to nobody there, and its claims are the longest due.
  const justBefore = { full: {}, readAtMs: before.readAtMs };
  const never = await readBy({}, justBefore);
  expect(never).toMatchObject({ sendable: 20, unserved: { slow: 0 } });
  expectOldest(never, 950);
  // The receiver had room for the whole time since the last read, which was a minute ago.
  const starved = await readBy({ freeForMs: 90_000 }, { full: {}, readAtMs: before.readAtMs - 60_000 });
  expect(starved.sendable).toBe(20);
  expectOldest(starved, 90);
  // The claims have begun, and their attempts are over: they wait to be settled.
  const unsettled = await readBy({ count: 0, sendableForMs: 0, freeForMs: 90_000 }, justBefore);
  expect(unsettled.sendable).toBe(15);
  // It was full since the last read.
  const full = await readBy({ freeForMs: 5_000 }, { full: {}, readAtMs: before.readAtMs - 60_000 });
  expect(full).toMatchObject({ sendable: 0, oldestSendableSeconds: 0, unserved: { slow: 1 } });
});

test('a slow receiver is seen, with what waits for it, when so many webhooks are owed that its claims fill its share', async () => {
  const { webhookId } = await owed(40, 900);
  await pull(world.db, webhookId, 10);
  for (let n = 0; n < 3; n += 1) await owed(1, 10);
  const backlog = await read(nothing, 4 * (fullFrom + 1));
  expect([only(backlog.waiting), only(backlog.unserved)]).toEqual([{ receiver: fullFrom + 1 }, { slow: 1 }]);
  expect(backlog.sendable).toBe(3);
  expectOldest(backlog, 10);
});

test('what is due to a shipper with as many claims as it may have at slow receivers waits for them', async () => {
  const { own, webhookId } = await owed(10, 900);
  const second = await addWebhook(own);
  await record(own.db, await addShipment(own), ['CREATED']); // to both
  await owed(1, 20);
  await pull(world.db, webhookId, 3);
  await pull(world.db, second, 1);
  const readFrom = (from: number) =>
    readBacklog(world.db, { fullFrom, shipperFullFrom: from, last: nothing });
  const few = await readFrom(5);
  expect(few.sendable).toBe(9);
  expectOldest(few, 900);
  const full = await readFrom(4);
  expect(full).toMatchObject({ sendable: 1, waiting: { receiver: 8 }, unserved: { slow: 1 } });
  expectOldest(full, 20);
});

test('the backlog is read for a bounded number of webhooks and deliveries, the same number for each', async () => {
  for (let n = 0; n < 3; n += 1) await owed(30, 10);
  expect((await read(nothing, 1_000)).sendable).toBe(90);
  expect((await read(nothing, 60)).sendable).toBe(60);
  expect((await read(nothing, 1_000, 2)).sendable).toBe(60);
});

const names = [
  'sendable_deliveries',
  'sendable_oldest_seconds',
  'waiting_deliveries{cause="paused"}',
  'webhooks_unserved{cause="slow"}',
  'orders_uncreated',
  'order_oldest_uncreated_seconds',
];
const shown = async (metrics: ReturnType<typeof createMetrics>, of = names) => {
  const text = await metrics.text();
  return of.filter((name) => text.includes(`\nparcelhook_${name} `));
};

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

test('gauges have no series before the first read, and none after one that failed', async () => {
  const metrics = createMetrics();
  const { db } = world;
  let reachable = true;
  const away = openPool('postgres://nobody@127.0.0.1:1/none', 1);
  const query: World['db']['query'] = (...given) => (reachable ? db : away).query(...given);
  const gauges = createBacklogGauges({ db: { ...db, query }, metrics, concurrency: 100 });
  expect(await shown(metrics)).toEqual([]);
  await gauges.refresh();
  expect(await shown(metrics)).toEqual(names);
  reachable = false;
  await expect(gauges.refresh()).rejects.toThrow();
  expect(await shown(metrics)).toEqual([]);
  reachable = true;
  await gauges.refresh();
  expect(await shown(metrics)).toEqual(names);
  await away.end();
});

test('gauges have no series a minute after the last read', async () => {
  const metrics = createMetrics();
  let nowMs = 0;
  const gauges = createBacklogGauges({ db: world.db, metrics, concurrency: 100, now: () => nowMs });
  await gauges.refresh();
  nowMs = 59_000;
  expect(await shown(metrics)).toEqual(names);
  nowMs = 61_000;
  expect(await shown(metrics)).toEqual([]);
});

test('orders without a shipment are counted, with the age of the oldest', async () => {
  const metrics = createMetrics();
  const gauges = createBacklogGauges({ db: world.db, metrics, concurrency: 100 });
  const value = (name: string) => figure(metrics, name);
  await gauges.refresh();
  expect([await value('orders_uncreated'), await value('order_oldest_uncreated_seconds')]).toEqual([0, 0]);
  for (const shipmentId of await addShipments(world, 2))
    await world.sql(`insert into orders_to_create values ($1)`, [shipmentId]);
  await world.sql(`update shipments set accepted_at = now() - interval '40 seconds'
                    where shipment_id = (select min(shipment_id::text)::uuid from orders_to_create)`);
  await gauges.refresh();
  expect(await value('orders_uncreated')).toBe(2);
  expect(await value('order_oldest_uncreated_seconds')).toBeGreaterThanOrEqual(40);
});

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
  ['reads at one snapshot', 'begin isolation level repeatable read; select 1'],
  ['has written something', 'begin; update shippers set name = name'],
])(
  'the oldest snapshot is of a transaction that %s, seen by any role, and ends with it',
  async (_, begin) => {
    const role = `onlooker_${randomBytes(4).toString('hex')}`;
    await world.sql(`create role ${role} login password 'secret'`);
    const url = Object.assign(new URL(world.databaseUrl), { username: role, password: 'secret' });
    const others = openPool(url.href, 1);
    const readers = [oldestSnapshotReader(world.db), oldestSnapshotReader(others)];
    const read = () => Promise.all(readers.map((reader) => reader()));
    const forgotten = new pg.Client({ connectionString: world.databaseUrl });
    await forgotten.connect();
    await forgotten.query(begin);
    const write = () => world.sql('select pg_current_xact_id()');
    await write();
    await read();
    await sleep(1_100);
    await write();
    expect(Math.min(...(await read()))).toBeGreaterThan(1);
    await forgotten.query('commit');
    await write();
    expect(Math.max(...(await read()))).toBeLessThan(0.1); // one reading may see the snapshot of the other
    await Promise.all([forgotten.end(), others.end()]);
    await world.sql(`drop role ${role}`);
  },
);

test('deliveries owed to webhooks that are not called are counted up to a limit that they share', async () => {
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
  const own = ['postgres_oldest_snapshot_seconds', 'deliveries_uncalled', 'circuits_open'];
  expect(await shown(metrics, own)).toEqual(own);
  const pool = openPool('postgres://nobody@127.0.0.1:1/none', 1);
  await expect(
    refreshGauges({ ...deps, db: pool, readOldestSnapshot: oldestSnapshotReader(pool) }),
  ).rejects.toThrow();
  expect(await shown(metrics, own)).toEqual([]);
  await pool.end();
});
