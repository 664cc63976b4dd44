import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../flows/support.js';
import { startReceiver, type Receiver } from '../receiver.js';
import { record } from './support/acts.js';
import { startDispatcher } from './support/dispatcher.js';
import { setUpRaces, world } from './support/race.js';
import { addShipment, addWebhook, outboxOf } from './support/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts');

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver?.close());

test('what waits in a process is not sent once another attempt was answered with 410', async () => {
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
  dispatcher.look([webhookId]);
  const status = `select 1 from webhooks where status = 'DISABLED'`;
  while ((await world.sql(status)).length === 0) await sleep(1); // soon: what has waited long is asked about anyway
  const underWay = receiver.received.length;
  for (const answer of others) answer();
  const sending = `select 1 from outbox where status = 'SENDING'`;
  await until('nothing is claimed any more', async () => (await world.sql(sending)).length === 0);
  await dispatcher.drain();
  expect(receiver.received).toHaveLength(underWay);
  expect(await outboxOf(world, webhookId)).toHaveLength(count - (underWay - 1)); // what was answered 410 is held, too
});
