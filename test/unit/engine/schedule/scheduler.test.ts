import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Page } from '../../../../src/engine/schedule/places.js';
import { Scheduler } from '../../../../src/engine/schedule/scheduler.js';
import type { DueClaim } from '../../../../src/engine/outbox/types.js';
import { createSimulation, type Simulation } from './scheduling.js';
import { runs } from '../../../support/runs.js';

const slowMs = 1_000;

describe('any sequence of events', () => {
  const shippers = ['a', 'b', 'c'];
  const webhook = fc.record({ shipper: fc.constantFrom(...shippers), n: fc.nat({ max: 3 }) });
  const act = fc.oneof(
    fc.record({
      kind: fc.constant('record' as const),
      shipper: fc.constantFrom(...shippers),
      events: fc.integer({ min: 1, max: 30 }),
    }),
    fc.record({
      kind: fc.constant('owe' as const),
      webhook,
      count: fc.integer({ min: 1, max: 60 }),
      agoMs: fc.nat({ max: 60_000 }),
    }),
    fc.record({ kind: fc.constant('pageRuns' as const) }),
    fc.record({ kind: fc.constant('pageComes' as const), fails: fc.boolean() }),
    fc.record({
      kind: fc.constant('otherProcessTakes' as const),
      webhook,
      count: fc.integer({ min: 1, max: 30 }),
    }),
    fc.record({
      kind: fc.constant('end' as const),
      nth: fc.nat({ max: 30 }),
      durationMs: fc.constantFrom(5, 200, 1_500, 6_000),
      fails: fc.boolean(),
      sign: fc.constantFrom(null, 'SUCCEEDED' as const, 'OVERLOADED' as const),
      retryAfterMs: fc.constantFrom(0, 2_000),
    }),
    fc.record({ kind: fc.constant('giveBackEnds' as const) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 50, 700, 3_000) }),
    fc.record({ kind: fc.constant('notCallable' as const), webhook }),
  );
  const run = (check: (simulation: Simulation) => void) =>
    fc.assert(
      fc.property(fc.array(act, { maxLength: 120 }), fc.integer({ min: 1, max: 12 }), (acts, concurrency) => {
        const simulation = createSimulation({ concurrency, slowMs, shippers, webhooksOfShipper: 4 });
        for (const act of acts) {
          simulation.act(act);
          check(simulation);
        }
        simulation.finish();
        check(simulation);
        // Everything owed was sent once: nothing was forgotten, nothing was started twice.
        expect(simulation.unsent()).toEqual([]);
        expect(simulation.sentTwice()).toEqual([]);
        for (const shipper of shippers)
          expect(simulation.scheduler.hasRoomForOrder(shipper, { ofShipper: 0, all: 0 }, 1e9)).toBe(true);
      }),
      { numRuns: runs(300) },
    );

  test('starts each claim once, gives it back or keeps it waiting, and forgets nothing owed', () => {
    run(() => undefined);
  });

  test('starts no attempt of a limited shipper beyond its limit, which may change at any time, and forgets nothing', () => {
    const limiting = fc.record({
      kind: fc.constant('limit' as const),
      shipper: fc.constantFrom(...shippers),
      max: fc.option(fc.integer({ min: 1, max: 3 })),
    });
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ arbitrary: act, weight: 9 }, limiting), { maxLength: 120 }),
        fc.integer({ min: 1, max: 12 }),
        (acts, concurrency) => {
          const simulation = createSimulation({ concurrency, slowMs, shippers, webhooksOfShipper: 4 });
          const limits = new Map<string, number>();
          const inFlight = (shipper: string) =>
            simulation.scheduler
              .claims()
              .filter(({ claim, pool }) => claim.shipperId === shipper && pool !== null).length;
          let before = shippers.map(inFlight);
          const check = () => {
            for (const [n, shipper] of shippers.entries())
              expect(inFlight(shipper)).toBeLessThanOrEqual(
                Math.max(limits.get(shipper) ?? Infinity, before[n]!),
              );
            before = shippers.map(inFlight);
          };
          for (const one of acts) {
            if (one.kind === 'limit') {
              if (one.max === null) limits.delete(one.shipper);
              else limits.set(one.shipper, one.max);
              simulation.scheduler.limits.set(new Map(limits));
            } else simulation.act(one);
            check();
          }
          simulation.finish();
          expect(simulation.unsent()).toEqual([]);
          expect(simulation.sentTwice()).toEqual([]);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  test('has the leases of all claims renewed until they are settled or given back', () => {
    run(({ scheduler, held }) => {
      const renewed = scheduler.claims().map(({ claim }) => claim.deliveryId);
      expect(renewed.sort()).toEqual(held().sort());
    });
  });

  test('never has more attempts in flight than places in a pool', () => {
    run(({ scheduler, concurrency }) => {
      const { quick, unknown, slow } = scheduler.inFlight;
      expect(quick).toBeLessThanOrEqual(concurrency);
      expect(unknown).toBeLessThanOrEqual(concurrency);
      expect(slow).toBeLessThanOrEqual(5 * concurrency);
    });
  });

  test('never lets a newer delivery of a lane pass its longest due one', () => {
    run(({ passedOver }) => expect(passedOver()).toEqual([]));
  });

  test('never counts more of a wait as ours than it lasted, and never less than nothing', () => {
    run(({ waits }) =>
      expect(
        waits().filter(({ waitedMs, sendableMs }) => !(sendableMs >= 0 && sendableMs <= waitedMs + 1e-6)),
      ).toEqual([]),
    );
  });

  test('never lets a lane with pending deliveries wait while a place it may use is free', () => {
    run(({ idleLanes }) => expect(idleLanes()).toEqual([]));
  });
});

