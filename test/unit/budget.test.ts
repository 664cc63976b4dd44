import { expect, test } from '@jest/globals';
import { createBudget } from '../../src/deliveries/dispatch/lanes/budget.js';
import { createLanes } from '../../src/deliveries/dispatch/lanes/lanes.js';
import { createSlots } from '../../src/deliveries/dispatch/lanes/slots.js';

const concurrency = 100;

/** A process that holds `waiting` claims of shipper x; y has none. */
function createProcess({ waiting = 0, promised = 0 } = {}) {
  const lanes = createLanes(concurrency, 1_000);
  const slots = createSlots(concurrency);
  const [x, y] = ['x', 'y'].map((shipperId) => {
    const lane = lanes.of(`webhook of ${shipperId}`);
    lanes.note(lane, shipperId);
    return lane;
  }) as [ReturnType<typeof lanes.of>, ReturnType<typeof lanes.of>];
  x.reserved = 1;
  const budget = createBudget({
    concurrency,
    lanes,
    slots,
    waiting: () => waiting,
    promised: () => promised,
  });
  return { budget, lanes, slots, x, y };
}

test('a backlog leaves a quarter of the room to what is recorded from now on', () => {
  const { budget, x } = createProcess();
  expect(budget.forNew(1_000, 0)).toBe(250); // half of what is free: something is left for the next
  expect(budget.forBacklogs()(x)).toBe(375);
});

test('what waits, is under way to quick receivers or is promised takes room, however it came', () => {
  const full = createProcess({ waiting: 200, promised: 100 });
  full.slots.queue(full.x);
  full.x.waiting.push({} as (typeof full.x.waiting)[number]);
  expect(full.slots.next()).toMatchObject({ slot: 'unproven' });
  expect(full.budget.forNew(1_000, 0)).toBe(100); // of 199
  expect(full.budget.forBacklogs()(full.x)).toBe(74);
});

test('a shipper of whom nothing is held has room in a process that another one fills', () => {
  const { budget, x, y } = createProcess({ waiting: 500 });
  expect([budget.forNew(50, 0), budget.forNew(50, 50), budget.forNew(1_000, 1_000)]).toEqual([0, 50, 100]);
  expect([budget.forBacklogs()(x), budget.forBacklogs()(y)]).toEqual([-125, 100]);
});

test('a slow receiver has as much room as there are slots for slow ones, whatever waits', () => {
  const { budget, lanes, x } = createProcess({ waiting: 500 });
  lanes.slowDown(x);
  expect(budget.forBacklogs()(x)).toBe(concurrency);
});

test('the more attempts began lately, the more claims may wait', () => {
  const { budget } = createProcess();
  for (let n = 0; n < 700; n += 1) budget.started();
  expect(budget.forNew(1_000, 0)).toBe(400); // half of 100 + 700
  for (let n = 0; n < 1_000; n += 1) budget.started();
  expect(budget.forNew(1_000, 0)).toBe(550); // ten times the concurrency, and no more
});
