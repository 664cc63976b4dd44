import type { Account } from '../../../support/client.js';
import { percentiles } from '../percentiles.js';
import type { Figure } from './scenario.js';

export interface Read {
  name: string;
  account: Account;
  path: string;
}

const warmRounds = 5;
const boundMs = 50;

/** One at a time and alternating, so that a busy moment affects them all. */
export async function timeAll(reads: Read[], rounds: number): Promise<Figure[]> {
  const timed = reads.map((read) => ({ ...read, durationsMs: [] as number[], rows: 0 }));
  for (let round = -warmRounds; round < rounds; round += 1) {
    for (const one of timed) {
      const startedAt = performance.now();
      const response = await one.account.call(one.path);
      if (response.httpStatus !== 200) throw new Error(`${one.path}: ${JSON.stringify(response.body)}`);
      one.rows = Object.values(response.data).find(Array.isArray)?.length ?? 0;
      if (round >= 0) one.durationsMs.push(performance.now() - startedAt);
    }
  }
  return timed.map(({ name, durationsMs, rows }) => {
    const { p50, p99 } = percentiles(durationsMs);
    return { name, value: p99, unit: 'ms', atMost: boundMs, note: `p50 ${p50.toFixed(1)} ms, ${rows} rows` };
  });
}
