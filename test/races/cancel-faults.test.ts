import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { claimProbes } from '../../src/engine/outbox/claim.js';
import { requestRedelivery } from '../../src/catch-up/by-hand.js';
import { cancelReplay } from '../../src/catch-up/replay/cancel-replay.js';
import { endReplay } from '../../src/catch-up/replay/request-store.js';
import { durationsOf } from '../../src/platform/durations.js';
import { newId } from '../../src/platform/ids.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { drain, finish, leaseMs, longHoldMs, pull, record } from '../support/core/acts.js';
import { stopAt } from '../support/core/barriers.js';
import { expectSoundRows } from '../support/core/checks.js';
import { advance, askForReplay, cancel, progressOf, replay, withdrawing } from '../support/core/replays.js';
import { failForGood, now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { addShipment, logger, logOf, openCircuit, outboxOf, setStatus } from '../support/core/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

const failTwo = async () => {
  for (const one of [shipmentId, await addShipment(world)]) await record(world.db, one, ['CREATED']);
  await finish(world.db, await pull(world.db, webhookId), 'FAILED');
};
const lockOne = async () => {
  let letGo = (): void => undefined;
  const held = new Promise<void>((done) => (letGo = done));
  let locked = (): void => undefined;
  const isLocked = new Promise<void>((done) => (locked = done));
  const holding = world.db.transaction(async (tx) => {
    await tx.query('', 'select 1 from outbox order by delivery_id limit 1 for update');
    locked();
    await held;
  });
  await isLocked;
  return () => {
    letGo();
    return holding;
  };
};

test('a cancel does not wait for locked deliveries: these are not claimed, and a worker takes them back', async () => {
  await failTwo();
  const replayId = await replay(world, world.db, webhookId);
  const letGo = await lockOne();
  expect(await cancel(world, world.db, replayId)).toMatchObject({ status: 'CANCELLED' });
  expect(await now()).toEqual(['1 FAILED', '1 READY']);
  await letGo();
  expect(await pull(world.db, webhookId)).toEqual([]);
  await advance(world.db);
  expect(await now()).toEqual(['1 FAILED', '1 FAILED']);
  expect(await world.sql(withdrawing)).toEqual([]);
});

test('a second cancel right after the first also waits for earlier claims', async () => {
  await failForGood();
  const replayId = await replay(world, world.db, webhookId);
  await cancel(world, world.db, replayId);
  expect(await world.sql(withdrawing)).toEqual([]);
  const again = cancelReplay(
    {
      db: world.db,
      logger,
      durations: { ...durationsOf(), maxStartMs: 1_000, startMarginMs: 0 },
      orderHoldMs: longHoldMs,
      notify: () => undefined,
    },
    { kind: 'USER', name: null, address: null },
    { replayId, shipperId: null },
  );
  expect(await Promise.race([again, sleep(500, 'waiting')])).toBe('waiting');
  expect(await again).toMatchObject({ status: 'CANCELLED' });
});

test('once a large replay is cancelled, none of its deliveries is claimed, not even as a probe', async () => {
  const replayId = await askForReplay(world, webhookId);
  await world.sql(
    `insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at,
                         trigger, replay_id, only_replayed)
     select $1, gen_random_uuid(), gen_random_uuid(), $2, $3, n, 'CREATED', 'READY', now(), 'REPLAY', $4, true
       from generate_series(1, 5001) n`,
    [world.shipperId, webhookId, shipmentId, replayId],
  );
  const stop = stopAt(world, 'withdraw-page', 'SNAPSHOT');
  const cancelling = cancel(world, stop.db, replayId);
  await stop.reached;
  expect(await pull(world.db, webhookId)).toEqual([]);
  await openCircuit(world, webhookId, `now() - interval '1 second'`);
  expect(await claimProbes(world.db, leaseMs, leaseMs)).toEqual([]);
  stop.go();
  await cancelling;
  expect(await outboxOf(world)).toEqual([]);
});

test('a delivery that was owed anyway is claimed again once it is taken back, and its lane is notified', async () => {
  await setStatus(world, webhookId, 'PAUSED');
  await record(world.db, shipmentId, ['CREATED']);
  const replayId = await replay(world, world.db, webhookId);
  await setStatus(world, webhookId, 'ACTIVE');
  const stop = stopAt(world, 'withdraw-page', 'SNAPSHOT');
  const told: string[] = [];
  const cancelling = cancel(world, stop.db, replayId, (due) => told.push(...due.map((one) => one.webhookId)));
  await stop.reached;
  expect(await pull(world.db, webhookId)).toEqual([]);
  stop.go();
  await cancelling;
  expect(told).toContain(webhookId);
  expect(await pull(world.db, webhookId)).toMatchObject([{ trigger: 'SCHEDULED' }]);
});

test('replays that cannot be withdrawn block neither other withdrawals nor running replays', async () => {
  await failForGood();
  const bad = new Set(Array.from({ length: 20 }, newId));
  const cancelled = newId();
  await world.sql(
    `insert into replays (replay_id, webhook_id, shipper_id, last_event_id, end_event_id, status, withdrawing)
     select unnest($1::uuid[]), $2, $3, gen_random_uuid(), gen_random_uuid(), 'CANCELLED', true`,
    [[...bad, cancelled], webhookId, world.shipperId],
  );
  const failing = (db: Database): Database => ({
    query: (name, text, values) =>
      name === 'take-withdrawing' && bad.has(values![0] as string)
        ? Promise.reject(new Error('as planned'))
        : db.query(name, text, values),
    transaction: (work) => db.transaction((tx) => work(failing(tx))),
  });
  await askForReplay(world, webhookId);
  await advance(failing(world.db));
  expect(await now()).toEqual(['1 READY']);
  await advance(failing(world.db));
  const left = await world.sql<{ replay_id: string }>('select replay_id from replays where withdrawing');
  expect(new Set(left.map((row) => row.replay_id))).toEqual(bad);
});

test('a delivery that is in the log already leaves the outbox, and the log stays the same', async () => {
  await failForGood();
  const [kept] = await world.sql<{ row: unknown }>('select to_jsonb(d) as row from deliveries d');
  const before = await logOf(world);
  const replayId = await replay(world, world.db, webhookId);
  await world.sql('insert into deliveries select * from jsonb_populate_record(null::deliveries, $1)', [
    kept!.row,
  ]);
  await cancel(world, world.db, replayId);
  expect(await outboxOf(world)).toEqual([]);
  expect(await logOf(world)).toEqual(before);
  expect(await world.sql(withdrawing)).toEqual([]);
});

test('a delivery left by a cancelled replay for its manual attempt is claimed once another replay takes it over', async () => {
  await failForGood();
  const replayId = await replay(world, world.db, webhookId);
  const [row] = await outboxOf(world);
  await requestRedelivery(world.db, world.shipperId, row!.delivery_id); // so it stays
  await cancel(world, world.db, replayId);
  expect(await outboxOf(world)).toMatchObject([{ replay_id: replayId }]);
  expect(await pull(world.db, webhookId)).toEqual([]);
  await world.sql('delete from redeliveries');
  const second = await askForReplay(world, webhookId);
  await world.sql('update replays set withdrawing = false');
  await advance(world.db);
  expect(await outboxOf(world)).toMatchObject([{ replay_id: second }]);
  await expectSoundRows(world);
  await drain(world);
  expect(await now()).toEqual(['1 SUCCEEDED']);
});

test('a delivery that another replay takes over from a cancelled one counts as done for neither, and is not taken back', async () => {
  await failForGood();
  const cancelled = await replay(world, world.db, webhookId);
  await world.db.transaction((tx) => endReplay(tx, cancelled, world.shipperId));
  await world.sql(`update replays set next_at = now() + interval '1 minute'`); // before anything is taken back
  const other = await replay(world, world.db, webhookId);

  const owed = await world.sql<{ replay_id: string }>('select replay_id from outbox');
  expect(owed.map(({ replay_id }) => replay_id)).toEqual([other]);
  expect(await progressOf(world, cancelled)).toEqual(['CANCELLED', 0, 1]);
  expect(await progressOf(world, other)).toEqual(['RUNNING', 0, 1]);

  await world.sql('update replays set next_at = now()');
  await advance(world.db);
  expect(await outboxOf(world)).toHaveLength(1);
  expect(await progressOf(world, cancelled)).toEqual(['CANCELLED', 0, 1]);
});
