import { answeredWithin, allThereWithin, goesOnWithin, notAccepted } from './figures.js';
import { flowsWithin } from '../world/flow.js';
import type { Fault } from './fault.js';
import { concurrency } from '../world/service.js';

const clusterPrimary: Fault = {
  name: 'F18',
  promise: 'a primary of a Redis Cluster of six killed: no order refused, caught up 30 s after',
  needsRedis: true,
  needs: { failOver: 'cluster' },
  workers: 2,
  inFlight: 0,
  inject: async ({ world, mark, note }) => {
    mark();
    await world.failOver!();
    note(await flowsWithin(world, 30_000));
  },
  figures: (outcome) => [
    answeredWithin(outcome, 250),
    notAccepted(outcome),
    goesOnWithin(outcome, 30_000),
    allThereWithin(outcome, 30_000),
  ],
};

const sentinels: Fault = {
  name: 'F19-redis',
  promise: 'Redis killed, three Sentinels have its replica lead: orders stay accepted; delivering 10 s after',
  needsRedis: true,
  needs: { failOver: 'sentinel' },
  workers: 2,
  inFlight: 0,
  inject: async ({ world, mark, note }) => {
    await world.failOver!();
    mark();
    note(await flowsWithin(world, 10_000));
  },
  figures: (outcome) => [
    answeredWithin(outcome, 250),
    notAccepted(outcome),
    goesOnWithin(outcome, 10_000),
    allThereWithin(outcome, 60_000),
  ],
};

const standby: Fault = {
  name: 'F19-postgres',
  promise: 'PostgreSQL stopped at once, its synchronous standby promoted: no 2xx lost; delivering 10 s after',
  needs: { failOver: 'standby' },
  workers: 2,
  inFlight: 2 * concurrency,
  inject: async ({ world: { failOver }, mark }) => {
    await failOver!();
    mark();
  },
  figures: (outcome) => [
    answeredWithin(outcome, 1_100),
    goesOnWithin(outcome, 10_000),
    allThereWithin(outcome, 60_000),
  ],
};

/** F18, F19: another engine takes over. */
export const failOverFaults: Fault[] = [clusterPrimary, sentinels, standby];