const claimOf = (shipperId: string, webhookId: string, dueMs = 0): DueClaim =>
  ({ shipperId, webhookId, deliveryId: `${webhookId} ${Math.random()}`, dueAt: new Date(dueMs) }) as DueClaim;

const claimAll = (shipperId: string, { wanted }: Page) =>
  wanted.map(({ webhookId }) => claimOf(shipperId, webhookId));

describe('redeliveries', () => {
  const redelivery = (webhookId: string): DueClaim => ({ ...claimOf('s', webhookId), trigger: 'MANUAL' });

  test('go before what is pending in their lane, in the order of their requests', () => {
    const scheduler = new Scheduler({ concurrency: 40, slowMs });
    const due = [1, 2, 3].map((dueMs) => claimOf('s', 'w', dueMs));
    const byHand = [redelivery('w'), redelivery('w')];
    scheduler.claimed(due, 0, null);
    scheduler.claimed(byHand, 0, null);
    const first = scheduler.starts(0); // as many as the lane's first limit
    expect(first.map(({ claim }) => claim)).toEqual(byHand);
    for (const entry of first) scheduler.ended(entry, 5, 0);
    expect(scheduler.starts(0).map(({ claim }) => claim)).toEqual(due);
  });

  test('stay when their webhook is not called any more, and scheduled claims do not', () => {
    const scheduler = new Scheduler({ concurrency: 40, slowMs });
    const due = claimOf('s', 'w', 1);
    scheduler.claimed([due, redelivery('w')], 0, null);
    expect(scheduler.returnPending(['w']).map(({ claim }) => claim)).toEqual([due]);
  });

  test('are claimed for a lane up to its limit, counting those that wait or are under way', () => {
    const scheduler = new Scheduler({ concurrency: 100, slowMs });
    expect(scheduler.roomForRedeliveries()).toEqual({ byWebhook: {}, ofOthers: 5 });
    scheduler.claimed([redelivery('w'), redelivery('w'), claimOf('s', 'other')], 0, null);
    const [started] = scheduler.starts(0);
    expect(scheduler.roomForRedeliveries().byWebhook).toEqual({ w: 3 });
    scheduler.ended(started!, null, 0);
    expect(scheduler.roomForRedeliveries().byWebhook).toEqual({ w: 4 });
  });
});

