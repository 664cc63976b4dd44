import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setImmediate as tick, setTimeout as sleep } from 'node:timers/promises';
import { createBodies } from '../../../src/engine/attempt/attempt.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { requestRedelivery } from '../../../src/catch-up/by-hand.js';
import { claimProbes } from '../../../src/engine/outbox/claim.js';
import { takeLapsedRedeliveries } from '../../../src/engine/outbox/redelivery.js';
import { failedOutcome } from '../../../src/engine/send/messages.js';
import type { Sending } from '../../../src/engine/send/threads.js';
import { durationsOf } from '../../../src/platform/durations.js';
import {
  type Due,
  type DueClaim,
  dueSinceUnknown,
  noRoom,
  type Room,
} from '../../../src/engine/outbox/types.js';
import { recordEvents } from '../../../src/engine/record/record.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import {
  finish,
  lapse,
  leaseMs,
  longHoldMs,
  muchRoom,
  pull,
  record,
  recording,
} from '../../support/core/acts.js';
import { stopAt } from '../../support/core/barriers.js';
import { openSending, startDispatcher } from '../../support/core/dispatcher.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../../support/core/race.js';
import {
  addShipment,
  addWebhook,
  forNewShipper,
  openCircuit,
  outboxOf,
  setStatus,
  type World,
} from '../../support/core/world.js';
import { type Received, type Receiver, startReceiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries');

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
beforeEach(() => void receiver.received.splice(0));
afterAll(() => receiver?.close());

test('a delivery returned by a slow lane is pulled again without a sweep', async () => {
  await world.sql('truncate webhooks cascade');
  const webhookId = await addWebhook(world, { ordering: 'NONE' });
  for (let n = 0; n < 40; n += 1) await record(world.db, await addShipment(world), ['CREATED']);
  // Due long ago, a second apart: a page that starts behind one of them does not see it.
  await world.sql(
    `update outbox o set due_at = now() - interval '1 hour' + n * interval '1 second'
       from (select delivery_id, row_number() over (order by delivery_id) as n from outbox) r
      where r.delivery_id = o.delivery_id`,
  );
  receiver.reply = () => (receiver.received.length > 2 ? {} : { delayMs: 1_500 });
  const dispatcher = startDispatcher(world, receiver.url);
  dispatcher.notify(dueSinceUnknown([webhookId]));
  await receiver.waitFor(40);
  await dispatcher.drain();
  expect(await outboxOf(world)).toEqual([]);
  expect(receiver.received).toHaveLength(40);
});

test('room that a statement reserved and did not use goes to waiting deliveries', async () => {
  await world.sql('truncate webhooks cascade');
  const [webhookId, other] = [await addWebhook(world), await forNewShipper(world)];
  const oweOne = async (of: World, state: string) => {
    await record(of.db, await addShipment(of), [state]);
    return (one: Received) => one.notification.state === state;
  };
  receiver.reply = () => ({});
  const metrics = createMetrics();
  const dispatcher = startDispatcher(world, receiver.url, { concurrency: 100, metrics });
  const noneIsUnderWay = async () => /attempts_in_flight 0$/m.test(await metrics.text());
  const untilOver = async (webhookId: string) => {
    await until('it is recorded', async () => (await outboxOf(world, webhookId)).length === 0);
    await until('its lane knows', noneIsUnderWay);
    await tick(); // its notification was handled: from now on this attempt triggers nothing
  };
  await oweOne(world, 'FIRST');
  dispatcher.notify(dueSinceUnknown([webhookId])); // creates its lane
  await untilOver(webhookId);

  const room = dispatcher.reserve(Array.from({ length: 100 }, () => world.shipperId));
  const late = await oweOne(world, 'LATE');
  const witnessWebhookId = await addWebhook(other);
  const witness = await oweOne(other, 'WITNESS');
  dispatcher.notify(dueSinceUnknown([webhookId, witnessWebhookId]));
  await receiver.waitFor(1, witness);
  await untilOver(witnessWebhookId);
  expect(receiver.received.filter(late)).toEqual([]);
  dispatcher.recorded(room, [], [], performance.now());
  await receiver.waitFor(1, late);
  await dispatcher.drain();
});

test('deliveries claimed in the process are not sent after another attempt gets 410', async () => {
  await world.sql('truncate webhooks cascade');
  const webhookId = await addWebhook(world, { ordering: 'NONE' });
  const count = 30;
  for (let n = 0; n < count; n += 1) await record(world.db, await addShipment(world), ['CREATED']);
  const others: (() => void)[] = [];
  receiver.reply = (_, response) => {
    if (receiver.received.length === 1) return { status: 410 };
    others.push(() => response.writeHead(200).end());
  };
  const dispatcher = startDispatcher(world, receiver.url);
  dispatcher.notify(dueSinceUnknown([webhookId]));
  const status = `select 1 from webhooks where status = 'DISABLED'`;
  while ((await world.sql(status)).length === 0) await sleep(1); // soon: a claim that has waited long is checked anyway
  const underWay = receiver.received.length;
  for (const respond of others) respond();
  const sending = `select 1 from outbox where status = 'SENDING'`;
  await until('nothing is claimed any more', async () => (await world.sql(sending)).length === 0);
  await dispatcher.drain();
  expect(receiver.received).toHaveLength(underWay);
  expect(await outboxOf(world, webhookId)).toHaveLength(count - (underWay - 1)); // the delivery with the 410 is held too
});

test('a slow recording is delivered without a sweep, although later pages have passed it', async () => {
  const dispatcher = startDispatcher(world, receiver.url);
  receiver.reply = () => ({});
  const stop = stopAt(world, 'insert-events', 'COMMIT');
  const withoutRoom = { ...dispatcher, reserve: () => noRoom };
  const events = [{ shipmentId: await addShipment(world), state: 'LATE' }];
  const late = recordEvents(recording(stop.db, withoutRoom, longHoldMs), events);
  await stop.reached;
  await record(world.db, await addShipment(world), ['EARLY']);
  dispatcher.notify(dueSinceUnknown([webhookId]));
  await receiver.waitFor(1);
  stop.go();
  await late;
  await receiver.waitFor(1, ({ notification }) => notification.state === 'LATE');
  await dispatcher.drain();
});

test('a large body is in no claim: it is read when attempts start, once for all of an event, and every attempt has it', async () => {
  await world.sql('truncate webhooks cascade');
  const webhookIds: string[] = [];
  while (webhookIds.length < 4) webhookIds.push(await addWebhook(world));
  const evidences = ['ü'.repeat(20_000)];
  let claims: DueClaim[] = [];
  const recordLarge = async (room: Room) =>
    recordEvents(
      recording(
        world.db,
        {
          reserve: () => room,
          recorded: (_room, claimed) => void (claims = claimed),
          notify: () => undefined,
        },
        longHoldMs,
      ),
      [{ shipmentId: await addShipment(world), state: 'CREATED', evidences }],
    );
  const statements: string[] = [];
  const db: Database = {
    ...world.db,
    query: (name, ...rest) => {
      statements.push(name);
      return world.db.query(name, ...rest);
    },
  };
  receiver.reply = () => ({});
  const dispatcher = startDispatcher(world, receiver.url, { bodies: createBodies(db) });
  await recordLarge(muchRoom);
  expect(claims).toHaveLength(4);
  expect(claims.map(({ body }) => body)).toEqual(['', '', '', '']);
  dispatcher.accept(claims, performance.now());
  await receiver.waitFor(4);
  await recordLarge(noRoom);
  dispatcher.notify(dueSinceUnknown(webhookIds));
  const all = await receiver.waitFor(8);
  await dispatcher.drain();
  expect(all.map(({ notification }) => notification.evidences)).toEqual(all.map(() => evidences));
  expect(statements).toEqual(['load-bodies', 'load-bodies']);
});

describe('a process that stops', () => {
  let left: string[];
  const webhooksOf = (due: Due[]) => due.map(({ webhookId }) => webhookId);
  const start = () => {
    left = [];
    return startDispatcher(world, receiver.url, { onLeft: (due) => left.push(...webhooksOf(due)) });
  };

  test('waits for a statement with reserved room, gives back its claims and names the other webhooks made due', async () => {
    const dispatcher = start();
    const room = dispatcher.reserve([world.shipperId]);
    const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
    const other = await addWebhook(world);
    const drained = dispatcher.drain().then(() => 'drained');
    expect(await Promise.race([drained, sleep(100, 'waits')])).toBe('waits'); // it checks every 10 ms, and does nothing else
    dispatcher.recorded(room, claims, dueSinceUnknown([other]), performance.now());
    await drained;
    expect(await outboxOf(world, webhookId)).toEqual([expect.objectContaining({ status: 'READY' })]);
    expect(new Set(left)).toEqual(new Set([webhookId, other]));
    left.splice(0);
    dispatcher.recorded(
      dispatcher.reserve([world.shipperId]),
      [],
      dueSinceUnknown([other]),
      performance.now(),
    );
    dispatcher.notify(dueSinceUnknown([webhookId]));
    expect(left).toEqual([other, webhookId]);
    expect(receiver.received).toEqual([]);
  });

  test('gives back what a sweep claimed while it drained, and names its webhook', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    await openCircuit(world, webhookId);
    const probes = await claimProbes(world.db, leaseMs, leaseMs);
    expect(probes).toHaveLength(1);
    const dispatcher = start();
    await dispatcher.drain();
    expect(left).toEqual([]);
    dispatcher.accept(probes, performance.now());
    await dispatcher.drain();
    expect(await outboxOf(world)).toMatchObject([{ status: 'READY', attempt_count: 0 }]);
    expect(left).toEqual([webhookId]);
    expect(receiver.received).toEqual([]);
  });

  test('names the webhook whose circuit its last attempt closed', async () => {
    for (let n = 0; n < 2; n += 1) await record(world.db, await addShipment(world), ['CREATED']);
    await openCircuit(world, webhookId);
    const dispatcher = start();
    receiver.reply = () => ({ delayMs: 200 });
    dispatcher.accept(await claimProbes(world.db, leaseMs, leaseMs), performance.now());
    await receiver.waitFor(1);
    await dispatcher.drain();
    expect(await world.sql('select 1 from circuits where open_until is not null')).toEqual([]);
    expect(left).toEqual([webhookId]);
  });
});

