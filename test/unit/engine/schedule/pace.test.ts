import { describe, expect, test } from '@jest/globals';
import type { DueClaim } from '../../../../src/engine/outbox/types.js';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import { Paces, WebhookPace, type Starts } from '../../../../src/engine/schedule/pace.js';
import { Scheduler } from '../../../../src/engine/schedule/scheduler.js';

const slowMs = 1_000;
const tickMs = 100;
const targetOf = (url: string) => ({
  webhookId: url,
  maxPerSecond: null as number | null,
  open: () => ({ url }),
});

interface Webhook {
  shipperId: string;
  target: ReturnType<typeof targetOf>;
  owed: number;
  /** Its attempts last so long; 0: less than a tick. */
  lastsMs: number;
}

/**
 * Webhooks with a backlog in PostgreSQL. `limits`: of shippers, by an operator. `draw` returns the starts that PostgreSQL
 * draws for a webhook.
 */
function run(
  paces: Paces,
  webhooks: Record<string, Webhook>,
  forMs: number,
  limits: [shipperId: string, max: number][] = [],
  draw: (webhookId: string, count: number, withinMs: number, nowMs: number) => Starts | null = () => null,
) {
  const scheduler = new Scheduler({ concurrency: 100, slowMs });
  scheduler.limits.set(new Map(limits));
  let inFlight: { entry: InFlight; lastsMs: number; endsAtMs: number }[] = [];
  const begun: { webhookId: string; atMs: number }[] = [];
  const sendable: { webhookId: string; forMs: number }[] = [];
  let maxHeld = 0;
  const claim = (webhookId: string, nowMs: number) =>
    ({
      shipperId: webhooks[webhookId]!.shipperId,
      webhookId,
      dueAt: new Date(0),
      sendableForMs: nowMs,
    }) as DueClaim;
  const notify = (webhookId: string, nowMs: number) =>
    scheduler.notify([{ webhookId, dueFromMs: 0 }], false, nowMs);
  const giveBack = (entries: InFlight[], nowMs: number) => {
    for (const entry of entries) {
      webhooks[entry.claim.webhookId]!.owed += 1;
      scheduler.ended(entry, null, nowMs);
      notify(entry.claim.webhookId, nowMs);
    }
  };
  const endAttempts = (nowMs: number) => {
    const over = inFlight.filter(({ endsAtMs }) => endsAtMs <= nowMs);
    inFlight = inFlight.filter(({ endsAtMs }) => endsAtMs > nowMs);
    for (const { entry, lastsMs } of over) {
      sendable.push({ webhookId: entry.claim.webhookId, forMs: scheduler.answered(entry, nowMs) });
      scheduler.ended(entry, lastsMs, nowMs);
    }
  };
  const startAndPull = (nowMs: number) => {
    endAttempts(nowMs);
    for (;;) {
      const started = scheduler.starts(nowMs);
      for (const entry of started) {
        const { webhookId } = entry.claim;
        if (!scheduler.sending(entry, nowMs, paces.of(webhooks[webhookId]!.target))) giveBack([entry], nowMs);
        else {
          const { lastsMs } = webhooks[webhookId]!;
          begun.push({ webhookId, atMs: nowMs });
          inFlight.push({ entry, lastsMs, endsAtMs: nowMs + lastsMs });
        }
        endAttempts(nowMs);
      }
      const page = scheduler.nextPage(nowMs);
      if (!page && started.length === 0) return;
      if (!page) continue;
      const claims = page.wanted.flatMap(({ webhookId, room }) => {
        const count = Math.min(room, webhooks[webhookId]!.owed);
        webhooks[webhookId]!.owed -= count;
        return Array.from({ length: count }, () => claim(webhookId, nowMs));
      });
      scheduler.claimed(claims, nowMs, page);
    }
  };
  for (const webhookId of Object.keys(webhooks)) notify(webhookId, 0);
  for (let nowMs = 0; nowMs < forMs; nowMs += tickMs) {
    giveBack(scheduler.slow(nowMs), nowMs);
    for (const { pace, count } of scheduler.pacing.wanted(nowMs))
      scheduler.pacing.drawn(pace, draw(pace.webhookId, count, paces.drawnWithinMs, nowMs), nowMs);
    startAndPull(nowMs); // pulls for the starts that are drawn
    scheduler.pacing.grantStarts(nowMs);
    startAndPull(nowMs);
    if (nowMs > 0) maxHeld = Math.max(maxHeld, scheduler.claims().length);
  }
  const inAnySecond = Math.max(
    0,
    ...begun.map(
      ({ atMs }) => begun.filter((other) => other.atMs >= atMs && other.atMs < atMs + 1_000).length,
    ),
  );
  const of = (shipperId: string) =>
    begun.filter(({ webhookId }) => webhooks[webhookId]!.shipperId === shipperId);
  return { scheduler, begun, inAnySecond, maxHeld, of, sendable };
}

