import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { requestRedelivery } from '../../src/deliveries/on-demand/store.js';
import { startReceiver, type Receiver } from '../receiver.js';
import { finish, pull, record } from './support/acts.js';
import { stopAt } from './support/barriers.js';
import { startRedeliverer } from './support/dispatcher.js';
import { now, setUpRaces, shipmentId, webhookId, world } from './support/race.js';
import { outboxOf, setStatus } from './support/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries');

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver?.close());

test('a state whose turn came while an attempt by hand was being recorded gets it after that', async () => {
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
  await finish(world.db, before, 'SUCCEEDED'); // its row is locked: whoever gives turns passes over it
  stop.go();
  await redeliverer.drain();
  expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
  expect(notified).toContain(webhookId);
});

test('a state whose turn came while it was being sent by hand is looked for once that has failed', async () => {
  await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
  const before = await pull(world.db, webhookId);
  const [, waiting] = await outboxOf(world, webhookId);
  await requestRedelivery(world.db, world.shipperId, waiting!.delivery_id);

  let answer = (): void => undefined;
  receiver.reply = (_, response) => {
    answer = () => response.writeHead(500).end();
  };
  const come = receiver.received.length + 1;
  const notified: string[] = [];
  const redeliverer = startRedeliverer(world, receiver.url, {
    notify: (due) => void notified.push(...due.map(({ webhookId }) => webhookId)),
  });
  await redeliverer.handle([waiting!.delivery_id]);
  await receiver.waitFor(come);
  await finish(world.db, before, 'SUCCEEDED');
  expect(await pull(world.db, webhookId)).toEqual([]); // whoever looks now passes over it
  expect(notified).toEqual([]);
  answer();
  await redeliverer.drain();
  expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
  expect(notified).toContain(webhookId);
});

test('what is asked for again after its webhook was paused goes there, too', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  const claims = await pull(world.db, webhookId); // while it is being sent nobody sends it by hand
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

test('what cannot be sent, because nobody can tell where to, waits for the next sweep as if it had not been claimed', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  const [owed] = await outboxOf(world, webhookId);
  const deliveryId = owed!.delivery_id;
  await requestRedelivery(world.db, world.shipperId, deliveryId);
  const asked = 'select lease_until, number from redeliveries';
  const targets = { of: () => Promise.reject(new Error('PostgreSQL is away')) };
  const redeliverer = startRedeliverer(world, receiver.url, { targets });
  await redeliverer.handle([deliveryId]);
  await redeliverer.drain();
  expect(await world.sql(asked)).toEqual([{ lease_until: null, number: null }]);
  expect(await outboxOf(world, webhookId)).toEqual([owed]);
});
