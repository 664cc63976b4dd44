import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRemoval } from '../../../src/accounts/removal/removal.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { owners } from '../../../src/roles/background.js';
import { record } from '../../support/core/acts.js';
import {
  addShipment,
  addWebhook,
  createWorld,
  forNewShipper,
  logger,
  outboxOf,
  type World,
} from '../../support/core/world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

test('a row that cannot be deleted is skipped, does not delay other shippers’ removal, and is deleted later', async () => {
  const removed = [world, await forNewShipper(world)].sort((a, b) => (a.shipperId < b.shipperId ? -1 : 1));
  const hooks: string[] = [];
  for (const one of removed) {
    hooks.push(await addWebhook(one));
    for (let n = 0; n < 5; n += 1) await record(one.db, await addShipment(one), ['CREATED']);
  }
  const poison = (await outboxOf(world, hooks[0]))[2]!.delivery_id;
  await world.sql(`create function refuse() returns trigger language plpgsql as $$ begin
    if old.delivery_id = '${poison}' then raise exception 'as planned'; end if; return old; end $$`);
  await world.sql('create trigger refuse before delete on outbox for each row execute function refuse()');
  await world.sql(`update shippers set status = 'REMOVED'`);
  const deps = { db: world.db, logger, metrics: createMetrics() };
  const run = async (quietMs: number) => {
    const step = createRemoval({ ...deps, quietMs, owners });
    for (let n = 0; n < 80; n += 1) await step().catch(() => undefined);
  };
  await run(60_000);
  expect((await outboxOf(world)).map((row) => row.delivery_id)).toEqual([poison]);
  expect(await world.sql('select 1 from shippers where emptied_at is null')).toEqual([]);
  await run(0);
  expect((await world.sql('select shipper_id from shippers')).map((row) => row.shipper_id as string)).toEqual(
    [removed[0]!.shipperId],
  );
  await world.sql('drop trigger refuse on outbox');
  await run(0);
  expect(await world.sql('select 1 from shippers')).toEqual([]);
});