describe('rotation', () => {
  test("one shipper's ten thousand lanes cost another nothing", () => {
    const scheduler = new Scheduler({ concurrency: 100, slowMs });
    const lanes = Array.from({ length: 10_000 }, (_, n) => `big ${n}`);
    scheduler.notify(
      lanes.map((webhookId) => ({ webhookId, dueFromMs: null })),
      false,
      0,
    );
    const first = scheduler.nextPage(0)!;
    scheduler.claimed(claimAll('big', first), 0, first);
    while (scheduler.starts(0).length > 0);
    // Its pages and attempts are under way; the other's deliveries are in the next page and start at once.
    scheduler.claimed([claimOf('small', 'small')], 0, null);
    expect(scheduler.starts(0).map(({ claim }) => claim.shipperId)).toEqual(['small']);
    scheduler.notify([{ webhookId: 'small', dueFromMs: null }], false, 0);
    expect(scheduler.nextPage(0)!.wanted.map(({ webhookId }) => webhookId)).toContain('small');
  });

  test('a page that fails is requested again with half as many lanes, until one succeeds', () => {
    const scheduler = new Scheduler({ concurrency: 100, slowMs });
    const due = Array.from({ length: 16 }, (_, n) => ({ webhookId: `w${n}`, dueFromMs: null }));
    scheduler.notify(due, false, 0);
    const sizes = Array.from({ length: 5 }, () => {
      const page = scheduler.nextPage(0)!;
      scheduler.pageFailed(page);
      return page.wanted.length;
    });
    expect(sizes).toEqual([16, 8, 4, 2, 1]);
    const page = scheduler.nextPage(0)!;
    scheduler.claimed([], 0, page);
    expect(scheduler.nextPage(0)!.wanted).toHaveLength(2);
  });
});

// Three seconds an attempt, four or ten at once: nine tenths of the lane's capacity arrive.
test.each([
  { concurrency: 10, everyMs: 833 },
  { concurrency: 100, everyMs: 333 },
])('a slow receiver gets the longest due first, with $concurrency places', ({ concurrency, everyMs }) => {
  const simulation = createSimulation({ concurrency, slowMs, shippers: ['a'], webhooksOfShipper: 1 });
  const oldestMs = simulation.runSlowReceiver({ respondsAfterMs: 3_000, everyMs, forMs: runs(600_000) });
  expect(oldestMs).toBeLessThan(30_000);
});

test('a claim ends once, however often its end is reported', () => {
  const scheduler = new Scheduler({ concurrency: 10, slowMs });
  scheduler.claimed([claimOf('a', 'a'), claimOf('b', 'b')], 0, null);
  const [first, second] = scheduler.starts(0);
  scheduler.ended(first!, 5, 5);
  scheduler.ended(first!, 5, 5);
  expect(scheduler.claims()).toEqual([second]);
  expect(scheduler.inFlight).toEqual({ quick: 0, unknown: 1, slow: 0 });
});

test('a place is awaited while a lane is full, even if what waits is in PostgreSQL, or its shipper has all it may', () => {
  const scheduler = new Scheduler({ concurrency: 100, slowMs });
  const start = (nowMs: number) => {
    const page = scheduler.nextPage(nowMs)!;
    const [{ room }] = page.wanted as [Page['wanted'][number]];
    scheduler.claimed(
      Array.from({ length: room }, () => claimOf('s', 'w')),
      nowMs,
      page,
    );
    return scheduler.starts(nowMs);
  };
  scheduler.notify([{ webhookId: 'w', dueFromMs: null }], false, 0);
  const started = start(0);
  expect(scheduler.claims().length).toBe(started.length); // nothing waits here
  expect(scheduler.isAwaited).toBe(true);
  scheduler.ended(started[0]!, 5, 5);
  expect(scheduler.isAwaited).toBe(false);
  scheduler.limits.set(new Map([['s', started.length - 1]]));
  expect(scheduler.isAwaited).toBe(true);
  for (const entry of started.slice(1)) scheduler.ended(entry, 5, 5);
  expect(scheduler.isAwaited).toBe(false);
});

