import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toldOf } from '../../src/deliveries/dispatch/lanes/backlog.js';
import { createBudget } from '../../src/deliveries/dispatch/lanes/budget.js';
import { createLanes } from '../../src/deliveries/dispatch/lanes/lanes.js';
import { createSlots } from '../../src/deliveries/dispatch/lanes/slots.js';
import { createReservations } from '../../src/deliveries/dispatch/lanes/reservations.js';
import type { Room } from '../../src/deliveries/outbox/hand-over.js';

function createRoom({
  spare = 1_000,
  forNewcomers = 0,
  known = {},
}: { spare?: number; forNewcomers?: number; known?: Record<string, string[]> } = {}) {
  const lanes = createLanes(100, 1_000);
  for (const [shipperId, webhookIds] of Object.entries(known))
    for (const webhookId of webhookIds) lanes.note(lanes.of(webhookId), shipperId);
  const budget = createBudget({
    concurrency: forNewcomers,
    lanes,
    slots: createSlots(forNewcomers),
    waiting: () => 5 * forNewcomers - spare, // it holds as many at least, and four times as many that wait
    promised: () => reservations.total(),
  });
  const reservations = createReservations({ lanes, budget });
  return { lanes, reservations };
}

describe('reservations', () => {
  test('whatever is asked for: no more promised than there is room, in all and of each lane; all of it comes back', () => {
    const shippers = ['x', 'y', 'z'];
    fc.assert(
      fc.property(
        fc.nat(200),
        fc.array(fc.array(fc.constantFrom(...shippers), { minLength: 1, maxLength: 30 }), { maxLength: 30 }),
        fc.infiniteStream(fc.boolean()),
        (spare, requests, releases) => {
          const { lanes, reservations } = createRoom({ spare, known: { x: ['x1', 'x2', 'x3'], y: ['y1'] } });
          const open: Room[] = [];
          for (const shipperIds of requests) {
            const room = reservations.reserve(shipperIds);
            for (const [webhookId, most] of Object.entries(room.byWebhook))
              expect(most).toBeLessThanOrEqual(shipperIds.filter((id) => id === webhookId[0]).length);
            open.push(room);
            expect(reservations.total()).toBe(open.reduce((sum, { total }) => sum + total, 0));
            expect(reservations.total()).toBeLessThanOrEqual(spare);
            for (const lane of lanes.all()) expect(lane.reserved).toBeLessThanOrEqual(lane.limit * 4);
            if (releases.next().value) reservations.release(open.shift()!);
          }
          for (const room of open) reservations.release(room);
          expect([reservations.total(), ...[...lanes.all()].map(({ reserved }) => reserved)]).toEqual([
            0, 0, 0, 0, 0,
          ]);
        },
      ),
    );
  });

  test('of a lane that has more waiting in PostgreSQL nothing is promised: that was there before', () => {
    const { lanes, reservations } = createRoom({ known: { x: ['a', 'b'] } });
    toldOf(lanes.of('a').backlog, Infinity);
    const room = reservations.reserve(['x', 'x', 'x']);
    expect(room.byWebhook).toEqual({ a: 0, b: 3 });
  });

  test('a shipper nothing is known of may start some, a full process none', () => {
    expect(createRoom().reservations.reserve(['x', 'x'])).toEqual({
      byWebhook: {},
      ofOthers: 20,
      total: 10,
    });
    expect(createRoom({ spare: -3 }).reservations.reserve(['x']).total).toBe(0);
  });

  test('a process full of the claims of one shipper has room for another of whom it holds nothing', () => {
    const { lanes, reservations } = createRoom({ spare: 0, forNewcomers: 8, known: { x: ['a'], y: ['b'] } });
    lanes.of('a').active = 1;
    expect(reservations.reserve(['x']).total).toBe(0);
    expect(reservations.reserve(['y']).total).toBe(5);
    lanes.of('b').active = 1;
    expect(reservations.reserve(['y']).total).toBe(0);
  });

  test('room is given back once, however often it is said', () => {
    const { lanes, reservations } = createRoom({ known: { x: ['a'] } });
    const [first] = [reservations.reserve(['x']), reservations.reserve(['x'])];
    reservations.release(first);
    reservations.release(first);
    expect([lanes.of('a').reserved, reservations.total()]).toEqual([1, 5]);
    reservations.release(reservations.none);
    expect(reservations.total()).toBe(5);
  });
});
