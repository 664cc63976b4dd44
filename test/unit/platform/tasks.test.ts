import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { setBackMs } from '../../../src/engine/sweep/sweeper.js';
import {
  every,
  pauseAfter,
  retryMs,
  sparing,
  whenScraped,
  type Place,
  afterFailure,
  afterPage,
  walkStart,
} from '../../../src/platform/tasks.js';
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

test('a task that failed runs again within a minute, then ever less often, but at least as often as usual', () => {
  fc.assert(
    fc.property(upTo(3_600_000), upTo(50), (intervalMs, failures) => {
      const waitMs = retryMs(intervalMs, failures);
      if (failures <= 2) expect(waitMs).toBeLessThanOrEqual(30_000);
      expect(waitMs).toBeLessThanOrEqual(intervalMs);
      expect(waitMs).toBeLessThanOrEqual(retryMs(intervalMs, failures + 1));
    }),
  );
  expect(retryMs(3_600_000, 10)).toBe(3_600_000);
});

test('figures are read when they are scraped, and again when they are older than their interval', async () => {
  const metrics = createMetrics();
  let read = 0;
  const figures = whenScraped(200, 'figures', { logger: createLogger('silent'), metrics }, async () => {
    await sleep(5);
    read += 1;
  });
  expect(read).toBe(0);
  await Promise.all([metrics.text(), metrics.text()]);
  await metrics.text();
  expect(read).toBe(1);
  await sleep(850); // a slow reading is repeated after ten times as long, but after four intervals at most
  await metrics.text();
  expect(read).toBe(2);
  await figures.stop();
  await sleep(850);
  await metrics.text();
  expect(read).toBe(2);
});

test('a scrape waits for figures, but not forever', async () => {
  const metrics = createMetrics();
  const endless = () => new Promise<void>(() => undefined);
  whenScraped(200, 'figures', { logger: createLogger('silent'), metrics }, endless);
  const startedAt = performance.now();
  expect(await metrics.text()).toContain('task="figures"');
  expect(performance.now() - startedAt).toBeLessThan(4_000);
});

const maxSize = 1_000;

function walkOver(costs: number[], maxPerPage: number) {
  const handled: number[] = [];
  const skipped: number[] = [];
  let tooSlow = 0;
  let place: Place<number> = walkStart(maxSize);
  do {
    const from = place.after ?? 0;
    const page = costs.slice(from, from + place.size);
    if (page.reduce((sum, cost) => sum + cost, 0) <= maxPerPage) {
      handled.push(...page.map((_, index) => from + index));
      place = afterPage(place, page.length === place.size ? from + page.length : null, maxSize);
    } else {
      tooSlow += 1;
      const next = afterFailure(place, from + 1);
      expect(next.place.size).toBeLessThanOrEqual(Math.max(1, place.size / 2));
      if (next.skipped !== null) skipped.push(from);
      place = next.place;
    }
  } while (place.after !== null || handled.length + skipped.length < costs.length);
  return { handled, skipped, tooSlow };
}

test('a walk handles every row that can be handled alone, and skips the others, once each', () => {
  const cost = fc.oneof(
    { weight: 20, arbitrary: fc.nat(3) },
    { weight: 1, arbitrary: fc.integer({ min: 11, max: 99 }) },
  );
  fc.assert(
    fc.property(fc.array(cost, { minLength: 1, maxLength: 3_000 }), (costs) => {
      const { handled, skipped } = walkOver(costs, 10);
      const isHandled = (index: number) => costs[index]! <= 10;
      expect(handled).toEqual([...costs.keys()].filter(isHandled));
      expect(skipped).toEqual([...costs.keys()].filter((index) => !isHandled(index)));
    }),
    { numRuns: 50 },
  );
});

test('one row that takes too long costs a walk a few pages', () => {
  fc.assert(
    fc.property(fc.nat(2_999), (at) => {
      const costs = Array.from({ length: 3_000 }, (_, index) => (index === at ? 2_000 : 0));
      expect(walkOver(costs, 1_999).tooSlow).toBeLessThanOrEqual(16);
    }),
  );
});

test('a clock put back is detected, and never overestimated, however slow the responses', () => {
  const ms = (max: number) => fc.nat(max);
  fc.assert(
    fc.property(
      fc.tuple(ms(5_000), ms(5_000), ms(5_000), ms(5_000)),
      fc.nat(60_000),
      fc.integer({ min: -10_000, max: 10_000_000 }),
      ([before, after, beforeAgain, afterAgain], betweenMs, backMs) => {
        const first = { databaseMs: before, sentAt: 0, receivedAt: before + after };
        const sentAt = first.receivedAt + betweenMs;
        const databaseMs = sentAt + beforeAgain - backMs;
        const found = setBackMs(first, {
          databaseMs,
          sentAt,
          receivedAt: sentAt + beforeAgain + afterAgain,
        });
        expect(found).toBeLessThanOrEqual(Math.max(0, backMs));
        if (backMs > 1_000 + after + beforeAgain) expect(found).toBe(backMs - after - beforeAgain);
      },
    ),
  );
});
