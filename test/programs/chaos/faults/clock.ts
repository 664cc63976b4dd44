import { respondedWithin, allThereWithin, notAccepted, triedAgainWithin } from './figures.js';
import { inFlightOfProcess } from '../world/service.js';
import type { Fault } from './fault.js';

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
  inject: async ({ world: { postgres }, pause, mark, mayRetryEarly }) => {
    const from = performance.timeOrigin + performance.now();
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

export const clockFaults = [wrongClock, wrongPostgresClock];
