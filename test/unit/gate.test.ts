import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as tick } from 'node:timers/promises';
import { createFairQueue } from '../../src/platform/limits/fair-queue.js';
import { createGate, createTurns } from '../../src/platform/limits/gate.js';

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

  test('lanes: the first has three turns of four, the next three of four that are left, a quarter goes on', async () => {
    const gate = createGate({ concurrency: 1, maxWaiting: 20, maxWaitMs: 5_000, lanes: 3 });
    let order = '';
    const enter = (lane: number) =>
      gate.run(
        String(lane),
        async () => {
          await tick();
          order += String(lane);
        },
        { lane },
      );
    const all = '2'.repeat(21) + '1'.repeat(8) + '0'.repeat(10);
    await Promise.all([...all].map((lane) => enter(Number(lane))));
    expect(order).toBe(`2${'0001'.repeat(3)}0${'2111'}${'211'}${'2'.repeat(18)}`);
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

describe('turns', () => {
  const lanes = 4;
  const item = fc.record({ lane: fc.nat({ max: lanes - 1 }), key: fc.constantFrom('a', 'b', 'c', 'd', 'e') });
  /** Items that come, and turns (null), in any order. */
  const steps = fc.array(fc.option(item), { maxLength: 200 });

  test('whoever waits gets its turn, and the first lane three of any four in which it waits', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const queues = Array.from({ length: lanes }, () => createFairQueue<{ lane: number }>());
        const take = createTurns(queues);
        const waiting = Array<number>(lanes).fill(0);
        const ofFirst: boolean[] = []; // of the turns while the first lane waited, without a break
        const turn = () => {
          const firstWaits = waiting[0]! > 0;
          const taken = take();
          expect(taken === undefined).toBe(waiting.every((count) => count === 0));
          if (taken) waiting[taken.lane]! -= 1;
          if (firstWaits) ofFirst.push(taken?.lane === 0);
          else ofFirst.length = 0;
          if (ofFirst.length >= 4) expect(ofFirst.slice(-4).filter(Boolean).length).toBeGreaterThanOrEqual(3);
        };
        for (const step of all) {
          if (!step) turn();
          else {
            queues[step.lane]!.add(step.key, step);
            waiting[step.lane]! += 1;
          }
        }
        for (let left = waiting.reduce((sum, n) => sum + n, 0); left > 0; left -= 1) turn();
        expect(take()).toBeUndefined();
      }),
    );
  });

  test('one who comes waits for one of each other key of its lane, however many each has there, or behind it', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const queues = Array.from({ length: lanes }, () => createFairQueue<string>());
        const take = createTurns(queues);
        for (const step of all) {
          if (step) queues[step.lane]!.add(step.key, 'other');
          else take();
        }
        queues[0]!.add('late', 'late');
        let turns = 1;
        while (take() !== 'late') turns += 1;
        expect(turns).toBeLessThanOrEqual(6 + 2); // five others and itself, and of eight turns two go behind
      }),
    );
  });
});
