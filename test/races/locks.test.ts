import { describe, expect, test } from '@jest/globals';
import { giveBack, pullDue, renewLeases } from '../../src/engine/outbox/claim.js';
import { updateCircuits } from '../../src/engine/circuit/circuit.js';
import { lockOverdue } from '../../src/engine/circuit/store.js';
import { claimRedeliveries } from '../../src/engine/outbox/redelivery.js';
import { requestRedelivery } from '../../src/catch-up/by-hand.js';
import { releaseTurns } from '../../src/engine/outbox/turns.js';
import { recordEvents } from '../../src/engine/record/record.js';
import type { Database } from '../../src/platform/database/postgres.js';
import {
  collector,
  finish,
  leaseMs,
  longHoldMs,
  muchRoom,
  pull,
  record,
  recording,
} from '../support/core/acts.js';
import { doneOrWaiting, stopAt } from '../support/core/barriers.js';
import { setUpRaces, webhookId, world } from '../support/core/race.js';
import { durationsOf } from '../../src/platform/durations.js';
import { addShipment, addWebhook, openPool, outboxOf } from '../support/core/world.js';

setUpRaces();

const addShipments = (count: number) => Promise.all(Array.from({ length: count }, () => addShipment(world)));
const idsOf = (claims: { deliveryId: string }[]) => claims.map(({ deliveryId }) => deliveryId);
const deadlocks = async () => {
  const [row] = await world.sql<{ deadlocks: string }>(
    `select pg_stat_clear_snapshot(), deadlocks from pg_stat_database where datname = current_database()`,
  );
  return Number(row!.deadlocks);
};

describe('a claim', () => {
  test('is a HOT update: it touches no index, nor does giving it back or renewing its lease', async () => {
    // Few enough that one block of PostgreSQL has all their versions.
    for (const id of await addShipments(3)) await record(world.db, id, ['CREATED']);
    const db = openPool(world.databaseUrl, 1); // flushes its own statistics
    const before = await updates(db);
    const claims = await pull(db, webhookId);
    await renewLeases(db, claims, leaseMs);
    await giveBack(db, claims);
    const after = await updates(db);
    await db.end();
    expect({ all: after.all - before.all, hot: after.hot - before.hot }).toEqual({ all: 9, hot: 9 });
  });

  test('that cannot be given back because its row is locked is named, and given back once the lock is gone', async () => {
    for (const id of await addShipments(2)) await record(world.db, id, ['CREATED']);
    const claims = await pull(world.db, webhookId);
    const stop = stopAt(world, 'renew-leases', 'COMMIT');
    const renewing = renewLeases(stop.db, [claims[0]!], leaseMs);
    await stop.reached;
    expect(idsOf(await giveBack(world.db, claims))).toEqual([claims[0]!.deliveryId]);
    stop.go();
    await renewing;
    expect(await giveBack(world.db, [claims[0]!])).toEqual([]);
    expect((await outboxOf(world)).map(({ status }) => status)).toEqual(['READY', 'READY']);
  });

  test('waits for no lock: two pulls of one webhook share what is due', async () => {
    for (const id of await addShipments(20)) await record(world.db, id, ['CREATED']);
    const stop = stopAt(world, 'pull-due', 'COMMIT');
    const first = pull(stop.db, webhookId, 12);
    await stop.reached;
    const second = pull(world.db, webhookId, 12);
    expect(await doneOrWaiting(world.db, second)).toBe('done');
    stop.go();
    const ids = [...idsOf(await first), ...idsOf(await second)];
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
  });

  test('by hand waits for no lock: a locked delivery stays requested', async () => {
    const [one, two] = await addShipments(2);
    for (const id of [one!, two!]) await record(world.db, id, ['CREATED']);
    const rows = await outboxOf(world);
    for (const row of rows) await requestRedelivery(world.db, world.shipperId, row.delivery_id);
    const stop = stopAt(world, 'pull-due', 'COMMIT');
    const pulling = pull(stop.db, webhookId, 1);
    await stop.reached;
    const claiming = claimRedeliveries(
      world.db,
      rows.map((row) => row.delivery_id),
      leaseMs,
    );
    expect(await doneOrWaiting(world.db, claiming)).toBe('done');
    stop.go();
    const [pulled] = await pulling;
    expect(idsOf(await claiming)).toEqual(
      rows.flatMap((row) => (row.delivery_id === pulled!.deliveryId ? [] : row.delivery_id)),
    );
    await finish(world.db, [pulled!], 'RETRY');
    expect(idsOf(await claimRedeliveries(world.db, [pulled!.deliveryId], leaseMs))).toEqual(idsOf([pulled!]));
  });

  test('on an old snapshot takes nothing that was claimed meanwhile', async () => {
    for (const id of await addShipments(20)) await record(world.db, id, ['CREATED']);
    const stop = stopAt(world, 'pull-due', 'SNAPSHOT');
    const first = pull(stop.db, webhookId, 12);
    await stop.reached;
    const second = await pull(world.db, webhookId, 12);
    stop.go();
    const ids = [...idsOf(await first), ...idsOf(second)];
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids, ...idsOf(await pull(world.db, webhookId))]).toHaveLength(20);
  });

  test('after the last page leaves to the next full read what a late commit added', async () => {
    const [late, early] = (await addShipments(2)) as [string, string];
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recordingLate = record(stop.db, late, ['CREATED']);
    await stop.reached;
    await record(world.db, early, ['CREATED']);
    const [last] = await pullDue(world.db, [{ webhookId, room: 9, since: null }], leaseMs);
    const since = last!.dueAt;
    stop.go();
    await recordingLate;
    expect(await pullDue(world.db, [{ webhookId, room: 9, since }], leaseMs)).toEqual([]);
    expect(await pullDue(world.db, [{ webhookId, room: 9, since: null }], leaseMs)).toHaveLength(1);
  });
});

