import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as tick } from 'node:timers/promises';
import { createGate } from '../../src/platform/gate.js';

describe('the gate', () => {
  test('never lets more in than it has places, and in the end everybody', async () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), keys, async (concurrency, callers) => {
        const gate = createGate({ concurrency, maxWaiting: 100 });
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
    const gate = createGate({ concurrency: 1, maxWaiting: 100 });
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
    const gate = createGate({ concurrency: 1, maxWaiting: 2 });
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
});
