import { describe, expect, test } from '@jest/globals';
import { createLanes, type Lane } from '../../src/deliveries/dispatch/lanes/lanes.js';
import { createSlots } from '../../src/deliveries/dispatch/lanes/slots.js';
import type { Claim } from '../../src/deliveries/outbox/types.js';

const slowMs = 1_000;

function createDispatch(size: number) {
  const lanes = createLanes(size, slowMs);
  const slots = createSlots(size);
  return {
    lanes,
    slots,
    wait: (lane: Lane, count: number) => {
      for (let n = 0; n < count; n += 1) lane.waiting.push({ number: n } as Claim);
      slots.queue(lane);
    },
    /** Starts what may start, at most so many; their webhooks in turn. */
    start: (atMost = Infinity) => {
      const started: string[] = [];
      while (started.length < atMost) {
        const turn = slots.next();
        if (!turn) break;
        turn.lane.waiting.shift();
        turn.lane.active += 1;
        started.push(`${turn.lane.webhookId} ${turn.slot}`);
      }
      return started;
    },
  };
}

const prove = (lane: Lane): Lane => Object.assign(lane, { proven: true });

describe('slots', () => {
  test('lanes take turns: who has much waiting starts one, then one of each of the others', () => {
    const { lanes, wait, start } = createDispatch(100);
    wait(lanes.of('much'), 5);
    wait(lanes.of('little'), 1);
    expect(start(2)).toEqual(['much unproven', 'little unproven']);
    wait(lanes.of('late'), 2);
    expect(start()).toEqual([
      'much unproven',
      'late unproven',
      'much unproven',
      'late unproven',
      'much unproven',
      'much unproven',
    ]);
  });

  test('slow lanes have slots of their own: all of them taken, a quick one starts at once', () => {
    const { lanes, slots, wait, start } = createDispatch(10);
    for (const webhookId of ['slow-1', 'slow-2', 'slow-3']) {
      const lane = lanes.of(webhookId);
      lanes.slowDown(lane);
      wait(lane, 10);
    }
    expect(start()).toHaveLength(10);
    expect([slots.inUse(), slots.freeFor(lanes.of('slow-1')), slots.freeFor(lanes.of('quick'))]).toEqual([
      10, 0, 8,
    ]);
    wait(lanes.of('quick'), 1);
    expect(start()).toEqual(['quick unproven']);
    slots.give('slow');
    lanes.of('slow-1').active -= 1;
    expect(start()).toHaveLength(1);
    expect(slots.inUse()).toBe(11);
  });

  test('no more start than there are slots, and a lane whose room is taken holds up nobody', () => {
    const { lanes, slots, wait, start } = createDispatch(4);
    const full = prove(lanes.of('full'));
    full.active = full.limit;
    wait(full, 3);
    for (let n = 0; n < 6; n += 1) wait(prove(lanes.of(`w-${n}`)), 1);
    expect(start()).toEqual(['w-0 proven', 'w-1 proven', 'w-2 proven', 'w-3 proven']);
    slots.give('proven');
    expect(start()).toEqual(['w-4 proven']);
    full.active -= 1;
    slots.queue(full); // as the dispatcher does when an attempt has ended
    slots.give('proven');
    slots.give('proven');
    expect(start()).toEqual(['w-5 proven', 'full proven']);
  });

  test('receivers that hang from the start leave a quarter of the slots to those that are known to be quick', () => {
    const { lanes, slots, wait, start } = createDispatch(100);
    for (let n = 0; n < 30; n += 1) wait(lanes.of(`unknown-${n}`), 5);
    expect(start()).toHaveLength(75);
    const known = prove(lanes.of('known'));
    wait(known, 3);
    expect(start()).toEqual(['known proven', 'known proven', 'known proven']);
    slots.give('unproven');
    slots.give('proven');
    expect(start()).toEqual([expect.stringMatching(/^unknown-.* unproven$/)]);
    known.limit = 1_000;
    wait(known, 100);
    expect(start()).toHaveLength(23); // all that is left
  });
});
