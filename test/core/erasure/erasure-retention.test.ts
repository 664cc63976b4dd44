import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { unavailable } from '../../../src/platform/errors.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { newId } from '../../../src/platform/ids.js';
import { createRetention } from '../../../src/shipments/erasure.js';
import { findInDatabase } from '../../support/database.js';
import { addPlantedOrder, erase, erasing, planted, recordPlanted } from '../../support/core/erasures.js';
import { createWorld, logger, type World } from '../../support/core/world.js';

const hourMs = 3_600_000;
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

async function shipment(acceptedHoursAgo: number, lastStateHoursAgo: number): Promise<string> {
  const shipmentId = await addPlantedOrder(world, newId(Date.now() - acceptedHoursAgo * hourMs));
  await recordPlanted(world.db, shipmentId, ['CREATED']);
  await age(shipmentId, lastStateHoursAgo);
  return shipmentId;
}

const age = (shipmentId: string, hours: number) =>
  world.sql(
    `update shipment_progress set updated_at = now() - make_interval(hours => $2) where shipment_id = $1`,
    [shipmentId, hours],
  );

/** Sweeps until nothing is left; returns how many. */
async function sweep(hours: number): Promise<number> {
  const step = createRetention({ ...erasing(world.db), logger, retentionMs: hours * hourMs });
  for (let steps = 0; ; steps += 1) if (!(await step())) return steps;
}

const erased = async () =>
  (await world.sql('select shipment_id from shipment_progress where erased_at is not null order by 1')).map(
    (row) => row.shipment_id as string,
  );
const waiting = async () =>
  (await world.sql('select shipment_id from shipments_to_erase')).map((row) => row.shipment_id as string);

test('each shipment is erased when its last state is that old, and checked no more often than that needs', async () => {
  const ended = await shipment(20, 15);
  const byHand = await shipment(19, 15);
  const going = await shipment(18, 3);
  const young = await shipment(5, 5);
  await erase(world.db, byHand);

  expect(await sweep(10)).toBe(1);
  expect(await erased()).toEqual([ended, byHand].sort());
  expect(await waiting()).toEqual([going]);
  expect(await sweep(10)).toBe(0);

  // The time is up, but the shipment has a newer state.
  await world.sql(`update shipments_to_erase set last_state_at = now() - interval '11 hours'`);
  expect(await sweep(10)).toBe(1);
  expect(await erased()).not.toContain(going);
  await age(going, 12);
  await world.sql(`update shipments_to_erase set last_state_at = now() - interval '12 hours'`);
  expect(await sweep(10)).toBe(1);
  expect(await erased()).toContain(going);
  expect(await waiting()).toEqual([]);

  expect(await sweep(4)).toBe(1); // as if SHIPMENT_RETENTION was lowered
  expect(await erased()).toContain(young);
  expect(await findInDatabase(world.sql, [planted.fullName, planted.street, planted.evidence])).toEqual([]);
});

test('more shipments than one step handles take several, and an interrupted step is repeated', async () => {
  const many = 250;
  await world.sql('truncate shipment_progress, events, shipments, outbox');
  await world.sql(`update erasure_walk set last_shipment_id = '00000000-0000-0000-0000-000000000000'`);
  await world.sql(
    `insert into shipment_progress
     select overlay(uuid_floor(now() - interval '20 hours')::text placing lpad(n::text, 12, '0') from 25)::uuid, $1,
            'DELIVERED', 0, now() - interval '20 hours' from generate_series(1, $2) n`,
    [world.shipperId, many],
  );
  const away = Object.assign(unavailable('killed'), { cause: new Error('Connection terminated') });
  const broken = { ...world.db, transaction: () => Promise.reject(away) };
  const deps = { ...erasing(world.db), logger, retentionMs: 10 * hourMs };
  await expect(createRetention({ ...deps, db: broken })()).rejects.toThrow('killed');
  expect(await sweep(10)).toBe(2);
  expect(await erased()).toHaveLength(many);
});

test('a shipment that cannot be erased does not delay others, and is finished later', async () => {
  const stuck = await shipment(30, 25);
  const failing: Database = {
    transaction: (work) => world.db.transaction(work),
    query: (name, ...rest) =>
      name === 'forget-erasures-under-way'
        ? Promise.reject(new Error('as planned'))
        : world.db.query(name, ...rest),
  };
  await expect(erase(failing, stuck)).rejects.toThrow('as planned');
  const other = await shipment(24, 23);
  await world.sql(`update erasure_walk set last_shipment_id = '00000000-0000-0000-0000-000000000000'`);
  expect(await createRetention({ ...erasing(failing), logger, retentionMs: 20 * hourMs })()).toBe(true);
  expect(await erased()).toEqual(expect.arrayContaining([stuck, other]));
  expect(await world.sql('select 1 from erasures_under_way')).toHaveLength(2);
  await sweep(20);
  expect(await world.sql('select 1 from erasures_under_way')).toEqual([]);
});
