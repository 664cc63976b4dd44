import { afterEach, describe, expect, test } from '@jest/globals';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { createBatcher } from '../../../src/platform/batch.js';
import { ApiError, unavailable } from '../../../src/platform/errors.js';

const limits = { maxItems: 10, concurrency: 2, maxWaiting: 1_000 };

function gatedFlush() {
  const flushes: { items: number[]; finish(): void; fail(error: unknown): void }[] = [];
  const flush = (items: number[]) =>
    new Promise<number[]>((resolve, reject) =>
      flushes.push({ items, finish: () => resolve(items), fail: reject }),
    );
  return { flushes, flush };
}

/** Time stands still from now on: the returned function moves it, with the timers that are due by then. */
function stopClock(): (ms: number) => Promise<void> {
  let now = performance.now();
  mock.method(performance, 'now', () => now);
  mock.timers.enable({ apis: ['setTimeout'] });
  return async (ms) => {
    now += ms;
    mock.timers.tick(ms);
    await tick();
  };
}
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

const tick = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('group commit', () => {
  test('every caller gets its own result or error, whatever shares its batch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ value: fc.nat(), bad: fc.boolean() }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 3 }),
        async (items, maxItems, concurrency) => {
          const batcher = createBatcher<{ value: number; bad: boolean }, number>({
            ...limits,
            maxItems,
            concurrency,
            flush: async (batch) => {
              await sleep(0);
              const wrong = batch.find(({ bad }) => bad);
              if (wrong) throw new Error(`bad ${wrong.value}`);
              return batch.map(({ value }) => value * 2);
            },
          });
          const results = await Promise.allSettled(items.map((item) => batcher.add(item)));
          expect(results).toEqual(
            items.map(({ value, bad }) =>
              bad
                ? { status: 'rejected', reason: new Error(`bad ${value}`) }
                : { status: 'fulfilled', value: value * 2 },
            ),
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  test('takes items in order of arrival, at most so many at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(100), fc.integer({ min: 1, max: 12 }), async (count, maxItems) => {
        const seen: number[][] = [];
        const batcher = createBatcher<number, number>({
          ...limits,
          maxItems,
          flush: (items) => {
            seen.push(items);
            return Promise.resolve(items);
          },
        });
        const items = Array.from({ length: count }, (_, n) => n);
        expect(await Promise.all(items.map((item) => batcher.add(item)))).toEqual(items);
        expect(seen.flat()).toEqual(items);
        expect(Math.max(0, ...seen.map((batch) => batch.length))).toBeLessThanOrEqual(maxItems);
      }),
      { numRuns: 50 },
    );
  });

  test('concurrent callers share one flush; later ones share the next', async () => {
    const { flushes, flush } = gatedFlush();
    const batcher = createBatcher({ ...limits, concurrency: 1, flush });
    const first = [1, 2, 3].map((item) => batcher.add(item));
    await tick();
    const second = [4, 5].map((item) => batcher.add(item));
    await tick();
    expect(flushes.map(({ items }) => items)).toEqual([[1, 2, 3]]);
    flushes[0]!.finish();
    await Promise.all(first);
    await tick();
    expect(flushes.map(({ items }) => items)).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    flushes[1]!.finish();
    expect(await Promise.all(second)).toEqual([4, 5]);
  });

  test('a batch lingers for more items, unless it is full or follows another', async () => {
    const advance = stopClock();
    const { flushes, flush } = gatedFlush();
    const batcher = createBatcher({ ...limits, maxItems: 3, lingerMs: () => 40, concurrency: 1, flush });
    const all = [batcher.add(0)];
    await tick();
    await advance(39);
    all.push(batcher.add(1));
    await tick();
    expect(flushes).toHaveLength(0);
    await advance(1);
    expect(flushes.map(({ items }) => items)).toEqual([[0, 1]]);
    all.push(batcher.add(2));
    await advance(40);
    flushes[0]!.finish();
    await tick();
    expect(flushes[1]!.items).toEqual([2]); // it has waited long enough behind the first
    flushes[1]!.finish();
    await tick();
    all.push(batcher.add(3), batcher.add(4), batcher.add(5));
    await tick();
    expect(flushes[2]!.items).toEqual([3, 4, 5]);
    flushes[2]!.finish();
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('a second flush starts at once only for a full batch', async () => {
    stopClock();
    const { flushes, flush } = gatedFlush();
    const batcher = createBatcher({ ...limits, maxItems: 3, flush });
    const all = [batcher.add(0)];
    await tick();
    all.push(batcher.add(1), batcher.add(2));
    await tick();
    expect(flushes.map(({ items }) => items)).toEqual([[0]]);
    all.push(batcher.add(3), batcher.add(4));
    await tick();
    expect(flushes.map(({ items }) => items)).toEqual([[0], [1, 2, 3]]);
    flushes[0]!.finish();
    await tick();
    expect(flushes).toHaveLength(2); // one flush is still under way, and one item does not justify another
    flushes[1]!.finish();
    await tick();
    expect(flushes[2]!.items).toEqual([4]);
    flushes[2]!.finish();
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
  });

  test('a second flush also starts for an item that has waited 25 ms, with all later ones, and never more than `concurrency`', async () => {
    const advance = stopClock();
    const { flushes, flush } = gatedFlush();
    const batcher = createBatcher({ ...limits, flush });
    const all = [batcher.add(0)];
    await tick();
    all.push(batcher.add(1));
    await tick();
    await advance(24);
    all.push(batcher.add(2));
    await tick();
    expect(flushes).toHaveLength(1);
    await advance(1);
    expect(flushes.map(({ items }) => items)).toEqual([[0], [1, 2]]);
    all.push(batcher.add(3));
    await advance(25);
    expect(flushes).toHaveLength(2);
    flushes[1]!.finish();
    await tick();
    expect(flushes[2]!.items).toEqual([3]); // waited long enough while both were under way
    flushes[2]!.finish();
    flushes[0]!.finish();
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
  });

  test('with a concurrency of one no flush overtakes the current one, however long it takes', async () => {
    const advance = stopClock();
    const { flushes, flush } = gatedFlush();
    const batcher = createBatcher({ ...limits, maxItems: 2, concurrency: 1, flush });
    const all = [0, 1, 2, 3, 4].map((item) => batcher.add(item));
    await tick();
    await advance(1_000);
    expect(flushes.map(({ items }) => items)).toEqual([[0, 1]]);
    for (let n = 0; n < 3; n += 1) {
      flushes[n]!.finish();
      await tick();
    }
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
  });

  test('never flushes more than `concurrency` batches at once', async () => {
    const { flushes, flush } = gatedFlush();
    const batcher = createBatcher({ ...limits, maxItems: 1, concurrency: 3, flush });
    const all = Array.from({ length: 9 }, (_, n) => batcher.add(n));
    for (let done = 0; done < 9; done += 1) {
      await tick();
      expect(flushes.length - done).toBe(Math.min(3, 9 - done));
      flushes[done]!.finish();
    }
    await Promise.all(all);
  });

  test('one item too many is refused as UNAVAILABLE, and the others are not', async () => {
    const { flushes, flush } = gatedFlush();
    const batcher = createBatcher({ maxItems: 1, concurrency: 1, maxWaiting: 2, flush });
    const first = batcher.add(1);
    await tick();
    const waiting = [batcher.add(2), batcher.add(3)];
    await expect(batcher.add(4)).rejects.toMatchObject({ httpStatus: 503, status: 'UNAVAILABLE' });
    for (const index of [0, 1, 2]) {
      flushes[index]!.finish();
      await tick();
    }
    expect(await Promise.all([first, ...waiting])).toEqual([1, 2, 3]);
  });

  test('a batch that fails because the database is down is not tried item by item', async () => {
    let flushed = 0;
    const batcher = createBatcher<number, number>({
      ...limits,
      flush: () => {
        flushed += 1;
        return Promise.reject(unavailable());
      },
    });
    const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
    expect(flushed).toBe(1);
    for (const result of results)
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(ApiError) });
  });

  test('when the database is down, items that waited long fail at once, and the others are retried', async () => {
    const advance = stopClock();
    const { flushes, flush } = gatedFlush();
    const batcher = createBatcher({ ...limits, concurrency: 1, flush });
    const outcomes: string[] = [];
    const add = (item: number) =>
      batcher.add(item).then(
        () => outcomes.push(`${item} done`),
        () => outcomes.push(`${item} refused`),
      );
    const first = add(1);
    await tick();
    const long = add(2);
    await advance(500);
    const short = add(3);
    flushes[0]!.fail(unavailable());
    await Promise.all([first, long]);
    await tick();
    expect(outcomes).toEqual(['1 refused', '2 refused']);
    expect(flushes[1]!.items).toEqual([3]);
    flushes[1]!.finish();
    await short;
    expect(outcomes.at(-1)).toBe('3 done');
  });
});
