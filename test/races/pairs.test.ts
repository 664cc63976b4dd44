import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { drain } from '../support/core/acts.js';
import { doneOrWaiting, stopAt, type StopAt } from '../support/core/barriers.js';
import { expectSoundRows, expectStillThere, expectNoneStranded, notOnce } from '../support/core/checks.js';
import { deeds, setScenes, type Scene } from './scene.js';
import { createWorld, type World } from '../support/core/world.js';
import { runs } from '../support/runs.js';

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

const isGlobal = (name: string) => deeds[name]!.isGlobal ?? false;
/** On scenes set and checked together, but for those whose acts change the rows of all. */
const groupsFor = (first: string): string[][] =>
  isGlobal(first)
    ? names.map((name) => [name])
    : [names.filter((name) => !isGlobal(name)), ...names.filter(isGlobal).map((name) => [name])];

/** Each act is stopped at both of its stops, and pairs on a scene of their own in both orders, or at one and in one. */
const isWhole = runs(2, 1) === 2;
const isItsOrder = (first: number, second: number) =>
  isWhole || first === second || first < second === ((first + second) % 2 === 0);

const deletion = 'deleting the webhook';
const cases = names.flatMap((first, index) =>
  groupsFor(first)
    .filter(([one, ...more]) => more.length > 0 || isItsOrder(index, names.indexOf(one!)))
    .flatMap((seconds) =>
      (['SNAPSHOT', 'COMMIT'] as const).map((where) => ({
        first,
        where,
        seconds,
        beside: seconds.length === 1 ? seconds[0]! : 'each other act',
      })),
    ),
);

/** Statements on what hundreds of scenes leave take five times as long, and so does emptying the tables each time. */
const tables = 'outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays';
let done = 0;
afterEach(() => world.sql((done += 1) % 10 === 0 ? `truncate ${tables} cascade` : 'delete from outbox'));

test.each(cases.filter((_, index) => isWhole || Math.floor(index / 2) % 2 === index % 2))(
  '$first, stopped at its $where beside $beside: all exists once, and nothing is stranded',
  async ({ first, where, seconds }) => {
    const scenes = await setScenes(world, seconds.length);
    for (const [n, second] of seconds.entries()) await force(scenes[n]!, first, second, where);
    await expectSoundRows(world);
    await expectNoneStranded(world);
    await drain(world);
    await expectStillThere(
      world,
      scenes.flatMap(({ deliveryIds }) => deliveryIds),
    );
    const wrong: Record<string, unknown> = {};
    for (const [n, second] of seconds.entries()) {
      if (first === deletion || second === deletion) continue;
      const { webhookId, failing, sending, failed, due } = scenes[n]!;
      const found = await notOnce(world, [webhookId], [failing, sending, failed, due]);
      if (found.length > 0) wrong[second] = found;
    }
    expect(wrong).toEqual({});
  },
  120_000,
);
