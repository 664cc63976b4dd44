import { expect, test } from '@jest/globals';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import { createScheduler, type Page } from '../../../../src/engine/schedule/scheduler.js';
import type { DueClaim } from '../../../../src/engine/outbox/types.js';

const stepMs = 5;

/** A webhook is resumed with 5,050 deliveries due. An attempt lasts 50 ms, and is settled after `settleMs`. */
function catchUp(settleMs: number): { waitedMs: number; sendableMs: number }[] {
  const scheduler = createScheduler({ concurrency: 100, slowMs: 1_000 });
  const waits: { waitedMs: number; sendableMs: number }[] = [];
  let owed = 5_050;
  const pages: { page: Page; comesAtMs: number }[] = [];
  let running: { entry: InFlight; startedAtMs: number }[] = [];
  scheduler.notify([{ webhookId: 'w', dueFromMs: 0 }], 'older', 0);
  for (let nowMs = 0; nowMs < 200_000 && waits.length < 5_050; nowMs += stepMs) {
    if (pages[0]?.comesAtMs === nowMs) {
      const { page } = pages.shift()!;
      const count = Math.min(owed, page.wanted[0]!.room);
      owed -= count;
      const claim = { shipperId: 's', webhookId: 'w', dueAt: new Date(0), sendableForMs: nowMs - 10 };
      const claims = Array.from({ length: count }, () => ({ ...claim }) as DueClaim);
      scheduler.claimed(claims, nowMs - 10, page);
    }
    for (const { entry, startedAtMs } of running) {
      const lastedMs = nowMs - startedAtMs;
      if (lastedMs === 5) scheduler.sending(entry, nowMs);
      if (lastedMs === 55)
        waits.push({ waitedMs: startedAtMs + 5, sendableMs: scheduler.answered(entry, nowMs) });
      if (lastedMs === 55 + settleMs) scheduler.ended(entry, 50, nowMs);
    }
    running = running.filter(({ startedAtMs }) => nowMs - startedAtMs < 55 + settleMs);
    for (const entry of scheduler.starts(nowMs)) running.push({ entry, startedAtMs: nowMs });
    const page = pages.length > 0 ? null : scheduler.nextPage(nowMs);
    if (page) pages.push({ page, comesAtMs: nowMs + 10 });
  }
  return waits;
}
const over5s = (settleMs: number) => {
  const waits = catchUp(settleMs);
  expect(waits).toHaveLength(5_050);
  expect(Math.max(...waits.map(({ waitedMs }) => waitedMs))).toBeGreaterThan(8_000);
  return waits.filter(({ sendableMs }) => sendableMs > 5_000).length / waits.length;
};

test('the backlog of a resumed webhook waits for its own receiver, which has as many attempts as it may', () => {
  expect(over5s(60)).toBe(0);
});

test('it waits for us where settling takes long', () => {
  expect(over5s(1_000)).toBeGreaterThan(0.5);
});