const webhooksOf = (
  shipperId: string,
  count: number,
  url: string,
  { owed = 1_000, lastsMs = 0 } = {},
): Record<string, Webhook> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `${shipperId}-${n}`,
      { shipperId, target: targetOf(`${url}/${n}`), owed, lastsMs },
    ]),
  );

describe('at one host', () => {
  const stranger = 'https://stranger.example';

  test.each([1, 7, 50, 400])(
    'no more attempts begin in any second than DESTINATION_RATE %i, and most of it is used',
    (rate) => {
      const { inAnySecond, begun } = run(new Paces(rate, []), webhooksOf('a', 60, stranger), 20_000);
      expect(inAnySecond).toBeLessThanOrEqual(rate);
      expect(begun.length).toBeGreaterThan(rate * 20 * (rate === 1 ? 0.4 : 0.6));
    },
  );

  test('webhooks of several shippers share its pace, and shippers take turns', () => {
    const webhooks = { ...webhooksOf('greedy', 60, stranger), ...webhooksOf('other', 1, `${stranger}:443`) };
    const { inAnySecond, of } = run(new Paces(50, []), webhooks, 20_000);
    expect(inAnySecond).toBeLessThanOrEqual(50);
    expect(of('other').length).toBeGreaterThan(of('greedy').length / 2);
  });

  test.each([
    ['an operator limits', 10, 500, [['full', 1]]],
    ['has as many attempts as one may', 60, 60_000, []],
  ] as [string, number, number, [string, number][]][])(
    'a shipper that %s holds nothing of its pace that others could use',
    (_, count, lastsMs, limits) => {
      const webhooks = {
        ...webhooksOf('full', count, stranger, { lastsMs }),
        ...webhooksOf('other', 1, stranger, { owed: 10_000 }),
      };
      const { inAnySecond, begun } = run(new Paces(50, []), webhooks, 30_000, limits);
      expect(inAnySecond).toBeLessThanOrEqual(50);
      const late = begun.filter(({ webhookId, atMs }) => webhookId === 'other-0' && atMs >= 20_000);
      expect(late.length).toBeGreaterThan(200);
    },
  );

  test('processes that send share its pace', () => {
    const paces = new Paces(50, []);
    paces.share(5);
    expect(run(paces, webhooksOf('a', 60, stranger), 5_000).inAnySecond).toBeLessThanOrEqual(10);
  });

  test('what waits takes no room from other hosts, and is not ours', () => {
    const webhooks = {
      ...webhooksOf('a', 60, stranger),
      ...webhooksOf('b', 1, 'https://other.example', { owed: 40 }),
    };
    const { scheduler, maxHeld, of } = run(new Paces(50, []), webhooks, 5_000);
    expect(of('b')).toHaveLength(40);
    expect(maxHeld).toBeLessThanOrEqual(60);
    const held = Object.values(scheduler.heldBack(5_000));
    expect(held).toHaveLength(60);
    expect(held).toEqual(held.map(() => ({ count: 0, sendableForMs: 0, freeForMs: 0 })));
    expect(scheduler.hasRoomForOrder('a', { ofShipper: 0, all: 0 }, 5_000)).toBe(true);
  });

  test('that has agreed, or is on the list of the operator, any number begins', () => {
    const webhooks = () => webhooksOf('a', 4, 'https://Hooks.example:8443', { owed: 200 });
    expect(run(new Paces(50, ['hooks.example']), webhooks(), 1_000).begun).toHaveLength(800);
    expect(run(new Paces(50, ['hooks.example:8443']), webhooks(), 1_000).begun).toHaveLength(800);
    expect(run(new Paces(50, ['hooks.example:443']), webhooks(), 1_000).begun.length).toBeLessThan(60);
    const paces = new Paces(50, []);
    const all = webhooks();
    paces.of(Object.values(all)[0]!.target)!.agreedUntilMs = Infinity;
    expect(run(paces, all, 1_000).begun).toHaveLength(800);
  });

  test('that has agreed is paced again once that has ended', () => {
    const paces = new Paces(50, []);
    const all = webhooksOf('a', 4, stranger, { owed: 2_000, lastsMs: tickMs });
    paces.of(Object.values(all)[0]!.target)!.agreedUntilMs = 2_000;
    const { begun } = run(paces, all, 6_000);
    const within = (fromMs: number) =>
      begun.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + 1_000).length;
    expect(within(1_000)).toBeGreaterThan(500);
    expect(within(3_000)).toBeLessThanOrEqual(50);
    expect(within(3_000)).toBeGreaterThan(10);
  });
});

