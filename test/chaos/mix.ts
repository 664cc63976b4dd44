import { allThereWithin } from './figures.js';
import type { Fault } from './fault.js';

const faultsInAll = 20;

/** F17: the others in an order that the seed decides. */
export function mix(others: Fault[]): Fault {
  return {
    name: 'F17',
    promise: 'a mix of all, in an order the seed decides: no violation',
    workers: 2,
    inFlight: faultsInAll * Math.max(...others.map(({ inFlight }) => inFlight)),
    inject: async (injection) => {
      const usable = others.filter(({ needsRedis }) => !needsRedis || injection.world.redis);
      for (let n = injection.times(faultsInAll); n > 0; n -= 1) {
        const fault = usable[Math.floor(injection.random() * usable.length)]!;
        process.stderr.write(`  ${fault.name}: ${fault.promise}\n`);
        await fault.inject(injection);
        await injection.pause(10_000);
      }
      injection.mark();
    },
    figures: (outcome) => [allThereWithin(outcome, 60_000)],
  };
}
