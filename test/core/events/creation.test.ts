import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordEvents, type RecordDependencies } from '../../../src/engine/record/record.js';
import { ApiError } from '../../../src/platform/errors.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { createShipments } from '../../../src/shipments/create.js';
import { createCatalogue } from '../../../src/shipments/states.js';
import { collector, longHoldMs, recording } from '../../support/core/acts.js';
import { addShipments, addWebhook, createWorld, outboxOf, type World } from '../../support/core/world.js';

let world: World;
const metrics = createMetrics();
const catalogue = createCatalogue();
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const deps = (): RecordDependencies => ({
  ...recording(world.db, collector(), longHoldMs),
  allows: catalogue.allows,
  next: catalogue.next,
  metrics,
});
/** 30 s ago, and not created since. */
async function accepted(count = 1): Promise<string[]> {
  const shipmentIds = await addShipments(world, count);
  await world.sql(`insert into orders_to_create select unnest($1::uuid[])`, [shipmentIds]);
  await world.sql(`update shipments set accepted_at = now() - interval '30 seconds'`);
  return shipmentIds;
}
const statesOf = async (shipmentId: string) =>
  (
    await world.sql<{ state: string }>('select state from events where shipment_id = $1 order by sequence', [
      shipmentId,
    ])
  ).map(({ state }) => state);
const uncreated = async () => (await world.sql('select from orders_to_create')).length;
const created = async () => {
  const text = await metrics.text();
  const [count, within20s] = ['count ', 'bucket{le="20"} '].map((name) =>
    Number(text.split(`\nparcelhook_order_to_created_seconds_${name}`)[1]!.split('\n')[0]),
  );
  return { count, within20s };
};

test('an event for an accepted order that is not created yet creates its shipment first', async () => {
  const webhookId = await addWebhook(world);
  const [shipmentId] = await accepted();
  const before = await created();
  const [result] = await recordEvents(deps(), [
    { shipmentId: shipmentId!, state: 'PICKED_UP', externalId: 'picked-up' },
  ]);
  expect(result).toEqual({ eventId: 'picked-up' });
  expect(await statesOf(shipmentId!)).toEqual(['CREATED', 'PICKED_UP']);
  expect(await uncreated()).toBe(0);
  expect(
    (await outboxOf(world, webhookId)).map(({ sequence, waits_turn }) => [sequence, waits_turn]),
  ).toEqual([
    [1, false],
    [2, true],
  ]);
  expect(await created()).toEqual({ count: before.count! + 1, within20s: before.within20s });
  expect(await createShipments({ ...deps(), initialState: 'CREATED' }, [shipmentId!])).toBe(0);
  expect(await statesOf(shipmentId!)).toEqual(['CREATED', 'PICKED_UP']);
});

test('several of its events in one request are recorded in order', async () => {
  const [shipmentId] = await accepted();
  const states = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY'];
  await recordEvents(
    deps(),
    states.map((state) => ({ shipmentId: shipmentId!, state })),
  );
  expect(await statesOf(shipmentId!)).toEqual(['CREATED', ...states]);
});

test('an event that may not follow the creation is refused with what may, and creates nothing', async () => {
  const [shipmentId] = await accepted();
  const [result] = await recordEvents(deps(), [{ shipmentId: shipmentId!, state: 'DELIVERED' }]);
  expect(result).toBeInstanceOf(ApiError);
  expect((result as ApiError).message).toBe(
    'A shipment that is not created yet cannot change to DELIVERED; allowed: PICKED_UP, CANCELLED, LOST.',
  );
  expect([await statesOf(shipmentId!), await uncreated()]).toEqual([[], 1]);
});

test('an event and the creation at the same time record each state once', async () => {
  const shipmentIds = await accepted(40);
  const pickUp = (from: number) =>
    recordEvents(
      deps(),
      shipmentIds.slice(from, from + 10).map((shipmentId) => ({ shipmentId, state: 'PICKED_UP' })),
    );
  await Promise.all([
    createShipments({ ...deps(), initialState: 'CREATED' }, shipmentIds),
    ...[0, 10, 20, 30].map(pickUp),
  ]);
  for (const shipmentId of shipmentIds) expect(await statesOf(shipmentId)).toEqual(['CREATED', 'PICKED_UP']);
});
