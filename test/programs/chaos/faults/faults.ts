import { setTimeout as sleep } from 'node:timers/promises';
import {
  allThereWithin,
  respondedWithin,
  goesOnWithin,
  notAccepted,
  paceMissing,
  takenUpWithin,
} from './figures.js';
import { egressFaults } from './egress.js';
import { abuses } from './abuse.js';
import { fairnessFaults } from './fairness.js';
import type { Fault, Injection } from './fault.js';
import { limitFaults } from './limits.js';
import { floods } from './floods.js';
import { clockAbuses, clockFaults } from './clock.js';
import { sweepFaults } from './sweep.js';
import { diskFaults } from './disk.js';
import { failOverFaults } from './fail-over.js';
import { networkFaults } from './network.js';
import { replayFaults } from './replays.js';
import { senderThreadFaults } from './sender-threads.js';
import { slowReceiverFaults } from './slow-receiver.js';
import { endlessResponseFaults } from './endless-responses.js';
import { handshakeFaults } from './handshakes.js';
import { mix } from './mix.js';
import { wrongStartFaults } from './wrong-starts.js';
import { inFlightOfProcess } from '../world/service.js';

const none: Fault = {
  name: 'none',
  promise: 'no fault: no duplicate at all',
  workers: 2,
  inFlight: 0,
  inject: ({ pause }) => pause(5_000),
  figures: (outcome) => [notAccepted(outcome)],
};

const killApi: Fault = {
  name: 'F1',
  promise: 'kill -9 of the api, 10 times: one shipment per idempotency key; ready again within 5 s',
  workers: 1,
  inFlight: 0,
  inject: async ({ world: { service }, times, pause, note }) => {
    let slowestMs = 0;
    for (let n = times(10); n > 0; n -= 1) {
      await service.end(service.api, 'SIGKILL');
      const killedAt = performance.now();
      await service.startApi();
      slowestMs = Math.max(slowestMs, performance.now() - killedAt);
      await pause(2_000);
    }
    note({ name: 'slowest start', value: slowestMs, unit: 'ms', atMost: 5_000 });
  },
  figures: ({ history }) => {
    const orders = history.accepted.filter(({ state }) => state === 'CREATED');
    const twice = orders.length - new Set(orders.map(({ trackingId }) => trackingId)).size;
    return [{ name: 'orders that share a shipment', value: twice, unit: '', atMost: 0 }];
  },
};

const killWorker: Fault = {
  name: 'F2',
  promise: 'kill -9 of one of two workers: others repeat its attempts within 15 s',
  workers: 2,
  inFlight: inFlightOfProcess,
  inject: async ({ world: { service }, mark }) => {
    await service.end(service.workers.shift()!, 'SIGKILL');
    mark();
    await service.startWorker();
  },
  figures: (outcome) => [takenUpWithin(outcome, 15_000), allThereWithin(outcome, 15_000)],
};

const roll: Fault = {
  name: 'F3',
  promise: 'workers replaced by SIGTERM, 20 times: no duplicate, exit 0, the last log line is written',
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { service }, times, note }) => {
    let wrong = 0;
    for (let n = times(20); n > 0; n -= 1) {
      await service.startWorker();
      const oldest = service.workers.shift()!;
      const exit = await service.end(oldest, 'SIGTERM');
      await sleep(100); // for output still in the pipe
      if (exit !== 0 || !oldest.output().includes('"msg":"stopped"')) wrong += 1;
    }
    note({ name: 'unclean exits', value: wrong, unit: '', atMost: 0 });
  },
  figures: (outcome) => [notAccepted(outcome)],
};

const freezeWorker: Fault = {
  name: 'F4',
  promise: 'SIGSTOP of one of two workers for 120 s: none of its late results counts',
  workers: 2,
  inFlight: inFlightOfProcess,
  inject: async ({ world: { service }, pause, mark }) => {
    const [victim] = service.workers;
    victim!.kill('SIGSTOP');
    mark();
    await pause(120_000);
    victim!.kill('SIGCONT');
  },
  figures: (outcome) => [
    takenUpWithin(outcome, 30_000),
    allThereWithin(outcome, 30_000),
    notAccepted(outcome),
  ],
};

const killRedis: Fault = {
  name: 'F5',
  promise:
    'kill -9 of Redis, back empty after 1, 15 and 120 s: every order accepted; delivering again within 10 s',
  needsRedis: true,
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { redis }, pause, mark }) => {
    for (const awayMs of [1_000, 15_000, 120_000]) {
      await redis!.kill();
      await pause(awayMs);
      await redis!.start();
      mark();
      await sleep(10_000); // the full time, in a quick run too
    }
  },
  figures: (outcome) => [
    respondedWithin(outcome, 250),
    notAccepted(outcome),
    goesOnWithin(outcome, 10_000),
    allThereWithin(outcome, 60_000),
  ],
};

