import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { waitedOf } from '../../../../src/engine/attempt/dispatcher.js';
import { noDetail, parseDetail, withWaited } from '../../../../src/engine/send/messages.js';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import { Scheduler } from '../../../../src/engine/schedule/scheduler.js';
import type { DueClaim } from '../../../../src/engine/outbox/types.js';

const slowMs = 1_000;

describe('how long a delivery was sendable', () => {
  const claim = (sendableForMs: number, webhookId = 'w') =>
    ({ shipperId: webhookId, webhookId, dueAt: new Date(0), sendableForMs, isProbe: false }) as DueClaim;
  const exchange = (scheduler: Scheduler, started: InFlight[], fromMs: number, toMs: number) => {
    for (const entry of started) scheduler.sending(entry, fromMs);
    const waits = started.map((entry) => scheduler.answered(entry, toMs));
    for (const entry of started) scheduler.ended(entry, toMs - fromMs, toMs);
    return waits;
  };

  test('is the time from its claim, and before, to its attempt, if its receiver was never full', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1e6 }), fc.nat({ max: 1e5 }), fc.nat({ max: 900 }), (age, waitMs, tookMs) => {
        const scheduler = new Scheduler({ concurrency: 100, slowMs });
        scheduler.claimed([claim(age)], 5_000, null);
        const nowMs = 5_000 + waitMs;
        expect(exchange(scheduler, scheduler.starts(nowMs), nowMs, nowMs + tookMs)).toEqual([age + waitMs]);
      }),
    );
  });

  test('counts the wait for a place in a pool that other receivers have taken', () => {
    const scheduler = new Scheduler({ concurrency: 2, slowMs });
    scheduler.claimed([claim(0, 'a'), claim(0, 'b'), claim(0, 'c')], 0, null);
    const first = scheduler.starts(0);
    expect(first).toHaveLength(2);
    exchange(scheduler, first, 0, 800);
    expect(exchange(scheduler, scheduler.starts(800), 800, 900)).toEqual([800]);
  });

  test('does not count the wait for attempts at its own receiver', () => {
    const scheduler = new Scheduler({ concurrency: 100, slowMs });
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
    const scheduler = new Scheduler({ concurrency: 100, slowMs });
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
    const scheduler = new Scheduler({ concurrency: 100, slowMs });
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
  const begin = (scheduler: Scheduler, nowMs: number) => {
    const started = scheduler.starts(nowMs);
    for (const entry of started) scheduler.sending(entry, nowMs);
    return started;
  };
  const answer = (scheduler: Scheduler, answered: InFlight[], nowMs: number) => {
    for (const entry of answered) scheduler.answered(entry, nowMs);
  };

  test('are claims that wait for a place, not those that wait for a full receiver', () => {
    const scheduler = new Scheduler({ concurrency: 4, slowMs });
    scheduler.claimed([...claims('a', 3), ...claims('b', 2)], 0, null);
    const started = begin(scheduler, 0);
    expect(started.map(({ claim }) => claim.webhookId).sort()).toEqual(['a', 'a', 'b', 'b']);
    scheduler.claimed(claims('c', 5, 70_000), 0, null);
    expect(scheduler.heldBack(2_000)).toEqual({ c: { count: 5, sendableForMs: 72_000, freeForMs: null } });
  });

  test('are claims whose attempt has not begun, or is over and not settled', () => {
    const scheduler = new Scheduler({ concurrency: 4, slowMs });
    scheduler.claimed(claims('a', 2), 0, null);
    scheduler.starts(0); // their targets are being read
    expect(scheduler.heldBack(3_000)).toEqual({ a: { count: 2, sendableForMs: 3_000, freeForMs: 2_750 } });

    const settling = new Scheduler({ concurrency: 4, slowMs });
    settling.claimed(claims('a', 3), 0, null);
    answer(settling, begin(settling, 0), 500);
    expect(settling.heldBack(9_500)).toEqual({ a: { count: 1, sendableForMs: 9_500, freeForMs: 8_750 } });
  });

  test('are none while every receiver has as many attempts as its lane allows', () => {
    const scheduler = new Scheduler({ concurrency: 100, slowMs });
    scheduler.claimed(claims('a', 5), 0, null);
    begin(scheduler, 0);
    expect(scheduler.heldBack(60_000)).toEqual({});
  });
});

