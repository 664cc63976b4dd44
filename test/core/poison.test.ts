/** One shipment for which a statement fails keeps no other from what is done for all, and is come back to. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMetrics } from '../../src/platform/metrics.js';
import { newId } from '../../src/platform/ids.js';
import { createOrderSweep, createShipments } from '../../src/shipments/create.js';
import { eraseExpired } from '../../src/shipments/erasure/retention.js';
import { collector, longHoldMs, muchRoom, recording } from './support/acts.js';
import { addPlantedOrder, erasing, recordPlanted } from './support/erasures.js';
import { createWorld, logger, type World } from './support/world.js';

const hourMs = 3_600_000;
let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.sql('create table poison (shipment_id uuid)');
  await world.sql(`create function refuse() returns trigger language plpgsql as $$ begin
    if new.shipment_id in (select shipment_id from poison) then raise exception 'as planned'; end if;
    return new; end $$`);
  await world.sql('create trigger refuse before update on events for each row execute function refuse()');
  await world.sql(
    'create trigger refuse before insert on shipment_progress for each row execute function refuse()',
  );
});
afterAll(() => world.stop());

const ordersOf = (count: number, hoursAgo: number) =>
  Promise.all(
    Array.from({ length: count }, () => addPlantedOrder(world, newId(Date.now() - hoursAgo * hourMs))),
  );
const poison = (shipmentId: string) => world.sql('insert into poison values ($1)', [shipmentId]);
const cure = () => world.sql('delete from poison');
const idsOf = async (condition: string) =>
  (await world.sql(`select shipment_id from shipment_progress where ${condition} order by 1`)).map(
    (row) => row.shipment_id as string,
  );

test('what is forgotten of accepted orders is created, but for the one that cannot be', async () => {
  const shipmentIds = (await ordersOf(5, 1)).sort();
  await poison(shipmentIds[1]!);
  const creation = { ...recording(world.db, collector(muchRoom), longHoldMs), initialState: 'CREATED' };
  const deps = { db: world.db, logger, metrics: createMetrics() };
  const sweep = createOrderSweep({ ...deps, create: (ids) => createShipments(creation, ids) });
  await sweep();
  expect(await idsOf('true')).toEqual(shipmentIds.filter((_, n) => n !== 1));
  await cure();
  await sweep(); // behind the page that it was on
  await sweep();
  expect(await idsOf('true')).toEqual(shipmentIds);
});

test('the retention erases all but the shipment that cannot be, and that one an hour later', async () => {
  await world.sql('truncate shipment_progress, events, outbox, orders_to_create');
  const shipmentIds = (await ordersOf(5, 20)).sort();
  for (const shipmentId of shipmentIds) await recordPlanted(world.db, shipmentId, ['CREATED']);
  await world.sql(`update shipment_progress set updated_at = now() - interval '19 hours'`);
  await poison(shipmentIds[2]!);
  const deps = { ...erasing(world.db), logger, retentionMs: 10 * hourMs };
  const steps = async () => {
    let count = 0;
    while (await eraseExpired(deps)) count += 1;
    return count;
  };
  expect(await steps()).toBe(1); // it does not come again at once
  expect(await idsOf('erased_at is not null')).toEqual(shipmentIds.filter((_, n) => n !== 2));
  await cure();
  await world.sql(`update shipments_to_erase set last_state_at = last_state_at - interval '1 hour'`);
  await steps();
  expect(await idsOf('erased_at is not null')).toEqual(shipmentIds);
});