describe('rows are locked in one order, so there is no deadlock', () => {
  test('when two processes record the same shipments, in opposite orders and over each other', async () => {
    const shipments = await addShipments(10);
    const before = await deadlocks();
    await Promise.all(
      Array.from({ length: 12 }, (_, writer) => {
        const order = writer % 2 === 0 ? shipments : [...shipments].reverse();
        const events = order.map((shipmentId) => ({ shipmentId, state: 'CREATED' }));
        return recordEvents(recording(world.db, collector(), longHoldMs), events);
      }),
    );
    expect(await deadlocks()).toBe(before);
  });

  test('when outcomes of the same deliveries are settled in opposite orders', async () => {
    for (const id of await addShipments(50)) await record(world.db, id, ['CREATED']);
    const claims = await pull(world.db, webhookId);
    const before = await deadlocks();
    const stop = stopAt(world, 'settle', 'COMMIT');
    const first = finish(stop.db, claims.slice(0, 30), 'SUCCEEDED');
    await stop.reached;
    const second = finish(world.db, [...claims].reverse(), 'SUCCEEDED');
    await doneOrWaiting(world.db, second);
    stop.go();
    expect((await first).length + (await second).length).toBe(50);
    expect(await deadlocks()).toBe(before);
    expect(await outboxOf(world)).toEqual([]);
  });

  test('when turns of the same shipments are released while they are settled', async () => {
    const shipments = await addShipments(30);
    for (const id of shipments) await record(world.db, id, ['CREATED', 'PICKED_UP'], { room: muchRoom });
    await world.sql(`update outbox set lease_until = now() + interval '1 hour' where status = 'SENDING'`);
    const before = await deadlocks();
    const turns = shipments.map((shipmentId) => ({ webhookId, shipmentId }));
    const stop = stopAt(world, 'release-turns', 'COMMIT');
    const first = releaseTurns(stop.db, turns, longHoldMs);
    await stop.reached;
    const second = releaseTurns(world.db, [...turns].reverse(), longHoldMs);
    expect(await doneOrWaiting(world.db, second)).toBe('done');
    stop.go();
    expect([...(await first), ...(await second)]).toEqual([]); // the first states are still being sent
    expect(await deadlocks()).toBe(before);
  });
});

async function updates(db: Database): Promise<{ all: number; hot: number }> {
  await db.query('', 'select pg_stat_force_next_flush()');
  const [row] = await db.query<{ all: string; hot: string }>(
    '',
    `select n_tup_upd as all, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'outbox'`,
  );
  return { all: Number(row!.all), hot: Number(row!.hot) };
}

test('circuits are locked in one order, both for counting outcomes and for auto-disabling', async () => {
  const [hopeless, spared] = [webhookId, await addWebhook(world)].sort() as [string, string];
  await world.sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, failed_attempts,
                           failed_deliveries, last_failed_at)
     select unnest($1::uuid[]), now(), 0, 0, now() - interval '6 days', 10, array_fill(gen_random_uuid(), '{3}'), now()`,
    [[hopeless, spared]],
  );
  const claims = await record(world.db, await addShipment(world), ['CREATED'], { room: muchRoom });
  await finish(
    world.db,
    claims.filter((claim) => claim.webhookId === spared),
    'SUCCEEDED',
  );
  const before = await deadlocks();
  const failed = {
    storedAddress: 'http://receiver.test/',
    attempts: 1,
    failures: 1,
    failedDeliveries: [],
    succeededAgoMs: null,
    probe: null,
    retryAfterMs: 0,
    lastFailure: '500',
  };
  const outcomes = new Map([hopeless, spared].map((id) => [id, failed]));
  const made = stopAt(world, 'make-circuits', 'COMMIT');
  const counting = made.db.transaction((tx) => updateCircuits(tx, outcomes, durationsOf().circuit));
  await made.reached;
  const spare = stopAt(world, 'spare-succeeded', 'COMMIT');
  const looking = spare.db.transaction((tx) => lockOverdue(tx, durationsOf().circuit.failingAfterMs));
  await spare.reached;
  made.go();
  expect(await doneOrWaiting(world.db, counting)).toBe('waiting');
  spare.go();
  expect((await looking).hopeless).toEqual([hopeless]);
  expect(await counting).toHaveLength(2);
  expect(await deadlocks()).toBe(before);
});