describe('attempts by hand', () => {
  test('a state whose turn came while an attempt by hand was being recorded is released after that', async () => {
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    const before = await pull(world.db, webhookId);
    const [, waiting] = await outboxOf(world, webhookId);
    await requestRedelivery(world.db, world.shipperId, waiting!.delivery_id);

    receiver.reply = () => ({ status: 500 });
    const stop = stopAt(world, 'settle-redelivery', 'COMMIT');
    const dispatcher = startDispatcher(world, receiver.url, { db: { ...world.db, ...stop.db } });
    await dispatcher.redeliver();
    await stop.reached;
    await finish(world.db, before, 'SUCCEEDED'); // the row is locked, so releases skip it
    receiver.reply = () => ({});
    stop.go();
    await until('it is sent', async () => (await now())[1] === '2 SUCCEEDED');
    await dispatcher.drain();
    expect(receiver.received).toHaveLength(2);
  });

  test('a state whose turn came while it was being sent by hand is found once that attempt has failed', async () => {
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    const before = await pull(world.db, webhookId);
    const [, waiting] = await outboxOf(world, webhookId);
    await requestRedelivery(world.db, world.shipperId, waiting!.delivery_id);

    let respond = (): void => undefined;
    receiver.reply = (_, response) => {
      respond = () => response.writeHead(500).end();
    };
    const come = receiver.received.length + 1;
    const dispatcher = startDispatcher(world, receiver.url);
    await dispatcher.redeliver();
    await receiver.waitFor(come);
    await finish(world.db, before, 'SUCCEEDED');
    expect(await pull(world.db, webhookId)).toEqual([]); // pulls skip it meanwhile
    receiver.reply = () => ({});
    respond();
    await until('it is sent', async () => (await now())[1] === '2 SUCCEEDED');
    await dispatcher.drain();
    expect(receiver.received).toHaveLength(come + 1);
  });

  test('a delivery requested again after its webhook was paused is sent, too', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    const claims = await pull(world.db, webhookId); // while a worker sends it, no attempt by hand starts
    const { shipperId, db } = world;
    const deliveryId = claims[0]!.deliveryId;
    const dispatcher = startDispatcher(world, receiver.url);
    receiver.reply = () => ({});
    await requestRedelivery(db, shipperId, deliveryId);
    await dispatcher.redeliver();
    await setStatus(world, webhookId, 'PAUSED');
    await requestRedelivery(db, shipperId, deliveryId);
    await finish(db, claims, 'RETRY', { delayMs: 60_000 });
    await dispatcher.redeliver();
    await dispatcher.drain();
    expect(await now()).toEqual(['1 SUCCEEDED']);
  });

  test('its lease is renewed for as long as its attempt lasts, whether its delivery is owed or finished', async () => {
    const durations = { ...durationsOf(), leaseMs: 400 };
    await record(world.db, shipmentId, ['CREATED']);
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    await record(world.db, await addShipment(world), ['CREATED']);
    for (const { delivery_id: id } of await world.sql<{ delivery_id: string }>(
      'select delivery_id from deliveries union all select delivery_id from outbox',
    ))
      await requestRedelivery(world.db, world.shipperId, id);
    receiver.reply = () => ({ delayMs: 1_500 });
    const dispatcher = startDispatcher(world, receiver.url, { durations });
    await dispatcher.redeliver();
    await sleep(1_000);
    expect(await takeLapsedRedeliveries(world.db, 400, 100)).toBe(0);
    await dispatcher.drain();
    expect(await world.sql('select trigger, status from deliveries')).toEqual([
      { trigger: 'MANUAL', status: 'SUCCEEDED' },
      { trigger: 'MANUAL', status: 'SUCCEEDED' },
    ]);
    expect(await world.sql('select 1 from redeliveries')).toEqual([]);
  });

  test('its receiver is no longer proved if its thread ends, and it is made again when its lease has run out', async () => {
    const isProved: boolean[] = [];
    const sending = openSending();
    const send: Sending['send'] = (sent) => {
      isProved.push(sent.isProved);
      return sent.keepsDetail ? Promise.resolve(failedOutcome('LOST', new Date())) : sending.send(sent);
    };
    receiver.reply = () => ({});
    const dispatcher = startDispatcher(world, receiver.url, { sending: { send } });
    const deliver = async (shipment: string) => {
      await record(world.db, shipment, ['CREATED']);
      dispatcher.notify(dueSinceUnknown([webhookId]));
    };
    await deliver(shipmentId);
    await until('it is sent', async () => (await now())[0] === '1 SUCCEEDED');
    const [sent] = await world.sql<{ delivery_id: string }>('select delivery_id from deliveries');
    await requestRedelivery(world.db, world.shipperId, sent!.delivery_id);
    await dispatcher.redeliver();
    await until('it is lost', () => isProved.length === 2);
    await deliver(await addShipment(world));
    await until('the next is sent', () => isProved.length === 3);
    await dispatcher.drain();
    expect(isProved).toEqual([false, true, false]);
    await lapse(world);
    expect(await takeLapsedRedeliveries(world.db, leaseMs, 100)).toBe(1);
  });

  test('one that ends its thread again and again is given up', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    const [sent] = await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    await requestRedelivery(world.db, world.shipperId, sent!.deliveryId);
    let made = 0;
    const send = () => {
      made += 1;
      return Promise.resolve(failedOutcome('LOST', new Date()));
    };
    const dispatcher = startDispatcher(world, receiver.url, { sending: { send } });
    for (let count = 1; count <= 4; count += 1) {
      await dispatcher.redeliver();
      await until('it is made', () => made === count);
      if (count === 4) break;
      await lapse(world);
      expect(await takeLapsedRedeliveries(world.db, leaseMs, 100)).toBe(1);
    }
    await dispatcher.drain();
    expect(await world.sql('select 1 from redeliveries')).toEqual([]);
    expect(await world.sql('select status, attempt_count, error_code from deliveries')).toEqual([
      { status: 'SUCCEEDED', attempt_count: 5, error_code: 'LOST' },
    ]);
  });

  test('what cannot be sent because its target cannot be read waits for the next sweep as if unclaimed', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    const [owed] = await outboxOf(world, webhookId);
    const deliveryId = owed!.delivery_id;
    await requestRedelivery(world.db, world.shipperId, deliveryId);
    const asked = 'select lease_until, number from redeliveries';
    const targets = { of: () => Promise.reject(new Error('PostgreSQL is down')) };
    const dispatcher = startDispatcher(world, receiver.url, { targets });
    await dispatcher.redeliver();
    await dispatcher.drain();
    expect(await world.sql(asked)).toEqual([{ lease_until: null, number: null }]);
    expect(await outboxOf(world, webhookId)).toEqual([owed]);
  });
});
