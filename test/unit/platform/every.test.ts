import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { every, pauseAfter, sparing } from '../../../src/platform/every.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';

const upTo = (max: number) => fc.integer({ min: 1, max });

test('a task takes at most its share of the time, while its pause is within bounds', () => {
  fc.assert(
    fc.property(
      fc.nat(60_000),
      fc.nat(10_000),
      fc.tuple(upTo(10), upTo(20)),
      (tookMs, leastMs, [times, of]) => {
        const maxMs = leastMs * times;
        const pauseMs = pauseAfter(tookMs, leastMs, maxMs, 1 / of);
        expect(pauseMs).toBeGreaterThanOrEqual(leastMs);
        expect(pauseMs).toBeLessThanOrEqual(maxMs);
        if (pauseMs < maxMs) expect(tookMs / (tookMs + pauseMs)).toBeLessThanOrEqual(1 / of);
        if (pauseMs > leastMs) expect(pauseMs).toBeLessThanOrEqual(of * tookMs + 0.001); // no longer than necessary
      },
    ),
  );
});

test('a long search that finds nothing runs more rarely; one that finds something does not', async () => {
  const looking = (hasFound: boolean) => sparing(100, async () => (await sleep(30), hasFound))();
  expect(await looking(false)).toBeGreaterThan(250);
  expect(await looking(false)).toBeLessThanOrEqual(400);
  expect(await looking(true)).toBe(100);
});

test('a task reports from its start, before its first run', async () => {
  const metrics = createMetrics();
  const task = every(
    10,
    'later',
    { logger: createLogger('silent'), metrics },
    () => Promise.resolve(),
    60_000,
  );
  const text = await metrics.text();
  await task.stop();
  for (const name of ['failures_total', 'duration_seconds_count'])
    expect(text).toContain(`parcelhook_background_task_${name}{task="later"} 0`);
  expect(text).toMatch(/background_task_succeeded_timestamp_seconds\{task="later"\} \d{10}/);
});

test('each task reports its last success, its failures and its durations', async () => {
  const metrics = createMetrics();
  const logger = createLogger('silent');
  const startedAt = Date.now() / 1_000;
  let turns = 0;
  const works = every(10, 'works', { logger, metrics }, async () => void (await sleep(5)));
  const fails = every(10, 'fails', { logger, metrics }, () =>
    (turns += 1) === 1 ? Promise.resolve() : Promise.reject(new Error('no')),
  );
  while (turns < 4) await sleep(10);
  await Promise.all([works.stop(), fails.stop()]);
  const text = await metrics.text();
  const value = (name: string, task: string) =>
    Number(new RegExp(`^parcelhook_background_task_${name}{task="${task}"} (.+)$`, 'm').exec(text)![1]);
  expect(value('failures_total', 'works')).toBe(0);
  expect(value('failures_total', 'fails')).toBe(turns - 1);
  expect(value('duration_seconds_count', 'fails')).toBe(turns);
  expect(value('duration_seconds_sum', 'works')).toBeGreaterThan(0.005);
  expect(value('interval_seconds', 'works')).toBe(0.01);
  expect(value('succeeded_timestamp_seconds', 'fails')).toBeGreaterThanOrEqual(startedAt);
  expect(value('succeeded_timestamp_seconds', 'works')).toBeGreaterThan(
    value('succeeded_timestamp_seconds', 'fails'),
  );
});
