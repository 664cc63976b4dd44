import { expect, test } from '@jest/globals';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import { Scheduler } from '../../../../src/engine/schedule/scheduler.js';
import type { DueClaim } from '../../../../src/engine/outbox/types.js';
import { runs } from '../../../support/runs.js';

const slowMs = 1_000;
const watchedMs = runs(20_000, 4_000);
let made = 0;
const claimOf = (shipperId: string, webhookId: string, dueMs: number): DueClaim =>
  ({
    shipperId,
    webhookId,
    deliveryId: `d${(made += 1)}`,
    dueAt: new Date(dueMs),
    sendableForMs: 0,
    isProbe: false,
  }) as DueClaim;

/** The real scheduler amid receivers that respond after the given time; healthy ones are called `good …`. */
function createWorld(respondsAfterMs: (webhookId: string, nowMs: number) => number) {
  const scheduler = new Scheduler({ concurrency: 100, slowMs });
  const owed: { claim: DueClaim; dueMs: number }[] = [];
  const underWay = new Map<InFlight, { endsAtMs: number; durationMs: number }>();
  /** The waits of healthy receivers. */
  const waits: { dueMs: number; waitedMs: number }[] = [];
  let nowMs = 0;

  const pull = () => {
    for (let page = scheduler.nextPage(nowMs); page; page = scheduler.nextPage(nowMs)) {
      const claims = page.wanted.flatMap(({ webhookId, room, sinceMs }) =>
        owed
          .filter(({ claim, dueMs }) => claim.webhookId === webhookId && dueMs >= sinceMs)
          .sort((a, b) => a.dueMs - b.dueMs)
          .slice(0, room),
      );
      for (const row of claims) owed.splice(owed.indexOf(row), 1);
      scheduler.claimed(
        claims.map(({ claim }) => claim),
        nowMs,
        page,
      );
    }
  };
  const start = () => {
    for (const entry of scheduler.starts(nowMs)) {
      scheduler.sending(entry, nowMs);
      const { webhookId, dueAt } = entry.claim;
      const dueMs = dueAt.getTime();
      if (webhookId.startsWith('good')) waits.push({ dueMs, waitedMs: nowMs - dueMs });
      const durationMs = respondsAfterMs(webhookId, nowMs);
      underWay.set(entry, { endsAtMs: nowMs + durationMs, durationMs });
    }
  };
  const record = (shipperId: string, webhookId: string) => {
    const room = scheduler.reserve([shipperId], nowMs);
    const claim = claimOf(shipperId, webhookId, nowMs);
    const may = Math.min(room.byWebhook[webhookId] ?? room.ofOthers, room.total) > 0;
    scheduler.claimed(may ? [claim] : [], nowMs, room);
    if (!may) {
      owed.push({ claim, dueMs: nowMs });
      scheduler.notify([{ webhookId, dueFromMs: nowMs }], true, nowMs);
    }
  };
  const step = (ms: number) => {
    nowMs += ms;
    for (const [entry, { endsAtMs, durationMs }] of underWay)
      if (endsAtMs <= nowMs) {
        underWay.delete(entry);
        scheduler.answered(entry, nowMs);
        scheduler.ended(entry, durationMs, nowMs);
        start(); // as the dispatcher does
      }
    if (nowMs % 100 === 0)
      for (const entry of scheduler.slow(nowMs)) {
        scheduler.ended(entry, null, nowMs);
        owed.push({ claim: entry.claim, dueMs: entry.dueMs });
        scheduler.notify([{ webhookId: entry.claim.webhookId, dueFromMs: entry.dueMs }], true, nowMs);
      }
    start();
    pull();
    start();
  };
  const owe = (shipperId: string, webhookId: string, count: number) => {
    for (let n = 0; n < count; n += 1)
      owed.push({ claim: claimOf(shipperId, webhookId, nowMs), dueMs: nowMs });
    scheduler.notify([{ webhookId, dueFromMs: null }], false, 0);
  };
  /** How long 99 of 100 deliveries to healthy receivers waited that were due later than `fromMs`. */
  const p99 = (fromMs: number) => {
    const waited = waits.filter(({ dueMs }) => dueMs >= fromMs).map(({ waitedMs }) => waitedMs);
    return waited.sort((a, b) => a - b)[Math.ceil(waited.length * 0.99) - 1]!;
  };
  return { scheduler, record, owe, step, p99, now: () => nowMs };
}

