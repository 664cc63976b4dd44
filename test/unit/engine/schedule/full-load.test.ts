import { expect, test } from '@jest/globals';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import type { Page } from '../../../../src/engine/schedule/places.js';
import { Scheduler } from '../../../../src/engine/schedule/scheduler.js';
import type { Due, DueClaim } from '../../../../src/engine/outbox/types.js';
import { runs } from '../../../support/runs.js';

const webhooks = ['w0', 'w1', 'w2', 'w3', 'w4'];
const recordEveryMs = 8;
const pageMs = 5;
const lastsMs = runs(10_000, 2_000);
const retryAfterMs = lastsMs / 5;

interface Load {
  concurrency: number;
  eventsPerS: number;
  /** The process can do no more. */
  attemptsPerS: number;
  /** One first attempt in so many fails. */
  failsEach: number;
  /** Events are recorded only below this. */
  maxUnsent: number;
  /** Orders wait until there is room for what they will owe. */
  isAdmitting: boolean;
}

/** More events than the process can send. `waitMs`: how long a delivery was left in PostgreSQL. */
function fullLoad({ concurrency, eventsPerS, attemptsPerS, failsEach, maxUnsent, isAdmitting }: Load) {
  const scheduler = new Scheduler({ concurrency, slowMs: 1_000 });
  const owed = new Map(webhooks.map((webhookId) => [webhookId, [] as DueClaim[]]));
  const pages: { page: Page; comesAtMs: number }[] = [];
  const retries: DueClaim[] = [];
  let running: { entry: InFlight; endsAtMs: number }[] = [];
  let [nowMs, made, sent, recorded, pulled, firstAttempts, waitMs] = [0, 0, 0, 0, 0, 0, 0];
  let [events, attempts] = [0, 0];

  const claimOf = (webhookId: string, number: number) =>
    ({
      shipperId: 's',
      webhookId,
      deliveryId: `d${(made += 1)}`,
      dueAt: new Date(nowMs),
      number,
    }) as DueClaim;
  const dueOf = ({ webhookId, dueAt }: DueClaim): Due => ({ webhookId, dueFromMs: dueAt.getTime() });

  const hasRoom = (orders: number) =>
    scheduler.hasRoomForOrder('s', { ofShipper: orders, all: orders }, nowMs);
  const record = (count: number) => {
    const room = scheduler.reserve(Array<string>(count).fill('s'), nowMs);
    const claims: DueClaim[] = [];
    const left: Due[] = [];
    for (const webhookId of webhooks)
      for (let n = 0; n < count; n += 1) {
        const claim = claimOf(webhookId, 1);
        if (n < (room.byWebhook[webhookId] ?? room.ofOthers) && claims.length < room.total)
          claims.push(claim);
        else {
          owed.get(webhookId)!.push(claim);
          left.push(dueOf(claim));
        }
      }
    recorded += claims.length;
    scheduler.claimed(claims, nowMs, room);
    scheduler.notify(left, true, nowMs);
  };
  const end = (entry: InFlight) => {
    sent += 1;
    scheduler.answered(entry, nowMs);
    scheduler.ended(entry, 10, nowMs);
    if (entry.claim.number > 1) return;
    firstAttempts += 1;
    if (firstAttempts % failsEach !== 0) return;
    const retry = claimOf(entry.claim.webhookId, 2);
    retry.dueAt.setTime(nowMs + retryAfterMs);
    retries.push(retry);
  };
  const come = (page: Page) => {
    const claims = page.wanted.flatMap(({ webhookId, room, sinceMs }) => {
      const rows = owed.get(webhookId)!.sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
      const from = rows.findIndex(({ dueAt }) => dueAt.getTime() >= sinceMs);
      return from < 0 ? [] : rows.splice(from, room);
    });
    pulled += claims.length;
    for (const { dueAt } of claims) waitMs = Math.max(waitMs, nowMs - dueAt.getTime());
    scheduler.claimed(claims, nowMs, page);
  };

  for (; nowMs < lastsMs; nowMs += 1) {
    if (nowMs % recordEveryMs === 0) {
      events = Math.min(events + (eventsPerS * recordEveryMs) / 1_000, 60);
      let orders = 0;
      while (orders + 1 <= events && (!isAdmitting || hasRoom(orders))) orders += 1;
      if (made - sent < maxUnsent && orders > 0) {
        record(orders);
        events -= orders;
      }
    }
    for (; retries[0] && retries[0].dueAt.getTime() <= nowMs; retries.shift()) {
      owed.get(retries[0].webhookId)!.push(retries[0]);
      scheduler.notify([dueOf(retries[0])], true, nowMs);
    }
    attempts = Math.min(attempts + attemptsPerS / 1_000, attemptsPerS / 100);
    running = running.filter(({ entry, endsAtMs }) => {
      if (endsAtMs > nowMs || attempts < 1) return true;
      attempts -= 1;
      end(entry);
      return false;
    });
    while (pages[0] && pages[0].comesAtMs <= nowMs) come(pages.shift()!.page);
    for (const entry of scheduler.starts(nowMs)) {
      scheduler.sending(entry, nowMs);
      running.push({ entry, endsAtMs: nowMs + 8 + (made % 15) });
    }
    while (pages.length < 2) {
      const page = scheduler.nextPage(nowMs);
      if (!page) break;
      pages.push({ page, comesAtMs: nowMs + pageMs });
    }
  }
  const stillOwed = [...owed.values()].flat().map(({ dueAt }) => nowMs - dueAt.getTime());
  return { sent, pulledShare: pulled / (pulled + recorded), waitMs: Math.max(waitMs, ...stillOwed) };
}

const load = {
  concurrency: 100,
  eventsPerS: 1_330,
  attemptsPerS: 6_000,
  maxUnsent: 3_000,
  isAdmitting: true,
};

test.each([
  { concurrency: 150, maxUnsent: 1_000, eventsPerS: 1_330 },
  { concurrency: 200, maxUnsent: 1_500, eventsPerS: 1_600 },
])(
  'newer deliveries do not pass over for long what a recording left in PostgreSQL: $concurrency places',
  (given) => {
    const { waitMs, sent } = fullLoad({ ...load, ...given, isAdmitting: false, failsEach: Infinity });
    expect(sent).toBeGreaterThan(5.5 * (lastsMs - 100));
    expect(waitMs).toBeLessThan(600);
  },
);

test('in steady full load two deliveries in a hundred are pulled at most, where one first attempt in a hundred fails', () => {
  const { pulledShare, waitMs, sent } = fullLoad({ ...load, failsEach: 100 });
  expect(sent).toBeGreaterThan(5.5 * (lastsMs - 100));
  expect(pulledShare).toBeLessThanOrEqual(0.02);
  expect(waitMs).toBeLessThan(400);
});
