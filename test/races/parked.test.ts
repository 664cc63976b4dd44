import { describe, expect, test } from '@jest/globals';
import { parkPage } from '../../src/catch-up/replay/parked-store.js';
import { advanceReplays } from '../../src/catch-up/replay/replay.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { markDeleted } from '../../src/webhooks/store.js';
import {
  createSweeper,
  drain,
  finish,
  longHoldMs,
  muchRoom,
  pull,
  record,
  recordAll,
  terminalStates,
} from '../support/core/acts.js';
import { doneOrWaiting, stopAt } from '../support/core/barriers.js';
import { expectEachOnce, expectNoneStranded, expectSoundRows, notOnce } from '../support/core/checks.js';
import { advance, askForReplay, cancel, horizon, progressOf, replay } from '../support/core/replays.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { addShipments, addWebhook, logger, openCircuit, outboxOf, setStatus } from '../support/core/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

const park = (db: Database = world.db, parkedAfter = 1) =>
  parkPage(db, null, { limit: 100, parkedAfter }).then(({ parked }) => parked);
const isParked = async () =>
  (await world.sql(`select 1 from replays where kind = 'PARKED' and status = 'RUNNING'`)).length > 0;
const pause = () => setStatus(world, webhookId, 'PAUSED');
const resume = () => setStatus(world, webhookId, 'ACTIVE');
const hasRows = async () => (await outboxOf(world, webhookId)).length;
const sent = async () => {
  const claims = (await drain(world)).flat();
  return claims.map((claim) => `${claim.shipmentId} ${claim.sequence}`);
};

/** It was owed one state of a shipment when it was paused and parked. */
const setUpParked = async () => {
  await pause();
  await record(world.db, shipmentId, ['CREATED']);
  expect(await park()).toEqual([webhookId]);
};

test('only webhooks that are not called and are owed enough rows are parked', async () => {
  const called = await addWebhook(world);
  await pause();
  const shipments = await addShipments(world, 3);
  await recordAll(world.db, [
    [shipments[0]!, 'CREATED'],
    [shipments[1]!, 'CREATED'],
  ]);
  expect(await park(world.db, 3)).toEqual([]);
  await record(world.db, shipments[2]!, ['CREATED']);
  expect(await park(world.db, 3)).toEqual([webhookId]);
  expect(await park(world.db, 3)).toEqual([]);
  await record(world.db, shipments[0]!, ['PICKED_UP'], { room: muchRoom });
  expect(await outboxOf(world, webhookId)).toHaveLength(3);
  expect(await outboxOf(world, called)).toHaveLength(4);
});

test.each([
  ['disabled', () => world.sql(`update webhooks set status = 'DISABLED'`)],
  ['suspended', () => world.sql('update webhooks set suspended = true')],
  ['given a rest', () => openCircuit(world, webhookId, `now() + interval '1 hour'`)],
])('a webhook that is %s is parked, too', async (_, stop) => {
  await record(world.db, shipmentId, ['CREATED']);
  await stop();
  expect(await park()).toEqual([webhookId]);
});

test('the misses of a parked webhook are sent once when it is called again: first its rows, all in order', async () => {
  await setUpParked();
  const others = await addShipments(world, 20);
  for (const state of ['PICKED_UP', 'IN_TRANSIT']) await record(world.db, shipmentId, [state]);
  await recordAll(
    world.db,
    others.map((id) => [id, 'CREATED']),
  );
  await advance(world.db);
  expect(await hasRows()).toBe(1); // not called yet
  await resume();
  await advance(world.db);
  expect(await isParked()).toBe(false);
  await expectSoundRows(world);
  await expectNoneStranded(world);
  const [first, ...rest] = await pull(world.db, webhookId, 1);
  expect([first!.sequence, rest]).toEqual([1, []]);
  await finish(world.db, [first!], 'SUCCEEDED');
  const order = await sent();
  expect(order.filter((one) => one.startsWith(shipmentId))).toEqual([`${shipmentId} 2`, `${shipmentId} 3`]);
  await expectEachOnce(world, [webhookId], [shipmentId, ...others]);
  await record(world.db, shipmentId, ['DELIVERED']);
  expect(await hasRows()).toBe(1);
});

