import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createPool, type Pool } from '../../../src/platform/database/postgres.js';
import { addMissedEvents } from '../../support/replays.js';
import { advance, askForReplay, progressOf } from '../../support/core/replays.js';
import {
  addWebhook,
  createWorld,
  forNewShipper,
  logger,
  setStatus,
  type World,
} from '../../support/core/world.js';

let shared: World;
let world: World;
let impatient: Pool;
beforeAll(async () => {
  shared = await createWorld();
  impatient = createPool({
    connectionString: shared.databaseUrl,
    applicationName: 'test',
    maxConnections: 4,
    durable: false,
    statementTimeoutMs: 250,
    logger,
  });
});
afterAll(async () => {
  await impatient.end();
  await shared.stop();
});
beforeEach(async () => {
  world = await forNewShipper(shared);
});

/** Adds a trigger for the rows that a replay adds to the outbox. */
const onAdded = (body: string) =>
  world.sql(
    `create or replace function on_added() returns trigger language plpgsql as $$ begin ${body} return new; end $$;
     create or replace trigger on_added before insert on outbox for each row execute function on_added()`,
  );

async function workOff(replayId: string): Promise<[string, number, number | null]> {
  for (let step = 0; step < 100; step += 1) {
    await world.sql('update replays set next_at = now() where replay_id = $1', [replayId]);
    await advance(impatient);
    const [row] = await world.sql('select walked_at from replays where replay_id = $1', [replayId]);
    if (row!.walked_at !== null) return progressOf(world, replayId);
  }
  throw new Error('the replay has not found everything after 100 steps');
}

test('pieces that exceed the statement timeout get smaller until they fit', async () => {
  const webhookId = await addWebhook(world, { ordering: 'NONE' });
  await addMissedEvents(world, world.shipperId, 200);
  await onAdded('perform pg_sleep(0.004);'); // 800 ms for all of them; the timeout is 250 ms
  expect(await workOff(await askForReplay(world, webhookId))).toEqual(['RUNNING', 0, 200]);
});

test('an event that fails on its own is left out, and the rest is sent', async () => {
  const webhookId = await addWebhook(world, { ordering: 'NONE' });
  await addMissedEvents(world, world.shipperId, 40);
  const [bad] = await world.sql<{ id: string }>(
    'select event_id as id from events where shipper_id = $1 order by event_id offset 20 limit 1',
    [world.shipperId],
  );
  await onAdded(`if new.event_id = '${bad!.id}' then raise exception 'corrupt'; end if;`);
  expect(await workOff(await askForReplay(world, webhookId))).toEqual(['RUNNING', 0, 39]);
  const others = 'select from outbox where shipper_id = $1 and event_id <> $2';
  expect(await world.sql(others, [world.shipperId, bad!.id])).toHaveLength(39);
});

test('workers advancing replays of one webhook concurrently together add no more than each may', async () => {
  const webhookId = await addWebhook(world);
  await setStatus(world, webhookId, 'PAUSED');
  await addMissedEvents(world, world.shipperId, 7_000);
  await onAdded('');
  for (let n = 0; n < 3; n += 1) await askForReplay(world, webhookId, 0);
  await Promise.all([advance(world.db), advance(world.db), advance(world.db)]);
  expect(await world.sql('select from outbox where webhook_id = $1', [webhookId])).toHaveLength(6_000);
  const waiting = `select from replays where webhook_id = $1 and status = 'RUNNING' and walked_at is null`;
  expect(await world.sql(waiting, [webhookId])).toHaveLength(3);
});

test('a status that this version does not know sends nothing', async () => {
  const webhookId = await addWebhook(world, { ordering: 'NONE' });
  await addMissedEvents(world, world.shipperId, 4);
  const replayId = await askForReplay(world, webhookId, 0);
  await world.sql(`update replays set delivery_status = 'LATER_VERSION' where replay_id = $1`, [replayId]);
  expect(await workOff(replayId)).toEqual(['DONE', 0, 0]);
  expect(await world.sql('select from outbox where webhook_id = $1', [webhookId])).toEqual([]);
});
