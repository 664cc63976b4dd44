import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resultsIn, type RunKey } from '../programs/chaos/results.js';
import type { Result } from '../programs/chaos/run.js';

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