test('without ordering by shipment they are sent in recording order', async () => {
  await world.sql(`update webhooks set ordering = 'NONE'`);
  await setUpParked();
  const others = await addShipments(world, 30);
  for (const id of others) await record(world.db, id, ['CREATED']);
  await resume();
  await advance(world.db);
  expect(await world.sql('select distinct due_at::text from outbox')).toHaveLength(31);
  const claims = [];
  for (
    let page = await pull(world.db, webhookId, 5);
    page.length > 0;
    page = await pull(world.db, webhookId, 5)
  )
    claims.push(
      ...page.map((claim) => claim.shipmentId).sort((a, b) => others.indexOf(a!) - others.indexOf(b!)),
    );
  expect(claims).toEqual([shipmentId, ...others]);
});

test('a webhook paused again halfway keeps its position; later misses come later', async () => {
  await setUpParked();
  await record(world.db, shipmentId, ['PICKED_UP']);
  await resume();
  const stop = stopAt(world, 'take-parked-to-end', 'COMMIT'); // a piece is made, the end is not yet
  const advancing = advance(stop.db);
  await stop.reached;
  await pause();
  stop.go();
  await advancing;
  await record(world.db, shipmentId, ['IN_TRANSIT']);
  await park();
  const parked = await isParked();
  await resume();
  await advance(world.db);
  expect(await isParked()).toBe(false);
  expect(await sent()).toEqual([1, 2, 3].map((sequence) => `${shipmentId} ${sequence}`));
  expect(parked).toBe(true);
  await expectEachOnce(world, [webhookId], [shipmentId]);
});

