import type { Needs } from '../world/deployment.js';
import { allThereWithin } from './figures.js';
import type { Fault } from './fault.js';

/** Many small faults find more than a few long ones. */
const part = 0.25;

/** F17: the others that need no engine of their own, ordered by the seed, each at a quarter of its length. */
export function mix(others: Fault[]): Fault {
  const usual = others.filter(({ needs }) => needs?.failOver === undefined);
  return {
    name: 'F17',
    promise: 'a mix of all, in an order that the seed decides, for ten minutes: no violation',
    needs: usual.reduce<Needs>((all, { needs }) => ({ ...all, ...needs }), {}),
    workers: 2,
    inFlight: 0,
    inject: async (injection) => {
      const usable = usual.filter(({ needsRedis }) => !needsRedis || injection.world.redis);
      const smaller = {
        ...injection,
        pause: (ms: number) => injection.pause(ms * part),
        times: (count: number) => injection.times(Math.max(1, count * part)),
      };
      do {
        const fault = usable[Math.floor(injection.random() * usable.length)]!;
        process.stderr.write(`  ${fault.name}: ${fault.promise}\n`);
        injection.mayRepeat(fault.inFlight);
        await fault.inject(smaller);
        await injection.pause(10_000);
      } while (injection.leftMs() > 0);
      injection.mark();
    },
    figures: (outcome) => [allThereWithin(outcome, 60_000)],
  };
}
