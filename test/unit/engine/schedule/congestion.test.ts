import { describe, expect, test } from '@jest/globals';
import { createWorld, random, timeoutMs, type Receiver, type Response } from './overloading.js';

const refuses = (retryAfterMs = 0): Response => ({ tookMs: 3, sign: 'OVERLOADED', retryAfterMs });
const hangs: Response = { tookMs: timeoutMs, sign: 'OVERLOADED' };

/** Responds after about `tookMs`. */
function responding(tookMs: number): () => Response {
  const next = random(7);
  return () => ({ tookMs: tookMs * (0.7 + 0.6 * next()), sign: 'SUCCEEDED' });
}

/** It is measured after a minute, for a third of one. */
function afterAMinute(receiver: Receiver) {
  const world = createWorld({ w: receiver });
  world.run(80_000);
  return world.measure('w', 60_000);
}

describe('a receiver that collapses', () => {
  test.each([
    ['refuses', 20, 20, refuses()],
    ['refuses', 20, 200, refuses()],
    ['refuses', 100, 20, refuses()],
    ['refuses, with Retry-After,', 20, 20, refuses(1_000)],
    ['hangs', 20, 200, hangs],
    ['hangs', 100, 20, hangs],
  ])('%s beyond %i a second, responding in %i ms, gets most of them', (_, perSecond, tookMs, collapse) => {
    const respond = responding(tookMs);
    const got = afterAMinute(({ inSecond }) => (inSecond <= perSecond ? respond() : collapse));
    expect(got.perSecond).toBeGreaterThan(0.8 * perSecond);
    expect(got.failed).toBeLessThan(0.05);
  });

  test.each([
    ['refuses', 1, 50, refuses()],
    ['refuses', 4, 200, refuses()],
    ['refuses', 20, 50, refuses()],
    ['hangs', 4, 200, hangs],
    ['hangs', 20, 50, hangs],
  ])('%s beyond %i in flight, responding in %i ms, gets most of them', (_, most, tookMs, collapse) => {
    const respond = responding(tookMs);
    const got = afterAMinute(({ served }) => (served <= most ? respond() : collapse));
    expect(got.perSecond).toBeGreaterThan((0.8 * most * 1_000) / (tookMs + 8));
    expect(got.failed).toBeLessThan(0.05);
  });

  test('beyond ten a minute is soon called as rarely', () => {
    let counted = { minute: 0, count: 0 };
    const world = createWorld({
      w: ({ nowMs }) => {
        const minute = Math.floor(nowMs / 60_000);
        counted = minute === counted.minute ? { minute, count: counted.count + 1 } : { minute, count: 1 };
        return counted.count <= 10 ? { tookMs: 50, sign: 'SUCCEEDED' } : refuses();
      },
    });
    world.run(300_000);
    const lately = world.attempts.filter(({ startedMs }) => startedMs >= 120_000);
    expect(lately.length).toBeLessThan(60);
  });

  test('is called faster again once it bears more', () => {
    const respond = responding(20);
    let most = 20;
    const world = createWorld({ w: ({ inSecond }) => (inSecond <= most ? respond() : refuses()) }, 10);
    world.run(20_000);
    most = Infinity;
    world.run(50_000);
    expect(world.measure('w', 65_000).perSecond).toBeGreaterThan(120);
  });

  test('delays no other', () => {
    const respond = responding(20);
    const alone = createWorld({ well: responding(20) }, 10);
    const beside = createWorld(
      { well: responding(20), w: ({ inSecond }) => (inSecond <= 20 ? respond() : refuses()) },
      10,
    );
    for (const world of [alone, beside]) world.run(3_000);
    expect(beside.measure('well', 0).perSecond).toBeGreaterThan(0.95 * alone.measure('well', 0).perSecond);
  });
});

describe('a receiver that refuses a fixed share of attempts, however few there are,', () => {
  test.each([0.002, 0.01, 0.1, 0.25])(
    'here %d, is called nearly as fast as one that refuses none',
    (share) => {
      const chance = random(11);
      const respond = responding(20);
      const flaky = createWorld({ w: () => (chance() < share ? refuses() : respond()) });
      const sound = createWorld({ w: responding(20) });
      for (const world of [flaky, sound]) world.run(60_000);
      const attempted = (world: typeof flaky) =>
        world.attempts.filter(({ startedMs }) => startedMs >= 20_000).length;
      expect(attempted(flaky)).toBeGreaterThan(0.6 * attempted(sound));
    },
  );

  test('here half, is called at least every ten seconds', () => {
    const chance = random(11);
    const respond = responding(20);
    const world = createWorld({ w: () => (chance() < 0.5 ? refuses() : respond()) });
    world.run(60_000);
    const attempted = world.attempts.filter(({ startedMs }) => startedMs >= 40_000).length;
    expect(attempted).toBeGreaterThanOrEqual(2);
  });
});

