import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as tick, setTimeout as sleep } from 'node:timers/promises';
import { type Ticket, createGate } from '../../../../src/platform/limits/gate.js';
import { createRateLimits } from '../../../../src/platform/limits/rate-limit.js';

describe('the gate', () => {
  test('never admits more than its places, and in the end everything', async () => {
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

  test('keys alternate: an item behind a crowd of another key waits for one of it', async () => {
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

  test('refuses at once, as UNAVAILABLE, when too many wait; a failure frees its place', async () => {
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

  test('when too many wait, the newest of the longest queue is refused as TOO_MANY_REQUESTS', async () => {
    const gate = createGate({ concurrency: 1, maxWaiting: 3, maxWaitMs: 5_000 });
    const crowded: number[] = [];
    const enter = (key: string, n: number) =>
      gate.run(key, () => tick(), { onCrowded: () => void crowded.push(n) });
    const settled = Promise.allSettled([
      ...[0, 1, 2, 3].map((n) => enter('crowd', n)), // the first is admitted
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

  test('kinds: each gets three of every four places that the kinds before it leave', async () => {
    const gate = createGate({ concurrency: 1, maxWaiting: 20, maxWaitMs: 5_000, kinds: 3 });
    let order = '';
    const enter = (kind: number) =>
      gate.run(
        String(kind),
        async () => {
          await tick();
          order += String(kind);
        },
        { kind },
      );
    const all = '2'.repeat(21) + '1'.repeat(8) + '0'.repeat(10);
    await Promise.all([...all].map((kind) => enter(Number(kind))));
    expect(order).toBe(`2${'0001'.repeat(3)}0${'2111'}${'211'}${'2'.repeat(18)}`);
  });

  test('a request that has waited too long is refused as UNAVAILABLE, and the next one is admitted', async () => {
    const gate = createGate({ concurrency: 1, maxWaiting: 10, maxWaitMs: 60 });
    let end = () => {};
    const inside = gate.run('a', () => new Promise<void>((resolve) => (end = resolve)));
    await expect(gate.run('b', () => Promise.resolve('in'))).rejects.toMatchObject({ httpStatus: 503 });
    expect(gate.waiting()).toBe(0);
    const next = gate.run('c', () => Promise.resolve('in'));
    end();
    await expect(next).resolves.toBe('in');
    await inside;
    await expect(gate.run('d', () => Promise.resolve('in'))).resolves.toBe('in');
  });

  test('`mayStart` holds back a key until it allows a start, and no other key', () => {
    const closed = new Set(['b']);
    const gate = createGate({ concurrency: 10, mayStart: (key) => !closed.has(key) });
    const started: string[] = [];
    for (const key of ['a', 'b', 'c']) gate.ask(key, { start: () => void started.push(key) });
    expect([started, gate.waiting(), gate.waiting('b')]).toEqual([['a', 'c'], 1, 1]);
    gate.startReady();
    expect(started).toEqual(['a', 'c']);
    closed.clear();
    gate.startReady();
    expect(started).toEqual(['a', 'c', 'b']);
  });

  test('hopeless requests are refused, of one key or of all; the others keep their places', async () => {
    const gate = createGate({ concurrency: 1 });
    const became: string[] = [];
    let leave = () => {};
    const ask = (name: string) =>
      gate.ask(name[0]!, {
        start: (end) => {
          became.push(name);
          leave = end;
        },
        refuse: (why) => void became.push(`${name} ${why}`),
      });
    for (const name of ['x', 'a1', 'b1']) ask(name);
    await sleep(2);
    const sinceThenMs = performance.now();
    for (const name of ['a2', 'b2']) ask(name);
    gate.turnAway((sinceMs) => sinceMs < sinceThenMs, 'a');
    expect(became).toEqual(['x', 'a1 AWAY']);
    leave();
    leave();
    gate.turnAway(() => true);
    expect(became).toEqual(['x', 'a1 AWAY', 'a2', 'b1', 'b2 AWAY']);
  });
});

describe('places', () => {
  const keys = ['a', 'b', 'c', 'd'];
  const steps = fc.array(
    fc.record({
      key: fc.constantFrom(...keys),
      what: fc.constantFrom('ask', 'ask', 'leave', 'withdraw', 'start'),
    }),
    { maxLength: 60 },
  );

  test('are never exceeded, in total or by one key, except by a forced start, and none stays free while somebody may take it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        steps,
        (concurrency, concurrencyPerKey, taken) => {
          const gate = createGate({ concurrency, concurrencyPerKey });
          const atWork: { key: string; leave: () => void; regular: boolean }[] = [];
          const waiting: { key: string; ticket: Ticket | null }[] = [];
          let regular = true;
          for (const { key, what } of taken) {
            const first = waiting.find((one) => one.key === key);
            if (what === 'ask') ask(key);
            else if (what === 'leave') end(key);
            else if (what === 'withdraw') {
              waiting.splice(waiting.indexOf(first!) >>> 0, 1)[0]?.ticket!.withdraw();
            } else {
              regular = false;
              first?.ticket!.start();
              first?.ticket!.start(); // a second call starts nothing
              regular = true;
            }
            const ofKey = (name: string) => atWork.filter((one) => one.key === name);
            const started = (all: typeof atWork) => all.filter((one) => one.regular).length;
            expect(started(atWork)).toBeLessThanOrEqual(concurrency);
            for (const name of keys) {
              expect(started(ofKey(name))).toBeLessThanOrEqual(concurrencyPerKey);
              expect(gate.working(name)).toBe(ofKey(name).length);
            }
            const mayStart = waiting.filter((one) => ofKey(one.key).length < concurrencyPerKey);
            expect(atWork.length >= concurrency || mayStart.length === 0).toBe(true);
            expect(gate.waiting()).toBe(waiting.length);
          }

          function ask(key: string) {
            const entry: (typeof waiting)[number] = { key, ticket: null };
            waiting.push(entry);
            entry.ticket = gate.ask(key, {
              start: (leave) => {
                waiting.splice(waiting.indexOf(entry), 1);
                atWork.push({ key, leave, regular });
              },
            });
          }

          function end(key: string) {
            const index = atWork.findIndex((one) => one.key === key);
            if (index < 0) return;
            const [{ leave }] = atWork.splice(index, 1) as [(typeof atWork)[number]];
            leave();
            leave(); // a second call frees nothing
          }
        },
      ),
    );
  });

  test('have weights: the last to start may exceed the limit, and nothing starts beside it', () => {
    const gate = createGate({ concurrency: 4 });
    const leaves: (() => void)[] = [];
    const ask = (weight: number) => gate.ask('a', { start: (leave) => void leaves.push(leave), weight });
    for (const weight of [3, 6, 1, 1]) ask(weight);
    expect([gate.working('a'), gate.waiting()]).toEqual([9, 2]);
    leaves[0]!();
    expect([gate.working('a'), gate.waiting()]).toEqual([6, 2]);
    leaves[1]!();
    expect([gate.working('a'), gate.waiting()]).toEqual([2, 0]);
  });
});

test('a local count ends with its window, for up to 20,000 keys', async () => {
  const { limit } = createRateLimits(undefined, 'test');
  const short = limit({ name: 'short', points: 5, windowSeconds: 0.05 });
  expect((await short.spend('a', 7)).left).toBe(-2);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await short.balance('a')).toEqual({ left: 5, resetMs: 0 });

  const long = limit({ name: 'long', points: 5, windowSeconds: 3_600 });
  for (let n = 0; n <= 20_000; n += 1) await long.spend(`stranger ${n}`);
  expect((await long.balance('stranger 0')).left).toBe(5);
  expect((await long.balance('stranger 1')).left).toBe(4);
});
