import { describe, expect, test } from '@jest/globals';
import { maxLargeBytes } from '../../../../src/engine/schedule/places.js';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import { Scheduler } from '../../../../src/engine/schedule/scheduler.js';
import type { DueClaim } from '../../../../src/engine/outbox/types.js';
import { runs } from '../../../support/runs.js';

const slowMs = 1_000;
const stepMs = 20;
const targetMs = 20;
const settleMs = 40;
const lastsMs = runs(30_000, 12_000);

/**
 * One shipper's 100 webhooks answer after 2 s and get 3 deliveries a second each, more than its half of the slow places
 * can carry. `hangingOthers`: deliveries of another shipper whose receivers do not answer.
 */
function crowd(hangingOthers: number) {
  const scheduler = new Scheduler({ concurrency: 100, slowMs });
  const waits: { waitedMs: number; sendableMs: number }[] = [];
  let running: { entry: InFlight; startedAtMs: number; answeredAtMs: number | null }[] = [];
  const enter = (shipperId: string, n: number, nowMs: number) => {
    const claim = { shipperId, webhookId: `${shipperId} ${n}`, dueAt: new Date(nowMs), sendableForMs: 0 };
    scheduler.claimed([claim as DueClaim], nowMs, null);
  };
  let nowMs = 0;
  for (let n = 0; n < hangingOthers; n += 1) enter('other', n % 50, nowMs);
  for (; nowMs <= lastsMs; nowMs += stepMs) {
    if (nowMs % 340 === 0 && nowMs < (2 / 3) * lastsMs)
      for (let n = 0; n < 100; n += 1) enter('big', n, nowMs);
    for (const attempt of running) {
      const { entry, startedAtMs, answeredAtMs } = attempt;
      const { claim } = entry;
      const lastedMs = nowMs - startedAtMs - targetMs;
      if (lastedMs === 0) scheduler.sending(entry, nowMs);
      if (claim.shipperId === 'big' && lastedMs === 2_000) {
        const waitedMs = startedAtMs + targetMs - claim.dueAt.getTime();
        waits.push({ waitedMs, sendableMs: scheduler.answered(entry, nowMs) });
        attempt.answeredAtMs = nowMs;
      }
      if (answeredAtMs !== null && nowMs - answeredAtMs === settleMs) scheduler.ended(entry, 2_000, nowMs);
    }
    running = running.filter(({ answeredAtMs }) => answeredAtMs === null || nowMs - answeredAtMs < settleMs);
    for (const entry of scheduler.slow(nowMs)) {
      const { claim } = entry;
      scheduler.ended(entry, null, nowMs);
      claim.sendableForMs = nowMs - claim.dueAt.getTime();
      scheduler.claimed([claim], nowMs, null);
    }
    for (const entry of scheduler.starts(nowMs))
      running.push({ entry, startedAtMs: nowMs, answeredAtMs: null });
  }
  return { scheduler, nowMs, late: waits.filter(({ waitedMs }) => waitedMs > 5_000) };
}

describe('a shipper with many slow webhooks', () => {
  test('waits for its own receivers while it has its half of the places and others have theirs', () => {
    const { scheduler, nowMs, late } = crowd(0);
    expect(scheduler.inFlight.slow).toBe(250);
    expect(late.length).toBeGreaterThan(runs(1_000, 100));
    expect(Math.max(...late.map(({ sendableMs }) => sendableMs))).toBeLessThan(2_000);
    // PostgreSQL may see too few claims of each to know that they are full.
    const held = Object.values(scheduler.heldBack(nowMs));
    expect(held).toHaveLength(100);
    expect(held).toEqual(held.map(() => ({ count: 0, sendableForMs: 0, freeForMs: 0 })));
  });

  test('waits for us when the places are used up by all together', () => {
    const { scheduler, nowMs, late } = crowd(300);
    expect(scheduler.inFlight.slow).toBe(490); // ten of 500 are kept for shippers with few
    expect(late.filter(({ sendableMs }) => sendableMs > 5_000).length).toBeGreaterThan(late.length / 2);
    expect(Object.values(scheduler.heldBack(nowMs)).some(({ count }) => count > 0)).toBe(true);
  });
});

