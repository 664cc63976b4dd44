import { afterAll, afterEach, beforeAll, describe, test } from '@jest/globals';
import { drain } from '../support/core/acts.js';
import { doneOrWaiting, stopAt, type StopAt } from '../support/core/barriers.js';
import {
  expectEachOnce,
  expectSoundRows,
  expectStillThere,
  expectNoneStranded,
} from '../support/core/checks.js';
import { deeds, setScene, type Scene } from './scene.js';
import { createWorld, forNewShipper, type World } from '../support/core/world.js';

/**
 * Each act of the scene that writes the outbox against each other one, on the same rows: stopped with an old snapshot
 * while the other begins and commits, and stopped before its commit while the other waits for its locks.
 */
const names = Object.keys(deeds);

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

async function force(scene: Scene, first: string, second: string, where: StopAt): Promise<void> {
  const stop = stopAt(world, deeds[first]!.statement, where);
  const stopped = deeds[first]!.run(stop.db, scene);
  await Promise.race([stop.reached, stopped]);
  const other = deeds[second]!.run(world.db, scene);
  await doneOrWaiting(world.db, other);
  stop.go();
  await Promise.all([stopped, other]);
}

const deletion = 'deleting the webhook';

describe.each(names)('%s', (first) => {
  afterEach(() => world.sql('delete from outbox')); // left by a failed test

  const seen = 'on a snapshot older than';
  const locked = 'not committed yet beside';
  test.each(names.flatMap((second) => [[seen, second] as const, [locked, second] as const]))(
    `%s %s: all exists once, and nothing is stranded`,
    async (how, second) => {
      const scene = await setScene(await forNewShipper(world));
      await force(scene, first, second, how === seen ? 'SNAPSHOT' : 'COMMIT');
      await expectSoundRows(world);
      await expectNoneStranded(world);
      await drain(world);
      await expectStillThere(world, scene.deliveryIds);
      const { webhookId, failing, sending, failed, due } = scene;
      if (first !== deletion && second !== deletion)
        await expectEachOnce(world, [webhookId], [failing, sending, failed, due]);
    },
  );
});