const flushRedis: Fault = {
  name: 'F6',
  promise: 'FLUSHALL: everything delivered within 60 s, without help',
  needsRedis: true,
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { redis }, mark }) => {
    await redis!.command('FLUSHALL');
    mark();
  },
  figures: (outcome) => [allThereWithin(outcome, 60_000)],
};

const pauseRedis: Fault = {
  name: 'F7',
  promise: 'CLIENT PAUSE for 10 s, then Redis stopped for 10 s: order p99 ≤ 1.2 s',
  needsRedis: true,
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { redis }, pause, mark, times }) => {
    const ms = times(10) * 1_000;
    await redis!.command('CLIENT', 'PAUSE', String(ms));
    await pause(10_000);
    mark();
    await pause(5_000);
    await redis!.freeze(ms);
    mark();
  },
  figures: (outcome) => [
    respondedWithin(outcome, 1_200),
    notAccepted(outcome),
    goesOnWithin(outcome, 10_000),
  ],
};

const killClients: Fault = {
  name: 'F8',
  promise: 'CLIENT KILL TYPE normal every second for 60 s: at least half the delivery rate',
  needsRedis: true,
  workers: 2,
  inFlight: 0,
  inject: ({ world: { redis }, times, pause }) =>
    everySecond(times(60), pause, () => redis!.command('CLIENT', 'KILL', 'TYPE', 'normal')),
  figures: (outcome) => [paceMissing(outcome, 50), notAccepted(outcome)],
};

const fillRedis: Fault = {
  name: 'F9',
  promise:
    'maxmemory far below what is in use, for 20 s: a response within 1 s; delivering again within 30 s',
  needsRedis: true,
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { redis }, pause, mark }) => {
    await redis!.command('CONFIG', 'SET', 'maxmemory', '500kb');
    await pause(20_000);
    await redis!.command('CONFIG', 'SET', 'maxmemory', '0');
    mark();
  },
  figures: (outcome) => [
    respondedWithin(outcome, 1_000),
    goesOnWithin(outcome, 30_000),
    warnings(outcome.history.output, outcome.to - outcome.from),
  ],
};

/** Expects at most ten log lines a second per process, whatever happens. */
const warnings = (output: string, ms: number) => {
  const lines = output.split('\n').filter((line) => /"level":[456]0/.test(line));
  const value = lines.length / (ms / 1_000);
  return { name: 'logged warnings a second', value, unit: '', atMost: 30, note: 'three processes, 10 each' };
};

const crashPostgres: Fault = {
  name: 'F11',
  promise:
    'PostgreSQL stopped at once, started after 5 s: no 2xx without a commit; 503 within 1 s; delivering again within 10 s',
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: async ({ world: { postgres }, pause, mark }) => {
    await postgres!.crash();
    await pause(5_000);
    await postgres!.start();
    mark();
  },
  figures: (outcome) => [respondedWithin(outcome, 1_100), goesOnWithin(outcome, 10_000)],
};

const terminateBackends: Fault = {
  name: 'F12',
  promise: 'every connection to PostgreSQL terminated, every second for 20 s: no crash',
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: ({ world: { postgres }, times, pause }) =>
    everySecond(times(20), pause, () =>
      postgres!
        .sql('select pg_terminate_backend(pid) from pg_stat_activity where backend_type = $1', [
          'client backend',
        ])
        .catch(() => undefined),
    ),
  figures: (outcome) => [respondedWithin(outcome, 1_100)],
};

const lockDeliveries: Fault = {
  name: 'F13',
  promise: 'the outbox and the log locked for 30 s: 503 within 3 s; delivering again within 10 s',
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: async ({ world: { postgres }, times, mark }) => {
    await postgres!.locked('outbox, deliveries', times(30) * 1_000);
    mark();
  },
  figures: (outcome) => [respondedWithin(outcome, 3_000), goesOnWithin(outcome, 10_000)],
};

async function everySecond(
  times: number,
  pause: Injection['pause'],
  work: () => Promise<unknown>,
): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await work();
    await pause(1_000);
  }
}

const single = [
  none,
  killApi,
  killWorker,
  roll,
  freezeWorker,
  killRedis,
  flushRedis,
  pauseRedis,
  killClients,
  fillRedis,
  crashPostgres,
  terminateBackends,
  lockDeliveries,
  ...diskFaults,
  ...networkFaults,
  ...clockFaults,
  ...failOverFaults,
];

/** F10 is not among them (see docs/faults.md). */
export const faults: Fault[] = [
  ...single,
  ...egressFaults,
  ...limitFaults,
  ...abuses,
  ...wrongStartFaults,
  ...floods,
  ...replayFaults,
  ...sweepFaults,
  ...slowReceiverFaults,
  ...senderThreadFaults,
  ...clockAbuses,
  ...fairnessFaults,
  ...endlessResponseFaults,
  ...handshakeFaults,
  mix(single.filter(({ name, needs }) => name !== 'none' && !needs?.postgresClock)),
];
