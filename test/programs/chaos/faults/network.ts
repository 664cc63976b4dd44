import { respondedWithin, allThereWithin, goesOnWithin, notAccepted } from './figures.js';
import { flowsWithin } from '../world/flow.js';
import type { Fault } from './fault.js';
import type { Order } from '../world/proxy.js';
import { inFlightOfProcess } from '../world/service.js';
import type { World } from '../world/world.js';

const needs = { proxies: true };

const tellAll = ({ proxies }: World, order: Order) =>
  Promise.all(Object.values(proxies).map((proxy) => proxy.send(order)));

const latency: Fault = {
  name: 'F15-latency',
  promise:
    '200 ms more for every response of PostgreSQL and Redis, for 20 s: every order accepted; backlog delivered within 30 s',
  needs,
  workers: 2,
  inFlight: 0,
  inject: async ({ world, pause, mark }) => {
    await tellAll(world, { latencyMs: 200 });
    await pause(20_000);
    await tellAll(world, { latencyMs: 0 });
    mark();
  },
  figures: (outcome) => [
    respondedWithin(outcome, 3_000),
    notAccepted(outcome),
    allThereWithin(outcome, 30_000),
  ],
};

const resets: Fault = {
  name: 'F15-resets',
  promise:
    'one packet in a hundred resets its connection to PostgreSQL or Redis, for 20 s: 503 within 3 s; no crash',
  needs,
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: async ({ world, pause, mark }) => {
    await tellAll(world, { resetShare: 0.01 });
    await pause(20_000);
    await tellAll(world, { resetShare: 0 });
    mark();
  },
  figures: (outcome) => [
    respondedWithin(outcome, 3_000),
    goesOnWithin(outcome, 10_000),
    allThereWithin(outcome, 30_000),
  ],
};

const noticedMs = 30_000;

/** Open connections go silent, while new ones work. */
const halfOpen = (engine: 'postgres' | 'redis', figures: Fault['figures']): Fault => ({
  name: `F15-half-open-${engine}`,
  promise: `every connection to ${engine} silent, without either side noticing; new ones work: delivering again within 30 s`,
  ...(engine === 'redis' && { needsRedis: true }),
  needs,
  workers: 2,
  inFlight: engine === 'postgres' ? 2 * inFlightOfProcess : 0,
  inject: async ({ world, mark, pause, note }) => {
    await world.proxies[engine]!.send({ swallowOpen: true });
    mark();
    note(await flowsWithin(world, noticedMs));
    await pause(noticedMs);
  },
  figures: (outcome) => [
    ...figures(outcome),
    goesOnWithin(outcome, noticedMs),
    allThereWithin(outcome, noticedMs),
  ],
});

/** A host that accepts connections and bytes, and never responds. */
const blackHole = (engine: 'postgres' | 'redis', figures: Fault['figures']): Fault => ({
  ...halfOpen(engine, figures),
  name: `F15-black-hole-${engine}`,
  promise: `every connection to ${engine} silent, old and new, for 20 s: delivering again within 30 s`,
  inject: async ({ world, mark, pause, note }) => {
    await world.proxies[engine]!.send({ swallowOpen: true, swallowsNew: true });
    await pause(20_000);
    await world.proxies[engine]!.send({ swallowsNew: false });
    mark();
    note(await flowsWithin(world, noticedMs));
  },
});

const withoutRedis: Fault['figures'] = (outcome) => [respondedWithin(outcome, 1_200), notAccepted(outcome)];
const withoutPostgres: Fault['figures'] = (outcome) => [respondedWithin(outcome, 4_000)];

/** F15: a proxy in front of PostgreSQL and Redis. */
export const networkFaults: Fault[] = [
  latency,
  resets,
  halfOpen('postgres', withoutPostgres),
  halfOpen('redis', withoutRedis),
  blackHole('postgres', withoutPostgres),
  blackHole('redis', withoutRedis),
];
