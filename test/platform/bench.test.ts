import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../programs/bench/clock.js';
import { figure } from '../programs/bench/figures.js';
import { closedLoop, openLoop } from '../programs/bench/pace.js';
import { summarize, type Run } from '../programs/bench/report.js';

describe('open loop', () => {
  test('keeps its rate however slow the responses', async () => {
    const startedAt: number[] = [];
    await openLoop(100, 20, async () => {
      startedAt.push(now());
      await sleep(300);
    });
    expect(startedAt).toHaveLength(20);
    const lastedMs = startedAt.at(-1)! - startedAt[0]!;
    expect(lastedMs).toBeGreaterThan(150); // the first may be late
  });

  test('measures from the due time when a start is delayed', async () => {
    const lateMs: number[] = [];
    await openLoop(100, 5, (n, fromAt) => {
      lateMs.push(now() - fromAt);
      if (n === 1) for (const until = now() + 100; now() < until;); // stalls the whole process
      return Promise.resolve();
    });
    // Due 10, 20 and 30 ms after the one that stalled for 100.
    expect(lateMs[2]).toBeGreaterThan(80);
    expect(lateMs[4]).toBeGreaterThan(60);
  });

  test('fails with the first failure', async () => {
    const failing = openLoop(1_000, 50, (n) =>
      n < 3 ? Promise.resolve() : Promise.reject(new Error(`the ${n}th`)),
    );
    await expect(failing).rejects.toThrow('the 3th');
  });
});

test('a closed loop has one request under way per client, and all end with the first failure', async () => {
  let underWay = 0;
  let most = 0;
  const done: number[] = [];
  await closedLoop(10, 3, async (n) => {
    most = Math.max(most, (underWay += 1));
    await sleep(1);
    underWay -= 1;
    done.push(n);
  });
  expect(most).toBe(3);
  expect(done.sort((a, b) => a - b)).toEqual([...Array(10).keys()]);

  const begun: number[] = [];
  const failing = closedLoop(1_000, 2, async (n) => {
    begun.push(n);
    await sleep(1);
    if (n === 4) throw new Error('refused');
  });
  await expect(failing).rejects.toThrow('refused');
  await sleep(20);
  expect(begun.length).toBeLessThan(10);
});

test('runs of one load on one system become medians with ranges, compared with the ceiling', () => {
  const run = (system: string, perSecond: number): Run => ({
    phase: 'orders',
    case: 'role all',
    system,
    measured: [{ load: 'some orders', figures: [figure('deliveries', '/s', perSecond)] }],
  });
  const runs = [run('measured', 100), run('versus', 50), run('measured', 400), run('measured', 200)];
  const rows = summarize(runs, new Map([['measured', 'v20.0.0']]), 1_000);
  expect(rows).toEqual([
    {
      phase: 'orders',
      case: 'role all',
      load: 'some orders',
      system: 'measured',
      node: 'v20.0.0',
      figures: [
        { name: 'deliveries', unit: '/s', median: 200, min: 100, max: 400, runs: 3 },
        { name: 'deliveries, of the bare poster', unit: '%', median: 20, min: 10, max: 40, runs: 3 },
      ],
    },
    expect.objectContaining({ system: 'versus' }),
  ]);
});
