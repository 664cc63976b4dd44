import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createOccupancy } from '../../../../src/engine/schedule/waits.js';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import { createScheduler } from '../../../../src/engine/schedule/scheduler.js';
import type { DueClaim } from '../../../../src/engine/outbox/types.js';

const slowMs = 1_000;
const changes = fc.array(fc.record({ isFull: fc.boolean(), afterMs: fc.nat({ max: 5_000 }) }), {
  maxLength: 400,
});

describe('the time for which a receiver was full', () => {
  /** Adds up how much of a time was full, without a bound on memory. */
  const follow = (given: { isFull: boolean; afterMs: number }[]) => {
    const occupancy = createOccupancy(0);
    const stretches: { fromMs: number; toMs: number }[] = [];
    let nowMs = 0;
    let fullSinceMs: number | null = null;
    for (const { isFull, afterMs } of given) {
      nowMs += afterMs;
      occupancy.set(isFull, nowMs);
      if (!isFull && fullSinceMs !== null) stretches.push({ fromMs: fullSinceMs, toMs: nowMs });
      fullSinceMs = isFull ? (fullSinceMs ?? nowMs) : null;
    }
    if (fullSinceMs !== null) stretches.push({ fromMs: fullSinceMs, toMs: Infinity });
    const exact = (fromMs: number, toMs: number) =>
      stretches.reduce(
        (sum, stretch) => sum + Math.max(0, Math.min(toMs, stretch.toMs) - Math.max(fromMs, stretch.fromMs)),
        0,
      );
    return { occupancy, exact, nowMs };
  };
  const times = (nowMs: number, [a, b]: [number, number]) =>
    [Math.min(a, b) * nowMs, Math.max(a, b) * nowMs] as const;
  const share = fc.double({ min: 0, max: 1, noNaN: true });

  test('is the sum of the times in which it was full', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ isFull: fc.boolean(), afterMs: fc.integer({ min: 20, max: 5_000 }) }), {
          maxLength: 60,
        }),
        fc.tuple(share, share),
        (given, shares) => {
          const { occupancy, exact, nowMs } = follow(given);
          const [fromMs, toMs] = times(nowMs, shares);
          expect(occupancy.fullBetween(fromMs, toMs, nowMs, false)).toBeCloseTo(exact(fromMs, toMs), 3);
        },
      ),
    );
  });

  test('is between nothing and all of the time, and of parts adds up, however many changes there were', () => {
    fc.assert(
      fc.property(changes, fc.tuple(share, share), (given, shares) => {
        const { occupancy, nowMs } = follow(given);
        const [fromMs, toMs] = times(nowMs, shares);
        const full = (from: number, to: number) => occupancy.fullBetween(from, to, nowMs, false);
        expect(full(fromMs, toMs)).toBeGreaterThanOrEqual(-1e-6);
        expect(full(fromMs, toMs)).toBeLessThanOrEqual(toMs - fromMs + 1e-6);
        expect(full(0, fromMs) + full(fromMs, toMs) + full(toMs, nowMs)).toBeCloseTo(full(0, nowMs), 3);
      }),
    );
  });

  test('is wrong by two per cent at most after ten thousand changes', () => {
    const given = Array.from({ length: 10_000 }, (_, n) => ({
      isFull: n % 2 === 0,
      afterMs: n % 2 ? 30 : 10,
    }));
    const { occupancy, exact, nowMs } = follow(given);
    for (let fromMs = 0; fromMs < nowMs; fromMs += 3_333) {
      const full = occupancy.fullBetween(fromMs, nowMs, nowMs, false);
      expect(Math.abs(full - exact(fromMs, nowMs))).toBeLessThan(nowMs / 50);
    }
  });

  test('ends when it is said to end, if nothing changes before', () => {
    fc.assert(
      fc.property(fc.nat(5_000), fc.nat(5_000), fc.integer({ min: 20, max: 5_000 }), share, (...given) => {
        const [lastsMs, afterMs, nextMs, at] = given;
        const occupancy = createOccupancy(0);
        occupancy.set(true, 100, undefined, 100 + lastsMs);
        const full = (atMs: number) => Math.max(0, Math.min(atMs, 100 + lastsMs) - 100);
        const checkedMs = 100 + afterMs;
        expect(occupancy.fullBetween(0, checkedMs, checkedMs, false)).toBeCloseTo(full(checkedMs), 3);
        expect(occupancy.isFull(checkedMs)).toBe(afterMs < lastsMs);
        if (lastsMs > 0) expect(occupancy.lastFullMs(checkedMs)).toBe(100 + Math.min(afterMs, lastsMs));
        const endMs = checkedMs + lastsMs + nextMs; // long over
        occupancy.set(false, endMs - 1);
        occupancy.set(true, endMs);
        const atMs = at * endMs;
        // Changes within a step of 20 ms share a point.
        expect(Math.abs(occupancy.fullBetween(0, atMs, endMs, false) - full(atMs))).toBeLessThan(20);
      }),
    );
  });

  test('before the first attempt of a process is judged by what the receiver did since', () => {
    const since = (fullForMs: number, nowMs: number, isSlow = false) => {
      const occupancy = createOccupancy(0);
      occupancy.set(true, 0);
      occupancy.set(false, fullForMs);
      return occupancy.fullBetween(-600_000, 0, nowMs, isSlow);
    };
    expect(since(5, 5)).toBe(0); // quick: nobody sent before
    expect(since(4_000, 10_000)).toBe(0);
    expect(since(8_000, 10_000)).toBe(600_000);
    expect(since(0, 0, true)).toBe(600_000);
  });
});

