import { percentiles } from '../percentiles.js';
import { startIsolation } from './isolation.js';
import type { Scenario } from './scenario.js';

/** About a third of what two cores deliver: 800 deliveries a second. */
const ordersPerSecond = 160;
const boundMs = 2_000;

export const halfHang: Scenario = {
  name: 'half-hang',
  promise: 'R11: 50 of 100 webhooks hang; the p99 of the healthy at most 2 s',
  run: async (bench) => {
    const isolation = await startIsolation(bench, ordersPerSecond);
    const base = percentiles(await isolation.phase(15, () => false));
    bench.say(`  all healthy: p99 ${base.p99.toFixed(1)} ms`);
    // Longer than the attempts hang: before and after the circuits open.
    const faulty = percentiles(await isolation.phase(40, (webhook) => webhook % 2 === 0));
    return [
      { name: 'p99, all healthy', value: base.p99, unit: 'ms', note: `p50 ${base.p50.toFixed(0)} ms` },
      {
        name: 'p99 of the healthy, 50 hang',
        value: faulty.p99,
        unit: 'ms',
        atMost: boundMs,
        note: `p50 ${faulty.p50.toFixed(0)} ms`,
      },
    ];
  },
};