test('a piece whose worker is killed leaves no rows, and another worker makes it', async () => {
  await setUpParked();
  await record(world.db, shipmentId, ['PICKED_UP']);
  await resume();
  const stop = stopAt(world, 'unpark-piece', 'COMMIT');
  const advancing = advance(stop.db).catch(() => undefined);
  await stop.reached;
  await world.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`,
  );
  stop.go();
  await advancing;
  expect(await hasRows()).toBe(1);
  await world.sql('update replays set next_at = now()');
  await advance(world.db);
  await expectEachOnce(world, [webhookId], [shipmentId]);
});

describe('a state that is recorded while its webhook is parked', () => {
  test('gets a row if the recording statement saw the webhook before it was parked', async () => {
    await pause();
    await record(world.db, shipmentId, ['CREATED']);
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recording = record(stop.db, (await addShipments(world, 1))[0]!, ['CREATED']);
    await stop.reached;
    expect(await park()).toEqual([webhookId]);
    stop.go();
    await recording;
    expect(await hasRows()).toBe(2);
    await resume();
    await advance(world.db);
    expect(await sent()).toHaveLength(2);
  });

  test('is not skipped if its transaction is older than one already read', async () => {
    await setUpParked();
    const [late, early] = (await addShipments(world, 2)) as [string, string];
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recording = record(stop.db, late, ['CREATED']);
    await stop.reached;
    await record(world.db, early, ['CREATED']);
    await resume();
    const advancing = advance(world.db);
    await doneOrWaiting(world.db, advancing);
    expect(await isParked()).toBe(true); // the end waits for the recording transaction
    stop.go();
    await Promise.all([recording, advancing]);
    expect(await isParked()).toBe(false);
    await sent();
    await expectEachOnce(world, [webhookId], [shipmentId, late, early]);
  });

  test('and committed before the end is made is among the missed events', async () => {
    await setUpParked();
    await resume();
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recording = record(stop.db, shipmentId, ['PICKED_UP']);
    await stop.reached;
    const advancing = advance(world.db);
    expect(await doneOrWaiting(world.db, advancing)).toBe('waiting');
    stop.go();
    await Promise.all([recording, advancing]);
    expect(await isParked()).toBe(false);
    expect(await now()).toEqual(['1 READY', '2 waits']);
    expect(await sent()).toEqual([1, 2].map((sequence) => `${shipmentId} ${sequence}`));
    await expectEachOnce(world, [webhookId], [shipmentId]);
  });

  test('while the end is being made: the recording waits, gets a row, and waits its turn', async () => {
    await setUpParked();
    await resume();
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    const held = stopAt(world, 'insert-events', 'COMMIT');
    const [other] = (await addShipments(world, 1)) as [string];
    const inFlight = record(held.db, other, ['CREATED']); // no piece passes it: the rest is left to the end
    await held.reached;
    await record(world.db, shipmentId, ['PICKED_UP']);
    const end = stopAt(world, 'end-unparked', 'COMMIT');
    const advancing = advance(end.db);
    expect(await doneOrWaiting(world.db, advancing)).toBe('waiting');
    held.go();
    await Promise.all([inFlight, end.reached]);
    const recording = record(world.db, shipmentId, ['IN_TRANSIT'], { room: muchRoom });
    expect(await doneOrWaiting(world.db, recording)).toBe('waiting');
    end.go();
    await advancing;
    expect(await recording).toEqual([]); // not claimed, because an earlier state was not visible
    await expectSoundRows(world);
    await expectNoneStranded(world);
    expect(await now()).toEqual(['1 READY', '1 SUCCEEDED', '2 READY', '3 waits']);
    expect((await sent()).filter((one) => one.startsWith(shipmentId))).toEqual(
      [2, 3].map((sequence) => `${shipmentId} ${sequence}`),
    );
    await expectEachOnce(world, [webhookId], [shipmentId, other]);
  });

  test('while a piece is being made: the recording does not wait, and is in a later piece', async () => {
    await setUpParked();
    await record(world.db, shipmentId, ['PICKED_UP']);
    await resume();
    const stop = stopAt(world, 'unpark-piece', 'COMMIT');
    const advancing = advance(stop.db);
    await stop.reached;
    expect(await doneOrWaiting(world.db, record(world.db, shipmentId, ['IN_TRANSIT']))).toBe('done');
    expect(await hasRows()).toBe(1);
    stop.go();
    await advancing;
    expect(await isParked()).toBe(false);
    expect(await sent()).toEqual([1, 2, 3].map((sequence) => `${shipmentId} ${sequence}`));
    await expectEachOnce(world, [webhookId], [shipmentId]);
  });

  test('is sent at once to a second webhook that is not parked', async () => {
    const second = await addWebhook(world);
    await setUpParked();
    const claims = await record(world.db, shipmentId, ['PICKED_UP']);
    expect(claims).toEqual([]);
    expect(await outboxOf(world, second)).toHaveLength(2);
  });
});

test('several workers at once make each row only once', async () => {
  await setUpParked();
  const others = await addShipments(world, 300);
  await recordAll(
    world.db,
    others.map((id) => [id, 'CREATED']),
  );
  await resume();
  await Promise.all([1, 2, 3, 4].map(() => advance(world.db)));
  await advance(world.db);
  expect(await isParked()).toBe(false);
  expect(await notOnce(world, [webhookId], others)).toEqual([]);
});

test('a deleted webhook gets no more rows and is no longer parked', async () => {
  await setUpParked();
  await record(world.db, shipmentId, ['PICKED_UP']);
  await markDeleted(world.db, world.shipperId, webhookId);
  await advance(world.db);
  expect(await isParked()).toBe(false);
  await createSweeper(world.db).sweep();
  expect(await now()).toEqual(['1 WEBHOOK_DELETED']);
});

test('misses older than the log are counted, and not sent', async () => {
  await setUpParked();
  await record(world.db, shipmentId, ['PICKED_UP', 'IN_TRANSIT']);
  await resume();
  const told: unknown[] = [];
  await advanceReplays({
    db: world.db,
    logger: {
      ...logger,
      info: () => undefined,
      warn: (what: unknown) => void told.push(what),
    } as typeof logger,
    retentionMs: -1_000,
    orderHoldMs: longHoldMs,
    replayEveryMs: 0,
    terminalStates,
    horizon,
    notify: () => undefined,
  });
  expect(told).toEqual([{ webhookId, deliveries: 2 }]);
  expect(await isParked()).toBe(false);
  expect(await now()).toEqual(['1 READY']);
});

test('overtaken states are skipped, both held and missed ones, but terminal states are not', async () => {
  await world.sql('update webhooks set supersede = true');
  await setUpParked();
  await record(world.db, shipmentId, ['PICKED_UP']);
  expect(await now()).toEqual(['1 SUPERSEDED']);
  await record(world.db, shipmentId, ['DELIVERED', 'RETURNED']);
  await resume();
  await advance(world.db);
  expect(await now()).toEqual(['1 SUPERSEDED', '2 SUPERSEDED', '3 READY', '4 waits']);
  await expectSoundRows(world);
});

test('the webhook’s interests apply as of when the rows are made', async () => {
  await setUpParked();
  await record(world.db, shipmentId, ['PICKED_UP', 'IN_TRANSIT']);
  await world.sql(`update webhooks set interests = '{IN_TRANSIT}'`);
  await resume();
  await advance(world.db);
  expect(await now()).toEqual(['1 READY', '3 waits']);
});

test('events erased meanwhile are not sent', async () => {
  await setUpParked();
  await record(world.db, shipmentId, ['PICKED_UP', 'IN_TRANSIT']);
  await world.sql(`update events set erasure = 'DONE' where sequence = 2`);
  await resume();
  await advance(world.db);
  expect(await now()).toEqual(['1 READY', '3 waits']);
});

test('a circuit due for a probe gets one piece to probe with if nothing is owed', async () => {
  await setUpParked();
  await record(world.db, shipmentId, ['PICKED_UP']);
  await world.sql('delete from outbox');
  await resume();
  await openCircuit(world, webhookId, `now() + interval '1 hour'`);
  await advance(world.db);
  expect(await hasRows()).toBe(0);
  await world.sql(`update circuits set open_until = now() - interval '1 second'`);
  await advance(world.db);
  const { sweep, probes } = createSweeper(world.db);
  await sweep();
  expect(probes).toHaveLength(1);
  expect(await isParked()).toBe(true);
});

describe('a replay of a parked webhook', () => {
  test('leaves parked events alone; they are sent after the held ones', async () => {
    await setUpParked();
    await record(world.db, shipmentId, ['PICKED_UP']);
    const replayId = await replay(world, world.db, webhookId);
    expect(await progressOf(world, replayId)).toEqual(['RUNNING', 0, 1]);
    expect(await hasRows()).toBe(1);
    await resume();
    await advance(world.db);
    expect(await sent()).toEqual([1, 2].map((sequence) => `${shipmentId} ${sequence}`));
    await expectEachOnce(world, [webhookId], [shipmentId]);
  });

  test('concurrent with a piece of parked events: each delivery exists once', async () => {
    await world.sql('delete from events');
    await setUpParked();
    await record(world.db, shipmentId, ['PICKED_UP']);
    await resume();
    await askForReplay(world, webhookId);
    await Promise.all([advance(world.db), advance(world.db)]);
    await advance(world.db);
    await expectEachOnce(world, [webhookId], [shipmentId]);
  });

  test('the parking itself cannot be seen or cancelled as a replay', async () => {
    await setUpParked();
    const [row] = await world.sql<{ replay_id: string }>('select replay_id from replays');
    await expect(progressOf(world, row!.replay_id)).rejects.toThrow();
    expect(await cancel(world, world.db, row!.replay_id)).toBeNull();
    expect(await isParked()).toBe(true);
  });
});
