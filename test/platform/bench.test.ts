import { afterAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { now } from '../programs/bench/clock.js';
import { figure, type Measured } from '../programs/bench/figures.js';
import { closedLoop, openLoop } from '../programs/bench/pace.js';
import { createProgram, readArguments } from '../programs/chaos/arguments.js';
import { summarize, type Run } from '../programs/bench/report.js';
import { resultsIn, type RunKey } from '../programs/chaos/results.js';
import type { Result } from '../programs/chaos/run.js';
import { operator, registerAccount } from '../support/client.js';
import { operatorToken } from '../support/process.js';
import { sharedService } from '../support/shared-service.js';

describe('open loop', () => {
  test('keeps its rate however slow the responses', async () => {
    const startedAt: number[] = [];
    const beganAt = now();
    await openLoop(100, 20, async () => {
      startedAt.push(now());
      await sleep(300);
    });
    expect(startedAt).toHaveLength(20);
    expect(startedAt.at(-1)! - beganAt).toBeGreaterThan(150);
    expect(startedAt.at(-1)! - beganAt).toBeLessThan(5_000); // one after the other would take six seconds
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

describe('of a running environment', () => {
  const program = fileURLToPath(new URL('../programs/bench/main.ts', import.meta.url));
  const bench = (args: string[], env: Record<string, string>) =>
    new Promise<{ exit: unknown; stdout: string; stderr: string }>((resolve) =>
      execFile(
        process.execPath,
        ['--import', 'tsx', program, ...args],
        { env: { PATH: process.env.PATH, ...env }, timeout: 50_000 },
        (error, stdout, stderr) =>
          resolve({ exit: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
      ),
    );
  const load = ['--webhooks', '2', '--clients', '5', '--json'];

  test('an account’s orders are measured, and only they are left', async () => {
    const { url } = await sharedService();
    const account = await registerAccount({ url });
    const { exit, stdout } = await bench(['--url', url, '--orders', '50', ...load], {
      PARCELHOOK_KEY: account.accountKey,
      PARCELHOOK_TOKEN: account.token,
    });
    expect(exit).toBe(0);
    const { loads, created } = JSON.parse(stdout) as { loads: Measured[]; created: string[] };
    const figures = new Map(loads[0]!.figures.map(({ name, value }) => [name, value]));
    expect(figures.get('orders')).toBe(50);
    for (const name of ['orders accepted', 'deliveries', 'order sent to receipt, p95'])
      expect(figures.get(name)).toBeGreaterThan(0);
    const [, name] = /^55 shipments, shipperTrackingId (BENCH-\w+)$/.exec(created.at(-1)!)!;
    const { data } = await account.call(`/v1/shipments?shipperTrackingId=${name}&limit=100`);
    expect(data.shipments).toHaveLength(55);
    expect((await account.call('/v1/webhooks')).data.webhooks).toEqual([]);
  });

  test('an operator’s token makes an account for it, which is removed again', async () => {
    const { url } = await sharedService();
    const args = ['--url', url, '--orders', '10', '--rates', '20', ...load];
    const { exit, stdout } = await bench(args, { OPERATOR_TOKEN: operatorToken });
    expect(exit).toBe(0);
    const { loads, created } = JSON.parse(stdout) as { loads: Measured[]; created: string[] };
    expect(loads).toMatchObject([{ load: '20 orders/s, 2 webhooks' }]);
    const [, shipperId] = /^shipper (\S+), removed again/.exec(created[0]!)!;
    const found = await operator({ url }, `/shippers/${shipperId}`, { method: 'PATCH', body: { name: 'x' } });
    expect(found.httpStatus).toBe(404);
  });

  test('it needs somebody’s key and token', async () => {
    const { exit, stderr } = await bench(['--url', 'http://localhost', '--key', 'k'], {});
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringMatching(/needs --key and --token/) });
  });
});

test('the fault bench lists its faults, and reports wrong arguments', () => {
  const quiet = () =>
    createProgram()
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
  for (const word of ['--quick', '--seed', '--results', '--json', 'F2', 'F17', 'F19-postgres'])
    expect(quiet().helpInformation()).toContain(word);
  const refused =
    (...args: string[]) =>
    () =>
      readArguments(args, quiet());
  expect(refused('F99')).toThrow('no such fault: F99');
  expect(refused('--queue', 'kafka')).toThrow('--queue is postgres or redis');
  expect(refused('F17', '--seeds', '9-3')).toThrow('like 1-10');
  expect(refused('--rate', 'many')).toThrow('a number above 0');
});

const folder = mkdtempSync(join(tmpdir(), 'parcelhook-results-'));
afterAll(() => rmSync(folder, { recursive: true }));

const key: RunKey = {
  fault: 'F17',
  queue: 'redis',
  seed: 3,
  eventsPerSecond: 200,
  seconds: 600,
  scale: 1,
};
const result: Result = {
  fault: 'F17',
  promise: 'a mix',
  queue: 'redis',
  seed: 3,
  seconds: 655,
  events: 120_000,
  notifications: 280_000,
  violations: [],
  figures: [],
};

test('a run in the results file is not repeated, one that differs in anything is', () => {
  const file = join(folder, 'results.jsonl');
  expect(resultsIn(file).find(key)).toBeUndefined();
  resultsIn(file).add(key, result);
  resultsIn(file).add({ ...key, seed: 4 }, { ...result, seed: 4 });
  const { find } = resultsIn(file);
  expect(find(key)).toMatchObject({ ...result });
  for (const other of [{ queue: 'postgres' }, { seed: 5 }, { seconds: 60 }, { scale: 0.1 }, { fault: 'F5' }])
    expect(find({ ...key, ...other })).toBeUndefined();
});

test('without a file every run is made', () => {
  resultsIn(undefined).add(key, result);
  expect(resultsIn(undefined).find(key)).toBeUndefined();
});
