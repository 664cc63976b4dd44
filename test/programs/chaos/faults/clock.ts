import { respondedWithin, allThereWithin, notAccepted, triedAgainWithin } from './figures.js';
import { inFlightOfProcess } from '../world/service.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/scenarios/scenario.js';
import { operator } from '../../../support/client.js';
import type { RunningProcess } from '../../../support/process.js';
import type { World } from '../world/world.js';
import type { Fault, Outcome } from './fault.js';

const hourMs = 3_600_000;
/**
 * libfaketime reaches the backends one after the other, within a second. Meanwhile one whose clock is still right takes
 * what another has just made due for an hour overdue, and another's new claim for expired. Then that is sent, up to half a
 * second after it was claimed. The rest is for busy cores.
 */
const heardByAllMs = 2_500;

/** F16: the service's own clock; the clock of PostgreSQL, which determines what is due, stays right. */
const wrongClock: Fault = {
  name: 'F16',
  promise:
    'the clocks of all processes an hour ahead, then behind, then that of one worker behind: nothing early, nothing 60 s late',
  needs: { clocks: true },
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { service, clocks }, pause, mark }) => {
    const everybody = () => [service.api, ...service.workers];
    for (const offsetMs of [hourMs, -hourMs]) {
      await clocks!.set(everybody(), offsetMs);
      await pause(20_000);
    }
    await clocks!.set(everybody(), 0);
    await clocks!.set(service.workers.slice(0, 1), -hourMs);
    await pause(20_000);
    await clocks!.set(everybody(), 0);
    mark();
  },
  figures: (outcome) => [
    respondedWithin(outcome, 1_000),
    notAccepted(outcome),
    allThereWithin(outcome, 60_000),
  ],
};

/** F16, and the clock of B21: PostgreSQL's, which determines what is due; all others stay right. */
const wrongPostgresClock: Fault = {
  name: 'F16-postgres',
  promise: 'the clock of PostgreSQL set back by an hour while it runs: nothing early, nothing 60 s late',
  needs: { postgresClock: true },
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: async ({ world: { postgres }, pause, mark, mayRetryEarly, maySignWrongly }) => {
    const from = performance.timeOrigin + performance.now();
    maySignWrongly({ from, to: Infinity });
    await postgres!.setClock!(-hourMs);
    mayRetryEarly({ from, to: from + heardByAllMs });
    mark();
    await pause(40_000);
  },
  figures: (outcome) => [
    respondedWithin(outcome, 1_000),
    notAccepted(outcome),
    allThereWithin(outcome, 60_000),
    triedAgainWithin(outcome, 60_000),
  ],
};

const wrongFromMs = 600_000;
const saysWithinMs = 30_000;
/** Signs in the process, whose clock alone is set: a thread has its own. */
const wrongFromItsStart = (offsetMs: number) => ({
  CHAOS_CLOCK_MS: String(offsetMs),
  SEND_THREADS: '0',
});

/** A process reports its clock: the reason in its log, a gauge in seconds, and its line in the operator's status. */
async function saidBy({ service }: World, worker: RunningProcess, offsetMs: number): Promise<boolean> {
  const reason = `600 s ${offsetMs > 0 ? 'ahead of' : 'behind'} PostgreSQL's`;
  const metrics = await (await fetch(`${worker.url}/metrics`)).text();
  const gauge = Number(/^parcelhook_clock_ahead_seconds (\S+)$/m.exec(metrics)?.[1]);
  const { data } = await operator(service, '/status');
  const clocks = data.clocks as { aheadSeconds: number; role: string }[];
  return (
    worker.output().includes(reason) &&
    Math.abs(gauge - offsetMs / 1_000) < 1 &&
    clocks.some(
      ({ aheadSeconds, role }) => role === 'worker' && Math.abs(aheadSeconds - offsetMs / 1_000) < 1,
    )
  );
}

const wrongWorkers: Fault = {
  name: 'B29',
  promise:
    'workers whose clocks are 10 minutes ahead and behind: every signature verifies; their logs, a gauge and the status say so',
  needs: { clocks: true },
  workers: 1,
  inFlight: 0,
  inject: async ({ world, pause, note }) => {
    const { service } = world;
    let silent = 0;
    for (const offsetMs of [wrongFromMs, -wrongFromMs]) {
      const worker = await service.startWorker(wrongFromItsStart(offsetMs));
      await service.end(service.workers.shift()!, 'SIGTERM'); // the wrong one sends alone
      await pause(20_000);
      const until = performance.now() + saysWithinMs;
      let said = false;
      for (; !said && performance.now() < until; await sleep(500))
        said = await saidBy(world, worker, offsetMs).catch(() => false); // a request may time out
      if (!said) silent += 1;
    }
    note({ name: 'processes that do not say so', value: silent, unit: '', atMost: 0 });
    await service.startWorker();
    await service.end(service.workers.shift()!, 'SIGTERM');
  },
  figures: (outcome) => [signedWithin(outcome, 5 * 60_000)],
};

/** The largest difference between `webhook-timestamp` and the receiver's clock, during the fault. */
const signedWithin = ({ history, from, to }: Outcome, atMost: number): Figure => {
  const off = history.journal
    .filter(({ at }) => at >= from && at <= to)
    .map((one) => Math.abs(one.clockOffMs));
  return {
    name: 'signed off by',
    value: Math.max(0, ...off),
    unit: 'ms',
    atMost,
    note: `${off.length} requests`,
  };
};

export const clockFaults = [wrongClock, wrongPostgresClock];
export const clockAbuses = [wrongWorkers];