test('claims that are being settled or read their target do not make a shipper wait for its receivers', () => {
  const scheduler = new Scheduler({ concurrency: 20, slowMs });
  const claims = Array.from({ length: 30 }, (_, n) => ({
    shipperId: 'a',
    webhookId: `a ${n}`,
    dueAt: new Date(0),
    sendableForMs: 0,
  })) as DueClaim[];
  scheduler.claimed(claims, 0, null);
  const started = scheduler.starts(0);
  expect(started).toHaveLength(10);
  const held = (nowMs: number) =>
    Object.values(scheduler.heldBack(nowMs)).reduce((sum, { count }) => sum + count, 0);
  expect(held(900)).toBe(30);
  for (const entry of started) scheduler.sending(entry, 900);
  expect(held(905)).toBe(0);
  for (const entry of started) scheduler.answered(entry, 910);
  expect(held(950)).toBe(20);
});

test('attempts of one pool do not hide that claims of another wait for their targets', () => {
  const scheduler = new Scheduler({ concurrency: 40, slowMs });
  const claimsOf = (webhookId: string, count: number, sinceMs: number) =>
    Array.from({ length: count }, () => ({
      shipperId: 'a',
      webhookId,
      dueAt: new Date(sinceMs),
      sendableForMs: 0,
    })) as DueClaim[];
  for (let limit = 2; limit < 12; limit *= 2) {
    scheduler.claimed(claimsOf('quick', 1, 0), 0, null);
    for (const entry of scheduler.starts(0)) scheduler.ended(entry, 5, 0);
  }
  scheduler.claimed(claimsOf('quick', 12, 0), 0, null);
  const quick = scheduler.starts(0);
  expect(quick).toHaveLength(12);
  for (const entry of quick) scheduler.sending(entry, 0);
  for (let n = 0; n < 10; n += 1) scheduler.claimed(claimsOf(`new ${n}`, 2, 0), 0, null);
  const reading = scheduler.starts(0);
  expect(reading).toHaveLength(20);
  scheduler.claimed(claimsOf('last', 1, 10), 10, null);
  expect(scheduler.starts(10)).toEqual([]);
  expect(scheduler.heldBack(5_010)['last']).toEqual({ count: 1, sendableForMs: 5_000, freeForMs: null });
});

describe('large bodies in flight', () => {
  const bytes = 256 * 1024;
  const claimsOf = (shipperId: string, webhooks: number, large: DueClaim['large']) =>
    Array.from({ length: webhooks * 5 }, (_, n) => ({
      shipperId,
      webhookId: `${shipperId} ${n % webhooks}`,
      dueAt: new Date(0),
      sendableForMs: 0,
      large,
    })) as DueClaim[];
  const start = (scheduler: Scheduler, claims: DueClaim[]) => {
    scheduler.claimed(claims, 0, null);
    return scheduler.starts(0);
  };
  const large = { eventId: 'e', bytes };

  test('of one shipper are at most half of what may be, and delay nobody else', () => {
    const scheduler = new Scheduler({ concurrency: 500, slowMs });
    const greedy = start(scheduler, claimsOf('greedy', 100, large));
    expect(greedy.length * bytes).toBe(maxLargeBytes / 2);
    expect(start(scheduler, claimsOf('light', 1, null))).toHaveLength(5);
    expect(start(scheduler, claimsOf('other', 1, large))).toHaveLength(5);
    for (const entry of greedy) scheduler.ended(entry, null, 0);
    expect(scheduler.starts(0)).toHaveLength(greedy.length);
  });

  test('are bounded, however many shippers there are', () => {
    const scheduler = new Scheduler({ concurrency: 500, slowMs });
    let inFlight = 0;
    for (let n = 0; n < 50; n += 1) inFlight += start(scheduler, claimsOf(`s${n}`, 20, large)).length;
    expect(inFlight * bytes).toBeLessThanOrEqual(2 * maxLargeBytes + 50 * bytes);
    for (const entry of scheduler.slow(2 * slowMs)) scheduler.ended(entry, null, 2 * slowMs);
    expect(inFlight).toBe(scheduler.inFlight.unknown + scheduler.inFlight.slow);
  });

  test('that hang leave places to claims of others, which are ours no longer than they wait for us', () => {
    const scheduler = new Scheduler({ concurrency: 100, slowMs });
    const greedy = start(scheduler, claimsOf('greedy', 100, large));
    for (const entry of greedy) scheduler.sending(entry, 0);
    const held = Object.values(scheduler.heldBack(500));
    expect(held).toEqual(held.map(() => ({ count: 0, sendableForMs: 0, freeForMs: 0 })));
  });
});