test('receivers that hang from the start take their places one by one, not all at once', () => {
  const scheduler = new Scheduler({ concurrency: 100, slowMs });
  const webhooks = Array.from({ length: 50 }, (_, n) => `hangs ${n}`);
  const startedIn = Array<number>(8).fill(0);
  for (let nowMs = 0; nowMs < 8_000; nowMs += 100) {
    for (const entry of scheduler.slow(nowMs)) scheduler.ended(entry, null, nowMs);
    const claims = webhooks.map((webhookId) => claimOf(webhookId, webhookId, nowMs));
    scheduler.claimed(claims, nowMs, null);
    for (const entry of scheduler.starts(nowMs)) {
      scheduler.sending(entry, nowMs);
      startedIn[Math.floor(nowMs / 1_000)]! += 1;
    }
  }
  // The places for unknown webhooks; what is missing to half of the limits; then one for each second and webhook.
  expect(startedIn).toEqual([100, 150, 50, 50, 50, 50, 50, 0]);
});

test('the wait for a slow receiver that is owed more than it can take does not count as ours', () => {
  const simulation = createSimulation({ concurrency: 10, slowMs, shippers: ['a'], webhooksOfShipper: 1 });
  const oldestMs = simulation.runSlowReceiver({ respondsAfterMs: 3_000, everyMs: 500, forMs: 60_000 });
  expect(oldestMs).toBeGreaterThan(10_000);
  expect(Math.max(...simulation.waits().map(({ sendableMs }) => sendableMs))).toBeLessThan(150);
});

describe('pages', () => {
  const due = (dueFromMs: number | null) => [{ webhookId: 'w', dueFromMs }];
  const pullNothing = (scheduler: Scheduler) => {
    const page = scheduler.nextPage(0)!;
    scheduler.claimed([], 0, page);
    return page.wanted[0]!.sinceMs;
  };

  test('start where the last one ended, or at the earliest notified due time, whichever is earlier', () => {
    const scheduler = new Scheduler({ concurrency: 10, slowMs });
    scheduler.notify(due(null), false, 0);
    const first = scheduler.nextPage(0)!;
    expect(first.wanted[0]!.sinceMs).toBe(-Infinity);
    const claims = [claimOf('s', 'w', 5_000), claimOf('s', 'w', 7_000)];
    scheduler.claimed(claims, 0, first);
    for (const entry of scheduler.starts(0)) scheduler.ended(entry, 5, 0);
    scheduler.notify(due(9_000), false, 0);
    expect(pullNothing(scheduler)).toBe(7_000);
    scheduler.notify(due(6_000), false, 0);
    expect(pullNothing(scheduler)).toBe(6_000);
    expect(scheduler.nextPage(0)).toBeNull();
  });

  test('follow each other if a notification arrives meanwhile', () => {
    const scheduler = new Scheduler({ concurrency: 10, slowMs });
    scheduler.notify(due(null), false, 0);
    const first = scheduler.nextPage(0)!;
    const claim = claimOf('s', 'w', 1_000);
    scheduler.claimed([claim], 0, first);
    scheduler.notify(due(2_000), false, 0);
    const page = scheduler.nextPage(0)!;
    scheduler.notify(due(400), false, 0);
    scheduler.claimed([], 0, page);
    expect(pullNothing(scheduler)).toBe(400);
    expect(scheduler.nextPage(0)).toBeNull();
  });
});
