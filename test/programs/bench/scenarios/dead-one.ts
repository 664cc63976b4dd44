import { median, percentiles } from '../percentiles.js';
import { startIsolation } from './isolation.js';
import type { Scenario } from './scenario.js';

/** 400 deliveries a second. Twice that would measure the load of two cores rather than the dead webhook. */
const ordersPerSecond = 80;
const rounds = 6;
const phaseSeconds = 20;
const warmUpSeconds = 60;
/** Alternating, so that drift and periodic work (autovacuum) affect both kinds alike. */
const order = [false, true, true, false];

const p99 = (values: number[]) => percentiles(values).p99;
const list = (phases: number[][]) => phases.map((values) => p99(values).toFixed(0)).join(', ');

export const deadOne: Scenario = {
  name: 'dead-one',
  promise: 'R10: 1 dead webhook among 100; the p99 of the healthy at most 10 % above what it is without',
  run: async (bench) => {
    const isolation = await startIsolation(bench, ordersPerSecond);
    await isolation.phase(warmUpSeconds, () => false);
    const healthy: number[][] = [];
    const faulty: number[][] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const dead of order) {
        const values = await isolation.phase(phaseSeconds, (webhook) => dead && webhook === 0);
        (dead ? faulty : healthy).push(values);
        bench.say(`  ${dead ? 'one dead' : 'healthy '} p99 ${p99(values).toFixed(1)} ms`);
      }
    }
    // A stall affects the pooled p99 of its kind, but only one phase of the median.
    const base = median(healthy.map(p99));
    const value = median(faulty.map(p99));
    const pooled = p99(healthy.flat());
    return [
      { name: 'p99, all healthy', value: base, unit: 'ms', note: list(healthy) },
      { name: 'p99 of the healthy, one dead', value, unit: 'ms', atMost: base * 1.1, note: list(faulty) },
      { name: 'p99 of all phases, all healthy', value: pooled, unit: 'ms' },
      { name: 'p99 of all phases, one dead', value: p99(faulty.flat()), unit: 'ms', atMost: pooled * 1.1 },
    ];
  },
};
