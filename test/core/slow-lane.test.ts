import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startReceiver, type Receiver } from '../receiver.js';
import { record } from './support/acts.js';
import { startDispatcher } from './support/dispatcher.js';
import { setUpRaces, world } from './support/race.js';
import { addShipment, addWebhook, outboxOf } from './support/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries');

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver?.close());

test('what a lane gives back because it became slow is pulled again by itself, without a sweep', async () => {
  await world.sql('truncate webhooks cascade');
  const webhookId = await addWebhook(world, { ordering: 'NONE' });
  for (let n = 0; n < 40; n += 1) await record(world.db, await addShipment(world), ['CREATED']);
  // Due long ago, a second apart: a page that begins behind one does not see it.
  await world.sql(
    `update outbox o set due_at = now() - interval '1 hour' + n * interval '1 second'
       from (select delivery_id, row_number() over (order by delivery_id) as n from outbox) r
      where r.delivery_id = o.delivery_id`,
  );
  receiver.reply = () => (receiver.received.length > 2 ? {} : { delayMs: 1_500 });
  const dispatcher = startDispatcher(world, receiver.url);
  dispatcher.look([webhookId]);
  await receiver.waitFor(40);
  await dispatcher.drain();
  expect(await outboxOf(world)).toEqual([]);
  expect(receiver.received).toHaveLength(40);
});
