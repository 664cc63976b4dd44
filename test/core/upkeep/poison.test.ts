/** One row for which a statement fails does not block the others, and is tried again later. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { newId } from '../../../src/platform/ids.js';
import { advanceSimulations } from '../../../src/shipments/simulation/advance.js';
import { createOrderSweep, createShipments } from '../../../src/shipments/create.js';
import { createRetention } from '../../../src/shipments/erasure.js';
import {
  collector,
  lapse,
  longHoldMs,
  muchRoom,
  record,
  recording,
  takeUpLapsed,
} from '../../support/core/acts.js';
import { createFold } from '../../../src/history/stats/store.js';
import { createPurge } from '../../../src/history/retention/retention.js';
import { addPlantedOrder, erasing, recordPlanted } from '../../support/core/erasures.js';
import {
  addShipment,
  addWebhook,
  createWorld,
  logger,
  logOf,
  outboxOf,
  type World,
} from '../../support/core/world.js';

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

test('forgotten orders are created and counted as brought back, except one that cannot be', async () => {
  const shipmentIds = (await ordersOf(5, 1)).sort();
  await poison(shipmentIds[1]!);
  const creation = { ...recording(world.db, collector(muchRoom), longHoldMs), initialState: 'CREATED' };
  const deps = { db: world.db, logger, metrics: createMetrics() };
  const sweep = createOrderSweep({ ...deps, create: (ids) => createShipments(creation, ids) });
  const reenqueued = async () =>
    /sweeper_reenqueued_total\{kind="order"\} (\d+)/.exec(await deps.metrics.text())?.[1];
  await sweep();
  expect(await idsOf('true')).toEqual(shipmentIds.filter((_, n) => n !== 1));
  expect(await reenqueued()).toBe('4');
  await cure();
  await sweep(); // on the page before
  await sweep();
  expect(await idsOf('true')).toEqual(shipmentIds);
  expect(await reenqueued()).toBe('5');
});

test('retention erases all shipments but one that cannot be, and that one an hour later', async () => {
  await world.sql('truncate shipment_progress, events, outbox, orders_to_create');
  const shipmentIds = (await ordersOf(5, 20)).sort();
  for (const shipmentId of shipmentIds) await recordPlanted(world.db, shipmentId, ['CREATED']);
  await world.sql(`update shipment_progress set updated_at = now() - interval '19 hours'`);
  await poison(shipmentIds[2]!);
  const step = createRetention({ ...erasing(world.db), logger, retentionMs: 10 * hourMs });
  const steps = async () => {
    let count = 0;
    while (await step()) count += 1;
    return count;
  };
  expect(await steps()).toBe(1); // not at once
  expect(await idsOf('erased_at is not null')).toEqual(shipmentIds.filter((_, n) => n !== 2));
  await cure();
  await world.sql(`update shipments_to_erase set last_state_at = last_state_at - interval '1 hour'`);
  await steps();
  expect(await idsOf('erased_at is not null')).toEqual(shipmentIds);
});

test('counts that cannot be folded do not block those of other webhooks', async () => {
  const webhookIds = [newId(1), newId(2), newId(3)].sort();
  await world.sql(
    `insert into attempt_counts (webhook_id, hour, succeeded, failed)
     select webhook_id, date_trunc('hour', now()), 1, 0 from unnest($1::uuid[]) as webhook_id, generate_series(1, 3)`,
    [webhookIds],
  );
  await world.sql(
    `alter table webhook_hours add constraint refuse check (webhook_id <> '${webhookIds[1]}') not valid`,
  );
  const fold = createFold(world.db, logger);
  for (let n = 0; n < 20; n += 1) await fold().catch(() => undefined);
  const counted = await world.sql('select webhook_id from webhook_hours order by 1');
  expect(counted.map((row) => row.webhook_id as string)).toEqual([webhookIds[0], webhookIds[2]]);
  await world.sql('alter table webhook_hours drop constraint refuse');
  for (let n = 0; n < 5; n += 1) await fold();
  expect(await world.sql('select 1 from attempt_counts')).toEqual([]);
});

test('a deleted webhook that cannot be purged does not block others', async () => {
  const webhookIds = [await addWebhook(world), await addWebhook(world), await addWebhook(world)].sort();
  await world.sql(
    `update webhooks set deleted_at = now() - interval '2 hours' where webhook_id = any($1::uuid[])`,
    [webhookIds],
  );
  await world.sql(`create function keep() returns trigger language plpgsql as $$ begin
    if old.webhook_id = '${webhookIds[1]}' then raise exception 'as planned'; end if; return old; end $$`);
  await world.sql('create trigger keep before delete on webhooks for each row execute function keep()');
  const purge = createPurge(world.db, logger);
  for (let n = 0; n < 20; n += 1) await purge().catch(() => undefined);
  const left = await world.sql('select webhook_id from webhooks order by 1');
  expect(left.map((row) => row.webhook_id as string)).toEqual([webhookIds[1]]);
});

test('a lost test that is already in the log does not block other lost attempts', async () => {
  await world.sql('truncate outbox, deliveries, webhooks cascade');
  await addWebhook(world);
  const [first] = await record(world.db, await addShipment(world), ['CREATED'], { room: muchRoom });
  await record(world.db, await addShipment(world), ['CREATED'], { room: muchRoom });
  await world.sql(`update outbox set trigger = 'TEST' where delivery_id = $1`, [first!.deliveryId]);
  await world.sql(
    `insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count, completed_at)
     select shipper_id, delivery_id, event_id, webhook_id, state, 'SUCCEEDED', 1, now() from outbox where trigger = 'TEST'`,
  );
  await lapse(world);
  await takeUpLapsed(world.db);
  expect((await outboxOf(world)).map(({ status }) => status)).toEqual(['READY']);
  expect((await logOf(world)).map(({ status }) => status)).toEqual(['SUCCEEDED']);
});

test('due simulated steps are made, except a failing one, which is tried again after a minute', async () => {
  await world.sql('truncate shipment_progress, events, outbox');
  const shipmentIds = await Promise.all(Array.from({ length: 12 }, () => addShipment(world)));
  for (const shipmentId of shipmentIds) await record(world.db, shipmentId, ['CREATED']);
  await world.sql(
    `insert into simulations (shipment_id, shipper_id, simulation_id, states, interval_ms)
     select id, $2, gen_random_uuid(), array['PICKED_UP', 'IN_TRANSIT'], 100 from unnest($1::uuid[]) id`,
    [shipmentIds, world.shipperId],
  );
  await world.sql('create trigger refuse_new before insert on events for each row execute function refuse()');
  const bad = shipmentIds[5]!;
  await poison(bad);
  const errors: unknown[] = [];
  const error = (fields: object) => void errors.push(fields);
  const deps = {
    ...recording(world.db, collector(muchRoom), longHoldMs),
    logger: { ...logger, error } as typeof logger,
  };
  const advanced = () => advanceSimulations(deps);
  const statesOf = async (ids: string[]) =>
    (await world.sql('select distinct state from shipment_progress where shipment_id = any($1)', [ids])).map(
      ({ state }) => state as string,
    );
  try {
    const others = shipmentIds.filter((one) => one !== bad);
    for (let turns = 0; turns < 50 && (await statesOf(others)).join() !== 'IN_TRANSIT'; turns += 1) {
      await advanced();
      await sleep(20);
    }
    expect(await statesOf(others)).toEqual(['IN_TRANSIT']);
    expect(await statesOf([bad])).toEqual(['CREATED']);
    expect(errors).toMatchObject([{ shipmentId: bad }]);
    const left = () =>
      world.sql(`select shipment_id from simulations where next_at > now() + interval '50 seconds'`);
    expect(await left()).toEqual([{ shipment_id: bad }]);
    await cure();
    await world.sql('update simulations set next_at = now()');
    await advanced();
    expect(await statesOf([bad])).toEqual(['PICKED_UP']);
  } finally {
    await world.sql('drop trigger refuse_new on events');
    await world.sql('truncate simulations');
  }
});
