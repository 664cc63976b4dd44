import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../../../src/platform/batch.js';
import { createAdmission } from '../../../src/shipments/accept.js';

function play(options: { atOnce?: number } = {}) {
  let pressure = 0;
  let looks = 0;
  const entered: string[] = [];
  const leaves: (() => void)[] = [];
  const admission = createAdmission({
    atOnce: options.atOnce ?? 1_000,
    hasRoom: () => ((looks += 1), pressure < 25),
  });
  return {
    entered,
    press: (deliveries: number) => (pressure = deliveries),
    ask: async (shipperId: string, weight = 1) => {
      leaves.push(await admission.enter(shipperId, weight));
      entered.push(shipperId);
    },
    leave: () => leaves.shift()?.(),
    /** Resolves when the admission has checked the backlog and admitted orders. */
    looked: async () => {
      for (const seen = looks; looks < seen + 2;) await sleep(1);
    },
    turnAway: () => admission.turnAway(),
  };
}

describe('orders are admitted', () => {
  test('at once while fewer deliveries wait than the limit', async () => {
    const { ask, entered, press } = play();
    press(24);
    await Promise.all(['a', 'b', 'c'].map((shipperId) => ask(shipperId)));
    expect(entered).toEqual(['a', 'b', 'c']);
  });

  test('once the backlog is below the limit: none while it is reached, all when it is sent, none refused', async () => {
    const { ask, entered, press, looked } = play();
    press(25);
    const asking = Promise.all(Array.from({ length: 50 }, () => ask('a')));
    await looked();
    expect(entered).toEqual([]);
    press(24);
    await asking;
    expect(entered).toHaveLength(50);
  });

  test('behind orders that already wait, even if deliveries have gone out since', async () => {
    const { ask, entered, press, looked } = play();
    press(25);
    const first = ask('a');
    await looked();
    press(0);
    await Promise.all([first, ask('b')]);
    expect(entered).toEqual(['a', 'b']);
  });

  test('up to a limit, alternating between shippers: each waits for one order of every other', async () => {
    const asking = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), asking, async (atOnce, shippers) => {
        const { ask, entered, press, leave } = play({ atOnce });
        press(25);
        const all = Promise.all(shippers.map((shipperId) => ask(shipperId)));
        press(0);
        for (let left = 0; left < shippers.length; left += 1) {
          while (entered.length === left) await sleep(1);
          expect(entered.length - left).toBeLessThanOrEqual(atOnce);
          leave();
        }
        await all;
        expect(entered).toEqual(inTurn(shippers));
      }),
      { numRuns: 25 },
    );
  });

  test('5,000 may wait; the next is refused at once, and refused ones leave room for others', async () => {
    const { ask, entered, press, turnAway } = play();
    press(25);
    const waiting = Promise.allSettled(Array.from({ length: 5_000 }, (_, n) => ask(String(n))));
    await expect(ask('one more')).rejects.toMatchObject({ httpStatus: 503, status: 'UNAVAILABLE' });
    await sleep(patienceMs + 20);
    turnAway();
    await waiting;
    const next = ask('next');
    press(0);
    await next;
    expect(entered).toEqual(['next']);
  });

  test('when the database is down: 503 for those who waited half a second; the others keep their places', async () => {
    const { ask, entered, press, turnAway } = play();
    press(25);
    const long = ['a', 'b', 'a'].map((shipperId) => ask(shipperId));
    await sleep(patienceMs + 20);
    const short = ['b', 'a', 'c'].map((shipperId) => ask(shipperId));
    turnAway();
    for (const one of long)
      await expect(one).rejects.toMatchObject({ httpStatus: 503, status: 'UNAVAILABLE' });
    expect(entered).toEqual([]);
    press(0);
    await Promise.all(short);
    expect(entered).toEqual(['a', 'b', 'c']);
  });
});

/** Shippers in order of arrival: one of each, then the second ones, and so on. */
function inTurn(shippers: string[]): string[] {
  const rounds = new Map<number, string[]>();
  const seen = new Map<string, number>();
  const order = [...new Set(shippers)];
  for (const shipper of shippers) {
    const round = seen.get(shipper) ?? 0;
    seen.set(shipper, round + 1);
    rounds.set(round, [...(rounds.get(round) ?? []), shipper]);
  }
  return [...rounds.values()].flatMap((round) => order.filter((shipper) => round.includes(shipper)));
}

test('a large order takes the room of many: one of another shipper comes before the next large one', async () => {
  const { ask, entered, leave } = play({ atOnce: 20 });
  const large = Array.from({ length: 5 }, () => ask('greedy', 16));
  const small = ask('other');
  await sleep(5);
  expect(entered).toEqual(['greedy', 'greedy']); // the second exceeds the room
  leave();
  leave();
  await small;
  expect(entered.slice(0, 4)).toEqual(['greedy', 'greedy', 'greedy', 'other']);
  leave();
  leave();
  await sleep(5);
  for (let n = 0; n < 5; n += 1) leave();
  await Promise.all(large);
});

test("the wait behind a shipper's own orders is told apart from the wait for others and for what is owed", async () => {
  const held = new Map<string, () => number>();
  let pressure = 0;
  const admission = createAdmission({ atOnce: 4, hasRoom: () => pressure < 1 });
  const enter = (shipperId: string) =>
    admission.enter(shipperId, 1, (heldMs) => held.set(shipperId, heldMs)).catch(() => () => undefined);
  const leaves = await Promise.all(['large', 'large', 'large', 'other'].map(enter));
  const since = performance.now();
  const waiting = ['large', 'other', 'new'].map(enter);
  await sleep(30);
  expect(held.get('large')!()).toBeGreaterThan(25);
  expect([held.get('other')!(), held.get('new')!()]).toEqual([0, 0]);
  pressure = 1;
  for (const leave of leaves) leave();
  const heldMs = held.get('large')!();
  expect(heldMs).toBeLessThanOrEqual(performance.now() - since);
  await sleep(30);
  expect(held.get('large')!()).toBe(heldMs);
  pressure = 0;
  for (const leave of await Promise.all(waiting)) leave();
});