describe('how long a delivery was sendable', () => {
  const claim = (sendableForMs: number, webhookId = 'w') =>
    ({ shipperId: webhookId, webhookId, dueAt: new Date(0), sendableForMs, isProbe: false }) as DueClaim;
  const exchange = (
    scheduler: ReturnType<typeof createScheduler>,
    started: InFlight[],
    fromMs: number,
    toMs: number,
  ) => {
    for (const entry of started) scheduler.sending(entry, fromMs);
    const waits = started.map((entry) => scheduler.answered(entry, toMs));
    for (const entry of started) scheduler.ended(entry, toMs - fromMs, toMs);
    return waits;
  };

  test('is the time from its claim, and before, to its attempt, if its receiver was never full', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1e6 }), fc.nat({ max: 1e5 }), fc.nat({ max: 900 }), (age, waitMs, tookMs) => {
        const scheduler = createScheduler({ concurrency: 100, slowMs });
        scheduler.claimed([claim(age)], 5_000, null);
        const nowMs = 5_000 + waitMs;
        expect(exchange(scheduler, scheduler.starts(nowMs), nowMs, nowMs + tookMs)).toEqual([age + waitMs]);
      }),
    );
  });

  test('counts the wait for a place in a pool that other receivers have taken', () => {
    const scheduler = createScheduler({ concurrency: 2, slowMs });
    scheduler.claimed([claim(0, 'a'), claim(0, 'b'), claim(0, 'c')], 0, null);
    const first = scheduler.starts(0);
    expect(first).toHaveLength(2);
    exchange(scheduler, first, 0, 800);
    expect(exchange(scheduler, scheduler.starts(800), 800, 900)).toEqual([800]);
  });

  test('does not count the wait for attempts at its own receiver', () => {
    const scheduler = createScheduler({ concurrency: 100, slowMs });
    scheduler.claimed(
      Array.from({ length: 12 }, () => claim(0)),
      0,
      null,
    );
    const first = scheduler.starts(0);
    expect(first).toHaveLength(5);
    expect(exchange(scheduler, first, 0, 900)).toEqual([0, 0, 0, 0, 0]);
    expect(exchange(scheduler, scheduler.starts(900), 900, 950)).toEqual(Array<number>(7).fill(0));
  });

  test('counts the time in which an attempt at its own receiver is over, and not settled within 250 ms', () => {
    const scheduler = createScheduler({ concurrency: 100, slowMs });
    scheduler.claimed(
      Array.from({ length: 6 }, () => claim(0)),
      0,
      null,
    );
    const first = scheduler.starts(0);
    for (const entry of first) scheduler.sending(entry, 0);
    for (const entry of first) scheduler.answered(entry, 100);
    expect(scheduler.starts(700)).toEqual([]);
    for (const entry of first) scheduler.ended(entry, 100, 700);
    const [wait] = exchange(scheduler, scheduler.starts(700), 700, 800);
    expect(wait).toBeCloseTo(350);
  });

  test('does not count, in a process just started, the backlog of a receiver that proves slow', () => {
    const scheduler = createScheduler({ concurrency: 100, slowMs });
    scheduler.claimed([claim(600_000, 'slow'), claim(600_000, 'quick')], 0, null);
    const [slow, quick] = scheduler.starts(0);
    for (const entry of [slow!, quick!]) scheduler.sending(entry, 0);
    expect(scheduler.answered(quick!, 20)).toBe(600_000);
    scheduler.slow(6_000);
    expect(scheduler.answered(slow!, 6_000)).toBe(0);
  });
});