/** Fifty deliveries a second to a hundred healthy receivers of twenty shippers. */
function recordHealthy(world: World) {
  if (world.now() % 20 !== 0) return;
  const n = (world.now() / 20) % 100;
  world.record(`g${n % 20}`, `good ${n}`);
}
type World = ReturnType<typeof createWorld>;

const hasRoom = ({ scheduler, now }: World, shipperId: string) =>
  scheduler.hasRoomForOrder(shipperId, { ofShipper: 0, all: 0 }, now());

test('a thousand quick receivers that begin to hang do not delay the others', () => {
  const hangFromMs = runs(12_000, 6_000);
  const world = createWorld((webhookId, nowMs) =>
    webhookId.startsWith('hang') && nowMs >= hangFromMs ? 15_000 : 20,
  );
  for (; world.now() < hangFromMs + watchedMs; world.step(10)) {
    const n = (world.now() / 10) % 1_000;
    world.record(`h${n % 50}`, `hang ${n}`);
    recordHealthy(world);
  }
  expect(world.p99(hangFromMs)).toBeLessThan(1_000);
});

test('receivers that take 14 s, beside others that begin to, do not delay the healthy ones', () => {
  const fromMs = runs(30_000, 12_000);
  const hangsFromMs = (shipper: string) => fromMs + 'cdef'.indexOf(shipper) * 1_500;
  const world = createWorld((webhookId, nowMs) => {
    const shipper = webhookId[0]!;
    if ('ab'.includes(shipper)) return 14_000;
    return 'cdef'.includes(shipper) && nowMs >= hangsFromMs(shipper) ? 14_000 : 20;
  });
  for (; world.now() < fromMs + watchedMs; world.step(10)) {
    const nowMs = world.now();
    const n = (nowMs / 10) % 80;
    const slow = n % 2 ? 'a' : 'b';
    world.record(slow, `${slow} ${n}`);
    recordHealthy(world);
    if (nowMs % 50 !== 0) continue;
    for (const shipper of 'cdef') {
      const burst = nowMs >= hangsFromMs(shipper) && nowMs < hangsFromMs(shipper) + 1_000 ? 10 : 1;
      for (let webhook = 0; webhook < 4; webhook += 1)
        for (let event = 0; event < burst; event += 1) world.record(shipper, `${shipper} ${webhook}`);
    }
  }
  expect(world.p99(fromMs)).toBeLessThan(2_000);
});

test('eight hundred unknown receivers that hang delay neither known quick ones nor orders', () => {
  const fromMs = 3_000;
  const world = createWorld((webhookId) => (webhookId.startsWith('hang') ? 15_000 : 20));
  let ordersWaitedMs = 0;
  for (; world.now() < fromMs + watchedMs; world.step(10)) {
    const nowMs = world.now();
    for (let n = 0; n < 800; n += 1) {
      if (nowMs === fromMs) world.owe(`h${n % 8}`, `hang ${n}`, 20);
      else if (nowMs > fromMs && nowMs % 1_000 === 0 && n % 10 === 0) world.record(`h${n % 8}`, `hang ${n}`);
    }
    recordHealthy(world);
    if (!hasRoom(world, 'h0')) ordersWaitedMs += 10;
  }
  expect(world.p99(fromMs)).toBeLessThan(1_000);
  expect(ordersWaitedMs).toBe(0);
});

test('quick receivers that take almost as long as slow ones do not delay those of another shipper', () => {
  const fromMs = 5_000;
  const world = createWorld((webhookId) => (webhookId.startsWith('hang') ? 950 : 20));
  for (; world.now() < fromMs + watchedMs; world.step(10)) {
    const nowMs = world.now();
    for (let n = 0; n < 6; n += 1) world.record(`h${n % 2}`, `hang ${((nowMs / 10) * 6 + n) % 20}`);
    if (nowMs >= fromMs) recordHealthy(world);
  }
  expect(world.p99(fromMs)).toBeLessThan(100);
});

test("a shipper's deliveries that wait keep only its own orders waiting", () => {
  const world = createWorld(() => 250);
  for (; world.now() < 2_000; world.step(10)) for (let n = 0; n < 5; n += 1) world.record('busy', 'good');
  expect(hasRoom(world, 'busy')).toBe(false);
  expect(hasRoom(world, 'other')).toBe(true);
});
