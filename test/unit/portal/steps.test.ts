import { expect, test } from '@jest/globals';
import type { Delivery, Tracking } from '../../../src/client/api/types.js';
import { stepsOf } from '../../../src/portal/places/shipments/steps.js';

const entry = (state: string, timestamp: number) =>
  ({ state, timestamp, lat: null, lng: null, anomalies: null, evidences: [] }) as Tracking['history'][number];
const event = (sequence: number) => ({
  eventId: `event-${sequence}`,
  sequence,
  recordedAt: '2026-11-20T12:00:00+00:00',
});
const delivery = (deliveryId: string, eventId: string) => ({ deliveryId, eventId }) as Delivery;

test('each state of a shipment has the deliveries of its own event, also where a state comes twice', () => {
  const history = [entry('CREATED', 1), entry('IN_TRANSIT', 2), entry('IN_TRANSIT', 3)];
  const deliveries = [delivery('c', 'event-3'), delivery('b', 'event-1'), delivery('a', 'event-1')];
  const steps = stepsOf(history, [event(1), event(2), event(3)], deliveries);
  expect(steps.map(({ deliveries }) => deliveries.map(({ deliveryId }) => deliveryId))).toEqual([
    ['a', 'b'],
    [],
    ['c'],
  ]);
});

test('a state that is older than the log has no event', () => {
  const steps = stepsOf([entry('CREATED', 1), entry('PICKED_UP', 2)], [event(2)], []);
  expect(steps.map(({ recordedAt }) => recordedAt !== null)).toEqual([false, true]);
});
