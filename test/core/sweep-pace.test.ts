import { expect, test } from '@jest/globals';
import { timesOf } from '../../src/deliveries/times.js';
import { createSweeper, muchRoom, record } from './support/acts.js';
import { setUpRaces, shipmentId, webhookId, world } from './support/race.js';
import { addShipment, outboxOf, setStatus } from './support/world.js';

setUpRaces();

/** As many states of one shipment owed, as if it had gone through them. */
const owe = (count: number) =>
  world.sql(
    `insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at)
     select $1, gen_random_uuid(), gen_random_uuid(), $2, $3, n, 'IN_TRANSIT', 'READY', now()
       from generate_series(1, $4) n`,
    [world.shipperId, webhookId, shipmentId, count],
  );

test('the pages of a long outbox follow each other sooner, and what is lost behind them is found', async () => {
  await record(world.db, await addShipment(world), ['CREATED'], { room: muchRoom });
  await setStatus(world, webhookId, 'PAUSED');
  await owe(20_000);
  await world.sql(`update outbox set lease_until = now() - interval '1 second' where status = 'SENDING'`);
  const { sweep } = createSweeper(world.db);
  const pauses = [await sweep(), await sweep()];
  expect(pauses[0]).toBeGreaterThan(0);
  expect(pauses[0]).toBeLessThanOrEqual(timesOf().sweepEveryMs);
  expect(pauses[1]).toBeGreaterThanOrEqual(timesOf().sweepEveryMs); // that was the end of it
  expect((await outboxOf(world)).filter(({ status }) => status !== 'READY')).toEqual([]);
});