describe('of one webhook', () => {
  const limited = (maxPerSecond: number, owed: number): Record<string, Webhook> => ({
    limited: {
      shipperId: 'a',
      target: { ...targetOf('https://own.example'), maxPerSecond },
      owed,
      lastsMs: 0,
    },
    free: { shipperId: 'a', target: targetOf('https://own.example'), owed: 400, lastsMs: 0 },
  });
  /** As `drawStarts`. */
  const drawing = (perSecond: number) => {
    const stepMs = 1_060 / perSecond;
    let nextAtMs = 0;
    return (_: string, wanted: number, withinMs: number, nowMs: number): Starts => {
      const firstMs = Math.max(nextAtMs, nowMs);
      const count = Math.min(wanted, Math.max(0, 1 + Math.floor((nowMs + withinMs - firstMs) / stepMs)));
      nextAtMs = firstMs + count * stepMs;
      return { firstMs, stepMs, count };
    };
  };

  test('attempts begin at the starts that are drawn, others of its shipper and host at once', () => {
    const { begun, maxHeld } = run(new Paces(0, []), limited(10, 1_000), 20_000, [], drawing(10));
    const of = (webhookId: string) => begun.filter((one) => one.webhookId === webhookId);
    expect(of('free').at(-1)!.atMs).toBeLessThan(200);
    expect(of('limited').length).toBeGreaterThan(180 * 0.4); // a tick is later than many a start
    expect(of('limited').length).toBeLessThanOrEqual(200);
    expect(maxHeld).toBeLessThan(110);
  });

  test('what waits for its start is no wait of ours', () => {
    const { sendable } = run(new Paces(0, []), limited(10, 1_000), 20_000, [], drawing(10));
    const waits = sendable.filter(({ webhookId }) => webhookId === 'limited').slice(1);
    expect(waits.length).toBeGreaterThan(70);
    expect(Math.max(...waits.map(({ forMs }) => forMs))).toBeLessThanOrEqual(40); // from the start to the next look
  });

  test('a limit that is lowered leaves no claims that would wait for long', () => {
    const webhooks = limited(500, 100_000);
    const fast = drawing(500);
    const slow = drawing(1);
    const { scheduler } = run(new Paces(0, []), webhooks, 10_000, [], (webhookId, count, withinMs, nowMs) => {
      if (nowMs < 5_000) return fast(webhookId, count, withinMs, nowMs);
      webhooks.limited!.target = { ...webhooks.limited!.target, maxPerSecond: 1 };
      return slow(webhookId, count, withinMs, nowMs);
    });
    expect(scheduler.claims().length).toBeLessThanOrEqual(2);
  });

  test('starts that come while there is no place are lost, and make no burst once there is one', () => {
    const scheduler = new Scheduler({ concurrency: 20, slowMs: 60_000 });
    const claims = (shipperId: string, webhookId: string, count: number) =>
      Array.from(
        { length: count },
        () => ({ shipperId, webhookId, dueAt: new Date(0), sendableForMs: 0 }) as DueClaim,
      );
    const pace = new WebhookPace(new Paces(0, []), 'limited', 10, null);
    scheduler.claimed(claims('own', 'limited', 1), 0, null);
    const [first] = scheduler.starts(0);
    expect(scheduler.sending(first!, 0, pace)).toBe(false);
    scheduler.ended(first!, null, 0);
    for (let n = 0; n < 20; n += 1) scheduler.claimed(claims(`other-${n}`, `other-${n}`, 1), 0, null);
    const others = scheduler.starts(0);
    expect(others.length).toBe(20);
    scheduler.claimed(claims('own', 'limited', 5), 0, null);
    scheduler.pacing.drawn(pace, { firstMs: 100, stepMs: 100, count: 4 }, 0);
    for (const nowMs of [100, 200, 300]) {
      scheduler.pacing.grantStarts(nowMs);
      expect(scheduler.starts(nowMs).length).toBe(0);
    }
    for (const other of others) scheduler.ended(other, 5, 400);
    scheduler.pacing.grantStarts(400);
    const own = scheduler.starts(400).filter(({ claim }) => claim.webhookId === 'limited');
    expect(own.length).toBe(1);
  });

  test.each([3, 20, 500])(
    'two processes keep %i a second together, share it while both have claims, and leave what they do not use',
    (perSecond) => {
      const draw = drawing(perSecond);
      const begun: { by: number; atMs: number }[] = [];
      const all = [0, 1].map(() => new Paces(0, []));
      const paces = all.map((one) => new WebhookPace(one, 'shared', perSecond, null));
      for (const one of all) one.share(2);
      for (let nowMs = 0; nowMs < 40_000; nowMs += 5)
        for (const [by, pace] of paces.entries()) {
          const waiting = by === 0 || (nowMs >= 5_000 && nowMs < 15_000) ? 50 : 0;
          const count = nowMs % [20, 35][by]! === 0 ? pace.wanted(waiting, 0, nowMs) : 0;
          if (count > 0) pace.add(draw('', count, all[by]!.drawnWithinMs, nowMs));
          while (waiting > 0 && pace.take(nowMs)) begun.push({ by, atMs: nowMs });
        }
      const within = (fromMs: number, toMs: number, by = [0, 1]) =>
        begun.filter((one) => by.includes(one.by) && one.atMs >= fromMs && one.atMs < toMs).length;
      for (let fromMs = 0; fromMs < 39_000; fromMs += 50)
        expect(within(fromMs, fromMs + 1_000)).toBeLessThanOrEqual(perSecond);
      expect(within(5_000, 5_000 + 300 + 2_000 / perSecond, [1])).toBeGreaterThan(0);
      expect(within(7_000, 15_000, [1])).toBeGreaterThan(perSecond * 8 * 0.2);
      expect(within(7_000, 15_000)).toBeGreaterThan(perSecond * 8 * 0.85);
      expect(within(20_000, 40_000, [0])).toBeGreaterThan(perSecond * 20 * 0.85);
    },
  );

  test('beside others, a delivery of a webhook far below its rate waits for no start of theirs', () => {
    const draw = drawing(100);
    const all = [0, 1].map(() => new Paces(0, []));
    const paces = all.map((one) => new WebhookPace(one, 'shared', 100, null));
    for (const one of all) one.share(2);
    const waitedMs: number[] = [];
    const waiting: number[][] = [[], []];
    for (let nowMs = 0; nowMs < 20_000; nowMs += 5)
      for (const [by, pace] of paces.entries()) {
        if (nowMs % (by === 0 ? 230 : 410) === 0) waiting[by]!.push(nowMs);
        const count = nowMs % 25 === 0 ? pace.wanted(waiting[by]!.length, 0, nowMs) : 0;
        if (count > 0) pace.add(draw('', count, all[by]!.drawnWithinMs, nowMs));
        while (waiting[by]!.length > 0 && pace.take(nowMs)) waitedMs.push(nowMs - waiting[by]!.shift()!);
      }
    expect(waitedMs.length).toBeGreaterThan(120);
    expect(Math.max(...waitedMs)).toBeLessThan(60);
  });

  test('a start that passes unused is lost, and a limit that is lifted holds no more', () => {
    const webhooks = limited(10, 5);
    const draws = drawing(10);
    const { begun, scheduler } = run(
      new Paces(0, []),
      webhooks,
      10_000,
      [],
      (webhookId, count, withinMs, nowMs) =>
        nowMs < 5_000 ? draws(webhookId, count, withinMs, nowMs) : null,
    );
    expect(begun.filter(({ webhookId }) => webhookId === 'limited')).toHaveLength(5);
    webhooks.limited!.owed = 50;
    scheduler.notify([{ webhookId: 'limited', dueFromMs: 0 }], false, 10_000);
    for (const { pace } of scheduler.pacing.wanted(10_000)) scheduler.pacing.drawn(pace, null, 10_000);
    scheduler.pacing.grantStarts(10_000);
    expect(scheduler.nextPage(10_000)!.wanted[0]).toMatchObject({ webhookId: 'limited' });
  });
});
