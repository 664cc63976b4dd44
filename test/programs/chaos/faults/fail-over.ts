import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/scenarios/scenario.js';
import { respondedWithin, allThereWithin, goesOnWithin, notAccepted, otherThan503 } from './figures.js';
import { flowsWithin } from '../world/flow.js';
import type { Fault } from './fault.js';
import { inFlightOfProcess } from '../world/service.js';

const clusterPrimary: Fault = {
  name: 'F18',
  promise: 'kill -9 of one primary of a Redis Cluster of six: every order accepted; caught up within 30 s',
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
    respondedWithin(outcome, 250),
    notAccepted(outcome),
    goesOnWithin(outcome, 30_000),
    allThereWithin(outcome, 30_000),
  ],
};

const sentinels: Fault = {
  name: 'F19-redis',
  promise:
    'kill -9 of Redis, its replica promoted by three Sentinels: every order accepted; delivering again within 10 s',
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
    respondedWithin(outcome, 250),
    notAccepted(outcome),
    goesOnWithin(outcome, 10_000),
    allThereWithin(outcome, 60_000),
  ],
};

const standby: Fault = {
  name: 'F19-postgres',
  promise:
    'PostgreSQL stopped at once, its synchronous standby promoted: no 2xx lost; delivering again within 10 s',
  needs: { failOver: 'standby' },
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: async ({ world: { failOver }, mark }) => {
    await failOver!();
    mark();
  },
  figures: (outcome) => [
    respondedWithin(outcome, 1_100),
    goesOnWithin(outcome, 10_000),
    allThereWithin(outcome, 60_000),
  ],
};

const readOnly: Fault = {
  name: 'B21-read-only',
  promise:
    'PostgreSQL read-only for 20 s: 503 with Retry-After; not ready within 15 s; delivering again within 10 s',
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: async ({ world: { service, postgres }, pause, mark, note }) => {
    await postgres!.setReadOnly('on');
    note(await unreadyWithin(service.url, 15_000));
    await pause(20_000);
    await postgres!.setReadOnly('off');
    mark();
  },
  figures: (outcome) => [
    respondedWithin(outcome, 1_100),
    otherThan503(outcome),
    goesOnWithin(outcome, 10_000),
    allThereWithin(outcome, 60_000),
  ],
};

const asynchronousStandby: Fault = {
  name: 'B21-standby',
  promise:
    'PostgreSQL stopped at once, an asynchronous standby promoted that lacks the last seconds: old cursors refused; nothing lost but those seconds',
  needs: { failOver: 'asynchronous standby' },
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: async ({ world: { standby, accounts }, pause, leftMs, mark, mayLose, note }) => {
    await sleep(leftMs() + 2_000); // by then a webhook has been paused and resumed, which must not be lost
    const from = await standby!.cutOff();
    await pause(5_000);
    const read = (query: string) => accounts[0]!.call(`/v1/events?${query}`);
    const cursor = (await read('after=latest')).data.nextCursor as string;
    await standby!.failOver();
    mayLose({ from, to: performance.timeOrigin + performance.now() });
    mark();
    await pause(15_000); // transaction ids reach the old values
    const { httpStatus, body } = await read(`after=${cursor}`);
    const isRefused = httpStatus === 400 && body.error.details?.[0]?.path === 'after';
    note({ name: 'old cursors accepted', value: isRefused ? 0 : 1, unit: '', atMost: 0 });
  },
  figures: (outcome) => [
    respondedWithin(outcome, 1_100),
    goesOnWithin(outcome, 10_000),
    allThereWithin(outcome, 60_000),
  ],
};

async function unreadyWithin(url: string, atMost: number): Promise<Figure> {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  let isReady = true;
  for (; isReady && elapsedMs() < 2 * atMost; await sleep(100)) isReady = (await fetch(`${url}/readyz`)).ok;
  return { name: 'reported not ready after', value: isReady ? Infinity : elapsedMs(), unit: 'ms', atMost };
}

export const failOverFaults: Fault[] = [clusterPrimary, sentinels, standby, readOnly, asynchronousStandby];
