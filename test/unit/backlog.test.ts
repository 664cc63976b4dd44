import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { beginPage, endPage, nothingKnown, toldOf } from '../../src/deliveries/dispatch/lanes/backlog.js';

const room = 3;
const secondMs = 1_000; // more than the margin within which a page begins
const second = fc.nat(1_000).map((n) => n * secondMs);
const moment = fc.oneof(fc.constantFrom(-Infinity, Infinity), second);
const step = fc.oneof(
  fc.record({ told: moment }),
  fc.record({ page: fc.record({ pulled: fc.nat(room), lastDueMs: second, failed: fc.boolean() }) }),
  fc.constant('begins' as const),
);

test('whatever pages bring, and whenever it is told: what is due is remembered until a page that began where it is has come', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const backlog = nothingKnown();
      let due: number[] = []; // told of, and of no page yet
      let asked: number[] | null = null; // of the page under way
      for (const each of steps) {
        if (each === 'begins') {
          if (asked || !backlog.mayBeDue) continue;
          const since = beginPage(backlog)?.getTime() ?? -Infinity;
          expect(since).toBeLessThanOrEqual(Math.min(...due));
          [asked, due] = [due, []];
        } else if ('told' in each) {
          toldOf(backlog, each.told);
          due.push(each.told);
        } else if (asked) {
          const { failed } = each.page;
          const pulled = failed ? 0 : each.page.pulled;
          const lastDueMs = pulled > 0 ? each.page.lastDueMs : -Infinity;
          endPage(backlog, room, { pulled, lastDueMs, failed });
          if (failed) due.push(...asked);
          if (pulled === room) due.push(...asked.map((ms) => Math.max(ms, lastDueMs)));
          asked = null;
        }
        expect(backlog.mayBeDue || asked !== null).toBe(due.length > 0 || asked !== null);
      }
    }),
  );
});
