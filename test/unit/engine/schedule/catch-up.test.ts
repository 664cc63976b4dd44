import { expect, test } from '@jest/globals';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import type { Page } from '../../../../src/engine/schedule/places.js';
import { Scheduler } from '../../../../src/engine/schedule/scheduler.js';
import type { DueClaim } from '../../../../src/engine/outbox/types.js';

const stepMs = 5;

/** A webhook is resumed with 5,050 deliveries due. An attempt lasts 50 ms, and is settled after `settleMs`. */
function catchUp(settleMs: number): { waitedMs: number; sendableMs: number }[] {
  const scheduler = new Scheduler({ concurrency: 100, slowMs: 1_000 });
  const waits: { waitedMs: number; sendableMs: number }[] = [];
  let owed = 5_050;
  const pages: { page: Page; comesAtMs: number }[] = [];
  let running: { entry: InFlight; startedAtMs: number }[] = [];
  scheduler.notify([{ webhookId: 'w', dueFromMs: 0 }], false, 0);
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
const sendableAfter8s = (settleMs: number) => {
  const waits = catchUp(settleMs);
  expect(waits).toHaveLength(5_050);
  const late = waits.filter(({ waitedMs }) => waitedMs > 8_000);
  expect(late.length).toBeGreaterThan(0);
  return late.map(({ sendableMs }) => sendableMs);
};

test('the backlog of a resumed webhook waits for its own receiver, which has as many attempts as it may', () => {
  expect(Math.max(...sendableAfter8s(60))).toBeLessThan(300);
});

test('it waits for us, at least since the last attempts were answered, where settling takes long', () => {
  expect(Math.min(...sendableAfter8s(1_000))).toBeGreaterThan(700);
});
