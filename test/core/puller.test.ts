import { expect, test } from '@jest/globals';
import { createLanes } from '../../src/deliveries/dispatch/lanes/lanes.js';
import { createPuller } from '../../src/deliveries/dispatch/puller.js';
import { timesOf } from '../../src/deliveries/times.js';
import { createMetrics } from '../../src/platform/metrics.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { until } from '../flows/support.js';
import { leaseMs, record } from './support/acts.js';
import { stopAt } from './support/barriers.js';
import { setUpRaces, webhookId, world } from './support/race.js';
import { addShipment, logger } from './support/world.js';

setUpRaces();

/** A puller of which the first statement stops before its commit, and from when on each statement looked. */
function watchedPuller() {
  const stop = stopAt(world, 'pull-due', 'COMMIT');
  const lookedSince: (Date | null)[] = [];
  const watch = (db: Database): Database => ({
    query: (name, text, values) => {
      if (name === 'pull-due') lookedSince.push(...(values![2] as (Date | null)[]));
      return db.query(name, text, values);
    },
    transaction: (work) => db.transaction((tx) => work(watch(tx))),
  });
  const puller = createPuller({
    leaseDb: watch(stop.db),
    logger,
    metrics: createMetrics(),
    lanes: createLanes(50, timesOf().slowMs),
    leaseMs,
    budget: { forBacklogs: () => () => 50 },
    onClaimed: () => undefined,
  });
  return { puller, lookedSince, stop };
}

const oweSome = async () => record(world.db, await addShipment(world), ['CREATED']);

test('what becomes due while a statement pulls does not send the lane back to the beginning', async () => {
  const { puller, lookedSince, stop } = watchedPuller();
  await oweSome();
  puller.look([webhookId]);
  await stop.reached;
  await oweSome();
  puller.lookAhead([webhookId], performance.now());
  stop.go();
  await until('it has looked again', () => lookedSince.length > 1);
  expect(lookedSince).toEqual([null, expect.any(Date)]);
  await puller.stop();
});

test('what may be due from earlier does, while a statement pulls as well', async () => {
  const { puller, lookedSince, stop } = watchedPuller();
  await oweSome();
  puller.look([webhookId]);
  await stop.reached;
  puller.look([webhookId]);
  stop.go();
  await until('it has looked again', () => lookedSince.length > 1);
  expect(lookedSince).toEqual([null, null]);
  await puller.stop();
});

test('what the sweeper finds due from earlier is looked for from there, while a statement pulls as well', async () => {
  const { puller, lookedSince, stop } = watchedPuller();
  await oweSome();
  puller.look([webhookId]);
  await stop.reached;
  const dueAt = new Date(Date.now() - 60_000);
  puller.lookFrom([{ webhookId, dueAt }]);
  puller.lookAhead([webhookId], performance.now());
  stop.go();
  await until('it has looked again', () => lookedSince.length > 1);
  expect(lookedSince).toEqual([null, new Date(dueAt.getTime() - 500)]);
  await puller.stop();
});