describe('what a process holds back', () => {
  const claims = (webhookId: string, count: number, sendableForMs = 0) =>
    Array.from({ length: count }, () => ({
      shipperId: webhookId,
      webhookId,
      dueAt: new Date(0),
      sendableForMs,
      isProbe: false,
    })) as DueClaim[];
  const begin = (scheduler: ReturnType<typeof createScheduler>, nowMs: number) => {
    const started = scheduler.starts(nowMs);
    for (const entry of started) scheduler.sending(entry, nowMs);
    return started;
  };
  const answer = (scheduler: ReturnType<typeof createScheduler>, answered: InFlight[], nowMs: number) => {
    for (const entry of answered) scheduler.answered(entry, nowMs);
  };

  test('are claims that wait for a place, not those that wait for a full receiver', () => {
    const scheduler = createScheduler({ concurrency: 4, slowMs });
    scheduler.claimed([...claims('a', 3), ...claims('b', 2)], 0, null);
    const started = begin(scheduler, 0);
    expect(started.map(({ claim }) => claim.webhookId).sort()).toEqual(['a', 'a', 'b', 'b']);
    scheduler.claimed(claims('c', 5, 70_000), 0, null);
    expect(scheduler.heldBack(2_000)).toEqual({ c: { count: 5, sendableForMs: 72_000, freeForMs: null } });
  });

  test('are claims whose attempt has not begun, or is over and not settled', () => {
    const scheduler = createScheduler({ concurrency: 4, slowMs });
    scheduler.claimed(claims('a', 2), 0, null);
    scheduler.starts(0); // their targets are being read
    expect(scheduler.heldBack(3_000)).toEqual({ a: { count: 2, sendableForMs: 3_000, freeForMs: 2_750 } });

    const settling = createScheduler({ concurrency: 4, slowMs });
    settling.claimed(claims('a', 3), 0, null);
    answer(settling, begin(settling, 0), 500);
    expect(settling.heldBack(9_500)).toEqual({ a: { count: 1, sendableForMs: 9_500, freeForMs: 8_750 } });
  });

  test('are none while every receiver has as many attempts as its lane allows', () => {
    const scheduler = createScheduler({ concurrency: 100, slowMs });
    scheduler.claimed(claims('a', 5), 0, null);
    begin(scheduler, 0);
    expect(scheduler.heldBack(60_000)).toEqual({});
  });
});

test('after hours of changes the last seconds are as exact as at first', () => {
  const occupancy = createOccupancy(0);
  const hours = 6;
  let atMs = 0;
  for (; atMs < hours * 3_600_000; atMs += 10_000) {
    occupancy.set(true, atMs);
    occupancy.set(false, atMs + 5_000);
  }
  expect(occupancy.sumBetween(atMs - 9_000, atMs - 6_000)).toBeCloseTo(3_000, -3);
  expect(occupancy.sumBetween(atMs - 24_000, atMs - 21_000)).toBeLessThan(1_000);
  const hourMs = 3_600_000;
  const anHour = occupancy.sumBetween(atMs - 2 * hourMs, atMs - hourMs);
  expect(anHour).toBeGreaterThan(hourMs / 2 - (2 * hourMs) / 6);
  expect(anHour).toBeLessThan(hourMs / 2 + (2 * hourMs) / 6);
});