describe('what an attempt keeps of its waits', () => {
  const recordedAt = new Date(1_000_000);
  const at = (ms: number) => new Date(recordedAt.getTime() + ms);
  const claim = {
    ...{ trigger: 'SCHEDULED', number: 1, sequence: 2, ordered: true, recordedAt, dueAt: at(4_000) },
    ...{ sendableForMs: 500, stoppedBy: null, calledAt: null },
  } as DueClaim;
  /** Claimed at 9,000 of the process's clock, and begun a second later. */
  const waited = (
    of: Partial<DueClaim>,
    answer: object = {},
    pacedAtMs = -Infinity,
    sendableMs = 300,
    base = claim,
  ) =>
    waitedOf(
      {
        ...{ claim: { ...base, ...of }, lane: { pacedAtMs }, asOfMs: 9_000, sentAtMs: 10_000 },
        dueMs: (of.dueAt ?? claim.dueAt).getTime(),
      },
      sendableMs,
      { ok: false, detail: null, startedAt: at(5_500), queuedMs: 20, ...answer },
    );
  const none = { turn: 0, receiver: 0, circuit: 0, paused: 0, rate: 0, us: 320 };

  test('is its turn until it was due, then its receiver, and the rest is ours', () => {
    expect(waited({})).toEqual({ ...none, turn: 4_000, receiver: 1_200 });
    expect(waited({ sequence: 1 })).toEqual({ ...none, receiver: 1_200, us: 4_320 });
    const recorded = { ...claim };
    delete recorded.calledAt;
    expect(waited({}, {}, -Infinity, 300, recorded)).toMatchObject({ turn: 0, us: 4_320 });
    expect(waited({ number: 2 })).toEqual({ ...none, receiver: 1_200 });
  });

  test('is the pace of its host if its lane has waited for that since', () => {
    expect(waited({}, {}, 8_600)).toEqual({ ...none, turn: 4_000, rate: 1_200 });
    expect(waited({}, {}, 8_400)).toEqual({ ...none, turn: 4_000, receiver: 1_200 });
  });

  test('is what the webhook was stopped by until it was called again, before its turn', () => {
    expect(waited({ stoppedBy: 'paused', calledAt: at(3_000) })).toEqual({
      ...none,
      ...{ paused: 3_000, turn: 1_000, receiver: 1_200 },
    });
    expect(waited({ stoppedBy: 'circuit', calledAt: at(4_800), number: 3 })).toEqual({
      ...none,
      ...{ circuit: 800, receiver: 1_200 },
    });
  });

  test('is nothing for a success within five seconds, unless all is kept, and nothing for an attempt by hand', () => {
    const quick = { dueAt: at(1), recordedAt: at(0) };
    const ok = { ok: true, startedAt: at(4_999) };
    expect(waited(quick, ok)).toBeNull();
    expect(waited(quick, { ...ok, startedAt: at(5_000) })).not.toBeNull();
    expect(waited(quick, { ...ok, detail: '{}' })).not.toBeNull();
    expect(waited({ trigger: 'MANUAL' })).toBeNull();
  });

  test('is read beside what the thread has written, or alone', () => {
    const { us, ...others } = none;
    const kept = { ...others, us };
    expect(parseDetail(withWaited(null, kept))).toEqual({ ...noDetail, waitedMs: kept });
    const detail = JSON.stringify({ dnsMs: 3, remoteAddress: '::1' });
    expect(parseDetail(withWaited(detail, kept))).toEqual({
      ...noDetail,
      ...{ dnsMs: 3, remoteAddress: '::1', waitedMs: kept },
    });
  });
});
