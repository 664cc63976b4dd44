import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as tick } from 'node:timers/promises';
import { createGate } from '../../src/platform/limits/gate.js';

describe('the gate', () => {
  test('never lets more in than it has places, and in the end everybody', async () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), keys, async (concurrency, callers) => {
        const gate = createGate({ concurrency, maxWaiting: 100, maxWaitMs: 5_000 });
        let inside = 0;
        let most = 0;
        const work = async () => {
          inside += 1;
          most = Math.max(most, inside);
          await tick();
          inside -= 1;
          return 'done';
        };
        const results = await Promise.all(callers.map((key) => gate.run(key, work)));
        expect(results).toEqual(callers.map(() => 'done'));
        expect(most).toBe(Math.min(concurrency, callers.length));
      }),
    );
  });

  test('keys take turns: one who comes after a crowd waits for one of it', async () => {
    const gate = createGate({ concurrency: 1, maxWaiting: 100, maxWaitMs: 5_000 });
    const order: string[] = [];
    const enter = (key: string) =>
      gate.run(key, async () => {
        await tick();
        order.push(key);
      });
    const crowd = Array.from({ length: 6 }, () => enter('crowd'));
    expect(gate.waiting('crowd')).toBe(5);
    await Promise.all([...crowd, enter('late'), enter('later')]);
    expect(order).toEqual(['crowd', 'crowd', 'late', 'later', 'crowd', 'crowd', 'crowd', 'crowd']);
    expect(gate.waiting('crowd')).toBe(0);
  });

  test('refuses at once, as UNAVAILABLE, what finds too many waiting; a failure gives its place back', async () => {
    const gate = createGate({ concurrency: 1, maxWaiting: 2, maxWaitMs: 5_000 });
    const fail = async () => {
      await tick();
      throw new Error('no');
    };
    const settled = Promise.allSettled([1, 2, 3, 4, 5].map((n) => gate.run(String(n), fail)));
    const reasons = (await settled).map((one) => (one as PromiseRejectedResult).reason as object);
    expect(reasons.slice(0, 3)).toMatchObject(Array(3).fill({ message: 'no' }));
    expect(reasons.slice(3)).toMatchObject(Array(2).fill({ httpStatus: 503, status: 'UNAVAILABLE' }));
    await expect(gate.run('next', () => Promise.resolve('in'))).resolves.toBe('in');
  });

  test('of what finds too many waiting it is the newest of the longest queue that is refused, as TOO_MANY_REQUESTS', async () => {
    const gate = createGate({ concurrency: 1, maxWaiting: 3, maxWaitMs: 5_000 });
    const crowded: number[] = [];
    const enter = (key: string, n: number) =>
      gate.run(key, () => tick(), { onCrowded: () => void crowded.push(n) });
    const settled = Promise.allSettled([
      ...[0, 1, 2, 3].map((n) => enter('crowd', n)), // the first is inside
      enter('late', 4),
      enter('later', 5),
    ]);
    const results = await settled;
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(crowded).toEqual([3, 2]);
    expect((results[3] as PromiseRejectedResult).reason).toMatchObject({ httpStatus: 429 });
  });

  test('who is favoured has every second turn, and nobody else’s crowd in the way', async () => {
    const gate = createGate({ concurrency: 1, maxWaiting: 10, maxWaitMs: 5_000 });
    const order: string[] = [];
    const enter = (key: string, favoured: boolean) =>
      gate.run(
        key,
        async () => {
          await tick();
          order.push(key);
        },
        { favoured },
      );
    const crowd = Array.from({ length: 5 }, () => enter('crowd', false));
    await Promise.all([...crowd, ...Array.from({ length: 3 }, () => enter('known', true))]);
    expect(order).toEqual(['crowd', 'known', 'crowd', 'known', 'crowd', 'known', 'crowd', 'crowd']);
  });

  test('who has waited too long is refused, as UNAVAILABLE, and his turn goes to the next', async () => {
    const gate = createGate({ concurrency: 1, maxWaiting: 10, maxWaitMs: 60 });
    let end = () => {};
    const inside = gate.run('a', () => new Promise<void>((resolve) => (end = resolve)));
    await expect(gate.run('b', () => Promise.resolve('in'))).rejects.toMatchObject({ httpStatus: 503 });
    const next = gate.run('c', () => Promise.resolve('in'));
    end();
    await expect(next).resolves.toBe('in');
    await inside;
    await expect(gate.run('d', () => Promise.resolve('in'))).resolves.toBe('in');
  });
});
