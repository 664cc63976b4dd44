import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { requestRedelivery } from '../../../src/engine/attempt/by-hand-store.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { finish, pull, record } from '../../support/core/acts.js';
import { stopAt } from '../../support/core/barriers.js';
import { startRedeliverer } from '../../support/core/dispatcher.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../../support/core/race.js';
import { outboxOf, setStatus } from '../../support/core/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries');

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver?.close());

test('a state whose turn came while an attempt by hand was being recorded is released after that', async () => {
  await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
  const before = await pull(world.db, webhookId);
  const [, waiting] = await outboxOf(world, webhookId);
  await requestRedelivery(world.db, world.shipperId, waiting!.delivery_id);

  receiver.reply = () => ({ status: 500 });
  const notified: string[] = [];
  const stop = stopAt(world, 'settle-redelivery', 'COMMIT');
  const redeliverer = startRedeliverer(world, receiver.url, {
    db: stop.db,
    notify: (due) => void notified.push(...due.map(({ webhookId }) => webhookId)),
  });
  await redeliverer.handle([waiting!.delivery_id]);
  await stop.reached;
  await finish(world.db, before, 'SUCCEEDED'); // the row is locked, so releases skip it
  stop.go();
  await redeliverer.drain();
  expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
  expect(notified).toContain(webhookId);
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
  const notified: string[] = [];
  const redeliverer = startRedeliverer(world, receiver.url, {
    notify: (due) => void notified.push(...due.map(({ webhookId }) => webhookId)),
  });
  await redeliverer.handle([waiting!.delivery_id]);
  await receiver.waitFor(come);
  await finish(world.db, before, 'SUCCEEDED');
  expect(await pull(world.db, webhookId)).toEqual([]); // pulls skip it meanwhile
  expect(notified).toEqual([]);
  respond();
  await redeliverer.drain();
  expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
  expect(notified).toContain(webhookId);
});

test('a delivery requested again after its webhook was paused is sent, too', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  const claims = await pull(world.db, webhookId); // while a worker sends it, no attempt by hand starts
  const { shipperId, db } = world;
  const deliveryId = claims[0]!.deliveryId;
  const redeliverer = startRedeliverer(world, receiver.url);
  receiver.reply = () => ({});
  await requestRedelivery(db, shipperId, deliveryId);
  await redeliverer.handle([deliveryId]);
  await setStatus(world, webhookId, 'PAUSED');
  await requestRedelivery(db, shipperId, deliveryId);
  await finish(db, claims, 'RETRY', { delayMs: 60_000 });
  await redeliverer.sweep();
  await redeliverer.drain();
  expect(await now()).toEqual(['1 SUCCEEDED']);
});

test('what cannot be sent because its target cannot be read waits for the next sweep as if unclaimed', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  const [owed] = await outboxOf(world, webhookId);
  const deliveryId = owed!.delivery_id;
  await requestRedelivery(world.db, world.shipperId, deliveryId);
  const asked = 'select lease_until, number from redeliveries';
  const targets = { of: () => Promise.reject(new Error('PostgreSQL is down')) };
  const redeliverer = startRedeliverer(world, receiver.url, { targets });
  await redeliverer.handle([deliveryId]);
  await redeliverer.drain();
  expect(await world.sql(asked)).toEqual([{ lease_until: null, number: null }]);
  expect(await outboxOf(world, webhookId)).toEqual([owed]);
});