describe('a healthy receiver', () => {
  test('does not notice: its attempts start as if nothing were learnt from them', () => {
    const startsOf = (sign: 'SUCCEEDED' | null) => {
      const respond = responding(20);
      const slow = (): Response => ({ tookMs: 3_000, sign });
      const world = createWorld({ w: () => ({ ...respond(), sign }), slow }, 10);
      world.run(9_000);
      return world.attempts.map(({ webhookId, startedMs }) => [webhookId, startedMs]);
    };
    expect(startsOf('SUCCEEDED')).toEqual(startsOf(null));
  });

  test('that refuses one attempt is soon called as before', () => {
    const respond = responding(20);
    let made = 0;
    const world = createWorld({ w: () => ((made += 1) === 500 ? refuses() : respond()) }, 10);
    world.run(3_000);
    const before = world.measure('w', 1_000).perSecond;
    world.run(16_000);
    expect(made).toBeGreaterThan(500);
    expect(world.measure('w', 3_000).perSecond).toBeGreaterThan(0.85 * before);
    expect(world.measure('w', 17_000).perSecond).toBeGreaterThan(0.98 * before);
  });
});

describe('a webhook that is called again', () => {
  test('ramps up from one attempt to as many as before, and a page of old deliveries does not slow it again', () => {
    const respond = responding(20);
    const world = createWorld({ w: respond }, 40);
    world.run(2_000);
    const before = world.measure('w', 1_000).perSecond;
    world.resume();
    world.run(16_000);
    const startedIn = (fromMs: number, toMs: number) =>
      world.attempts.filter(({ startedMs }) => startedMs >= fromMs && startedMs < toMs).length /
      ((toMs - fromMs) / 1_000);
    expect(startedIn(2_050, 2_150)).toBeLessThan(0.2 * before);
    expect(startedIn(2_900, 3_100)).toBeGreaterThan(0.25 * before);
    expect(startedIn(2_900, 3_100)).toBeLessThan(0.6 * before);
    expect(startedIn(15_000, 18_000)).toBeGreaterThan(0.95 * before);
  });

  test('whose receiver bears little is soon called no faster than that', () => {
    const respond = responding(20);
    const world = createWorld({ w: ({ inSecond }) => (inSecond <= 5 ? respond() : refuses()) });
    world.resume();
    world.run(20_000);
    expect(world.measure('w', 2_000).failed).toBeLessThan(0.15); // 0.24 while a resume raised the ceiling of the next overload
    expect(world.measure('w', 2_000).perSecond).toBeGreaterThan(4);
  });

  test('begins with one attempt where none was known', () => {
    const world = createWorld({ w: responding(50) });
    world.resume();
    world.run(30);
    expect(world.attempts).toHaveLength(1);
  });

  test('whose receiver is not up to it yet is spared: few attempts fail', () => {
    const respond = responding(20);
    const world = createWorld({ w: ({ inSecond }) => (inSecond <= 20 ? respond() : refuses()) });
    world.run(30_000);
    world.resume();
    world.run(10_000);
    const { failed, perSecond } = world.measure('w', 30_000);
    expect(failed).toBeLessThan(0.05);
    expect(perSecond).toBeGreaterThan(12);
  });
});

describe('overload', () => {
  const wait = (retryAfterMs: number) => {
    let isOver = false;
    const world = createWorld(
      {
        w: ({ nowMs }) => {
          const isNow = !isOver && nowMs >= 2_000;
          isOver ||= isNow;
          return isNow ? refuses(retryAfterMs) : { tookMs: 20, sign: 'SUCCEEDED' };
        },
      },
      10,
    );
    world.run(2_600);
    const stopped = { claims: world.scheduler.claims().length, held: world.scheduler.heldBack(2_600) };
    const slowed = world.scheduler.slowed(2_600);
    world.run(retryAfterMs);
    return { ...stopped, slowed, next: world.attempts.find(({ startedMs }) => startedMs > 2_100)?.startedMs };
  };

  test('with Retry-After stops the webhook until then: it keeps no claim, and its wait is not ours', () => {
    const { claims, held, slowed, next } = wait(20_000);
    expect(claims).toBe(0);
    expect(held).toEqual({ w: { count: 0, sendableForMs: 0, freeForMs: 0 } });
    expect(slowed).toEqual(['w']);
    expect(next).toBeGreaterThan(22_000);
    expect(next).toBeLessThan(22_300);
  });

  test('with a Retry-After of more than 30 s does not stop the webhook: that delays its delivery alone', () => {
    expect(wait(30_001).next).toBeLessThan(3_000);
  });

  test('halves it once for the attempts that were in flight together', () => {
    let fromMs = Infinity;
    const world = createWorld({
      w: ({ nowMs }) => {
        if (nowMs >= 2_000) fromMs = Math.min(fromMs, nowMs);
        return nowMs - fromMs < 5 && nowMs >= fromMs ? refuses() : { tookMs: 20, sign: 'SUCCEEDED' };
      },
    });
    world.run(2_000);
    const before = world.scheduler.inFlight.quick;
    world.run(200);
    const failed = world.attempts.filter(({ sign }) => sign === 'OVERLOADED');
    expect(before).toBe(50);
    expect(failed.length).toBeGreaterThan(10);
    const { quick } = world.scheduler.inFlight;
    expect(quick).toBeGreaterThanOrEqual(10);
    expect(quick).toBeLessThanOrEqual(30);
  });
});
