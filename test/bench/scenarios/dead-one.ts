import { median } from '../percentiles.js';
import { startIsolation } from './isolation.js';
import type { Scenario } from './scenario.js';

const rounds = 3;
const seconds = 20;

/** With and without the dead one in turn: the machine drifts. */
export const deadOne: Scenario = {
  name: 'dead-one',
  promise: 'R10: 1 dead webhook among 100; the p99 of the healthy at most 10 % above what it is without',
  run: async (bench) => {
    const isolation = await startIsolation(bench);
    await isolation.phase(10, () => false); // warm
    const base: number[] = [];
    const faulty: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      base.push((await isolation.phase(seconds, () => false)).p99);
      faulty.push((await isolation.phase(seconds, (webhook) => webhook === 0)).p99);
      bench.say(`  healthy p99 ${base.at(-1)!.toFixed(1)} ms; one dead ${faulty.at(-1)!.toFixed(1)} ms`);
    }
    const list = (values: number[]) => values.map((ms) => ms.toFixed(0)).join(', ');
    return [
      { name: 'p99, all healthy', value: median(base), unit: 'ms', note: list(base) },
      {
        name: 'p99 of the healthy, one dead',
        value: median(faulty),
        unit: 'ms',
        atMost: median(base) * 1.1,
        note: list(faulty),
      },
    ];
  },
};
