import { describe, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import fc from 'fast-check';
import { setImmediate as tick, setTimeout as sleep } from 'node:timers/promises';
import { createShares, type ShareOptions } from '../../../../src/http/request/shares.js';
import type { OutsideSlot } from '../../../../src/http/route.js';
import { unavailable } from '../../../../src/platform/errors.js';

const usual = {
  maxUnderWay: 50,
  concurrency: 4,
  concurrencyPerShipper: 2,
  maxUnread: 3,
  maxWaitMs: 30_000,
  stalledAfterMs: 30_000,
  maxStalled: 4,
  maxOutside: 5,
};

class ApiResponse extends EventEmitter {
  readonly locals: { timing?: { heldMs?(): number } } = {};
  destroyed = false;
  close(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function world(options: Partial<ShareOptions> = {}) {
  let refused = 0;
  const shares = createShares({ ...usual, onRefused: () => void (refused += 1), ...options });
  const begin = (shipper: string) => {
    const response = new ApiResponse();
    shares.begin(shipper, response as unknown as Response);
    return {
      response,
      inTurn: <T>(work: (outside: OutsideSlot) => Promise<T>) =>
        shares.run(shipper, response as unknown as Response, work),
    };
  };
  return { begin, refused: () => refused };
}

function refusalOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

const tooMany = { httpStatus: 429, status: 'TOO_MANY_REQUESTS', extra: { headers: { 'Retry-After': '1' } } };

describe('the share of a shipper', () => {
  test('is never exceeded, and every waiting request is served', async () => {
    const requests = fc.array(
      fc.record({ shipper: fc.constantFrom('a', 'b', 'c'), steps: fc.nat(3), leaves: fc.boolean() }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(requests, async (all) => {
        const { begin } = world();
        const working = new Map<string, number>();
        const unread = new Map<string, number>();
        const add = (counts: Map<string, number>, key: string, by: number) =>
          counts.set(key, (counts.get(key) ?? 0) + by);
        const served = await Promise.all(
          all.map(async ({ shipper, steps, leaves }) => {
            const { response, inTurn } = begin(shipper);
            if (leaves) setImmediate(() => response.close());
            const done = await inTurn(async () => {
              add(working, shipper, 1);
              if (!leaves) add(unread, shipper, 1);
              expect(working.get(shipper)).toBeLessThanOrEqual(usual.concurrencyPerShipper);
              expect(unread.get(shipper) ?? 0).toBeLessThanOrEqual(usual.maxUnread);
              expect([...working.values()].reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(usual.concurrency);
              for (let step = 0; step < steps; step += 1) await tick();
              add(working, shipper, -1);
              return true;
            }).catch(() => false);
            await tick();
            if (!leaves) {
              add(unread, shipper, -1);
              response.close();
            }
            return done || leaves;
          }),
        );
        expect(served).toEqual(all.map(() => true));
      }),
    );
  });

  test('unread responses delay later ones of the same shipper, not those of others', async () => {
    const { begin, refused } = world({ maxWaitMs: 50 });
    const quick = () => Promise.resolve('made');
    const unread = Array.from({ length: usual.maxUnread }, () => begin('a'));
    for (const { inTurn } of unread) expect(await inTurn(quick)).toBe('made');
    await expect(begin('a').inTurn(quick)).rejects.toMatchObject(tooMany);
    expect(refused()).toBe(1);
    expect(await begin('b').inTurn(quick)).toBe('made');

    const waiting = begin('a').inTurn(quick);
    unread[0]!.response.close();
    expect(await waiting).toBe('made');
  });

  test('requests beyond it are refused at once, until one ends', () => {
    const { begin } = world({ maxUnderWay: 2 });
    const first = begin('a');
    begin('a');
    expect(refusalOf(() => begin('a'))).toMatchObject(tooMany);
    begin('b');
    first.response.close();
    begin('a');
  });

  test('a request that is aborted while waiting is skipped, and a failed one frees its place', async () => {
    const { begin } = world({ concurrency: 1 });
    const fails = begin('a').inTurn(async () => {
      await sleep(5);
      throw new Error('no');
    });
    const gone = begin('b');
    const work = gone.inTurn(() => Promise.resolve('never'));
    gone.response.close();
    await expect(work).rejects.toMatchObject({ httpStatus: 429 });
    await expect(fails).rejects.toThrow('no');
    expect(await begin('c').inTurn(() => Promise.resolve('in'))).toBe('in');
  });

  test('reports a database outage to waiting requests, but not to other shippers or after a success', async () => {
    const { begin } = world({ concurrency: 3, maxUnread: 50 });
    const away = async () => {
      await sleep(20);
      throw unavailable();
    };
    const failing = [begin('a'), begin('a')].map(({ inTurn }) => inTurn(away));
    const untilNever = new Promise<void>(() => undefined);
    begin('c')
      .inTurn(() => untilNever)
      .catch(() => undefined);
    await sleep(5);
    const told = begin('a').inTurn(() => untilNever);
    const other = begin('b').inTurn(() => Promise.resolve('in'));
    const results = await Promise.allSettled([...failing, told]);
    expect(results).toMatchObject(results.map(() => ({ reason: { httpStatus: 503 } })));
    expect(await other).toBe('in');

    const [well, bad] = [begin('a').inTurn(() => sleep(10)), begin('a').inTurn(away)];
    const spared = begin('a').inTurn(away); // takes the place of the first
    const waits = begin('a').inTurn(() => Promise.resolve('in'));
    await well;
    await Promise.allSettled([bad, spared]);
    expect(await waits).toBe('in');
  });

  test('is larger while running requests are stuck: each fails by itself instead of waiting in a queue', async () => {
    const { begin, refused } = world({ stalledAfterMs: 20, maxStalled: 4 });
    let started = 0;
    const stuck = () => begin('a').inTurn(() => ((started += 1), new Promise<void>(() => undefined)));
    for (let n = 0; n < 6; n += 1) stuck().catch(() => undefined); // the failures of these are not tested
    expect(started).toBe(2);
    while (started < 4) await sleep(5);
    await begin('b').inTurn(tick); // waits like the others, and came after them
    expect([started, refused()]).toEqual([4, 0]);
  });

  test('leaves its slot during a wait outside, and continues in a slot', async () => {
    const { begin } = world({ concurrency: 2, concurrencyPerShipper: 2, maxUnread: 2 });
    const ends: (() => void)[] = [];
    let atWork = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, (atWork += 1));
      for (let step = 0; step < 3; step += 1) await tick();
      atWork -= 1;
    };
    const waiting = Array.from({ length: usual.maxOutside }, async () => {
      const { response, inTurn } = begin('a');
      await inTurn(async (outside) => {
        await work();
        await outside(() => new Promise<void>((end) => ends.push(end)));
        await work();
      });
      response.close();
    });
    while (ends.length < usual.maxOutside) await tick();
    const further = begin('a').inTurn(() => Promise.resolve('in'));
    for (let n = 0; n < 10; n += 1) {
      const { response, inTurn } = begin('b');
      await inTurn(tick);
      response.close();
    }
    expect(await Promise.race([further, tick('not yet')])).toBe('not yet'); // so many wait already
    for (const end of ends) end();
    await Promise.all(waiting);
    expect(await further).toBe('in');
    expect(most).toBe(2);
  });

  test('continues without a slot after a wait outside if none is free in time, since it must end what it has begun', async () => {
    const { begin, refused } = world({ concurrency: 1, maxWaitMs: 30 });
    const ended = begin('a').inTurn(async (outside) => {
      await outside(() => sleep(5));
      return 'done';
    });
    begin('b')
      .inTurn(() => new Promise<void>(() => undefined))
      .catch(() => undefined);
    expect(await ended).toBe('done');
    expect(refused()).toBe(0);
  });

  const heldMs = ({ response }: { response: ApiResponse }) => response.locals.timing?.heldMs?.() ?? 0;
  const never = () => new Promise<void>(() => undefined);
  const inOrder = (...numbers: number[]) => expect(numbers).toEqual([...numbers].sort((a, b) => a - b));

  test("a wait behind the shipper's own running or unread requests is marked as its client's", async () => {
    const { begin } = world({ concurrency: 10, maxUnread: 2 });
    const unread = [begin('a'), begin('a')];
    const ends: (() => void)[] = [];
    for (const { inTurn } of unread) void inTurn(() => new Promise<void>((end) => ends.push(end)));
    const askedAt = performance.now();
    const waiting = begin('a');
    const served = waiting.inTurn(tick);
    await sleep(30);
    inOrder(25, heldMs(waiting), performance.now() - askedAt);
    for (const end of ends) end();
    await sleep(30);
    inOrder(55, heldMs(waiting), performance.now() - askedAt);
    unread[0]!.response.close();
    await served;
    const held = heldMs(waiting);
    await sleep(10);
    expect(heldMs(waiting)).toBe(held); // not the work
  });

  test("a wait for other shippers is the service's own, and so is what remains when the shipper is below its share", async () => {
    const { begin } = world({ concurrency: 3, maxUnread: 50 });
    const ends: (() => void)[] = [];
    const running = () => new Promise<void>((end) => ends.push(end));
    for (const shipper of ['a', 'b']) void begin(shipper).inTurn(running);
    void begin('b').inTurn(running);
    const [behindOthers, first, second] = [begin('a'), begin('c'), begin('a')];
    for (const { inTurn } of [behindOthers, first, second]) inTurn(never).catch(() => undefined);
    await sleep(30);
    expect([behindOthers, first, second].map(heldMs)).toEqual([0, 0, 0]);
    const since = performance.now();
    ends[1]!(); // another shipper's place becomes this one's second
    await sleep(30);
    expect([heldMs(behindOthers), heldMs(first)]).toEqual([0, 0]);
    inOrder(25, heldMs(second), performance.now() - since);
  });
});
