import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { createProgram, readArguments } from '../programs/chaos/arguments.js';
import { queue } from '../support/harness.js';
import { isRoot, privateCheckout, type Checkout } from '../support/private-checkout.js';

/** Figures as in JSON: null is an unbounded value. */
interface Figure {
  value: number | null;
  atMost?: number;
}

interface Result {
  events: number;
  violations: unknown[];
  figures: Figure[];
}

const isMissed = ({ value, atMost = Infinity }: Figure) => (value ?? Infinity) > atMost;

interface Run {
  exitCode: number;
  stdout: string;
  stderr: string;
}

let checkout: Checkout | undefined;
beforeAll(() => void (checkout = isRoot ? privateCheckout() : undefined));
afterAll(() => checkout?.remove());

const chaos = (...args: string[]) =>
  new Promise<Run>((resolve) =>
    execFile(
      process.execPath,
      ['--import', 'tsx', join('test', 'programs', 'chaos', 'main.ts'), ...args],
      { timeout: 300_000, cwd: checkout?.path },
      (error, stdout, stderr) => resolve({ exitCode: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  );

describe(`the fault bench${isRoot ? ', in a checkout that only root may enter' : ''}`, () => {
  test('a quick run with a killed worker violates no invariant', async () => {
    const options = ['--quick', '--seconds', '6', '--rate', '50', '--json', '--queue', queue, '--seed', '7'];
    const { exitCode, stdout } = await chaos('F2', ...options);
    const { results } = JSON.parse(stdout) as { results: Result[] };
    expect(results).toMatchObject([{ fault: 'F2', queue, seed: 7, violations: [] }]);
    expect(results[0]!.events).toBeGreaterThan(250);
    expect(results[0]!.figures.filter(isMissed)).toEqual([]);
    expect(exitCode).toBe(0);
  }, 310_000);

  test('lists its faults, and reports wrong arguments', async () => {
    const help = await chaos('--help');
    expect(help).toMatchObject({ exitCode: 0 });
    for (const word of ['--quick', '--seed', '--results', '--json', 'F2', 'F17', 'F19-postgres'])
      expect(help.stdout).toContain(word);
    const wrong = await chaos('F99');
    expect(wrong.exitCode).not.toBe(0);
    expect(wrong.stderr).toContain('no such fault: F99');
    const refused = (...args: string[]) => {
      const quiet = createProgram()
        .exitOverride()
        .configureOutput({ writeErr: () => undefined });
      return () => readArguments(args, quiet);
    };
    expect(refused('--queue', 'kafka')).toThrow('--queue is postgres or redis');
    expect(refused('F17', '--seeds', '9-3')).toThrow('like 1-10');
    expect(refused('--rate', 'many')).toThrow('a number above 0');
  });
});
