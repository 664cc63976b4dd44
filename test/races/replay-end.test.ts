import { expect, test } from '@jest/globals';
import { advance, progressOf, replay } from '../support/core/replays.js';
import { setUpRaces, webhookId, world, failForGood } from '../support/core/race.js';
import { outboxOf } from '../support/core/world.js';
import { endReplay } from '../../src/catch-up/replay/request-store.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

test('a delivery that another replay takes over from a cancelled one counts as done for neither, and is not taken back', async () => {
  await failForGood();
  const cancelled = await replay(world, world.db, webhookId);
  await world.db.transaction((tx) => endReplay(tx, cancelled, world.shipperId));
  await world.sql(`update replays set next_at = now() + interval '1 minute'`); // before anything is taken back
  const other = await replay(world, world.db, webhookId);

  const owed = await world.sql<{ replay_id: string }>('select replay_id from outbox');
  expect(owed.map(({ replay_id }) => replay_id)).toEqual([other]);
  expect(await progressOf(world, cancelled)).toEqual(['CANCELLED', 0, 1]);
  expect(await progressOf(world, other)).toEqual(['RUNNING', 0, 1]);

  await world.sql('update replays set next_at = now()');
  await advance(world.db);
  expect(await outboxOf(world)).toHaveLength(1);
  expect(await progressOf(world, cancelled)).toEqual(['CANCELLED', 0, 1]);
});
