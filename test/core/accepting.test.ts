import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../src/platform/errors.js';
import { createMetrics } from '../../src/platform/metrics.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { createAcceptOrder } from '../../src/shipments/accept.js';
import { createAdmission } from '../../src/shipments/admission.js';
import { defaultDropoffLocations } from '../../src/shipments/dropoff-defaults.js';
import { orderSchema } from '../../src/shipments/order.js';
import { sampleOrder } from '../client.js';
import { createWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

/** The statement of the order called SILENT gets no answer, that of SLOW is late. */
const lostAfterMs = 700;
const lateByMs = 400;
const troubled = (db: Database): Database => ({
  ...db,
  query: async (name, text, values) => {
    const [called] = name === 'insert-orders' ? (values![4] as string[]) : [];
    if (called === 'SLOW') await sleep(lateByMs);
    if (called === 'SILENT') {
      await sleep(lostAfterMs);
      throw unavailable();
    }
    return db.query(name, text, values);
  },
});

function orders(options: { atOnce: number; following?: () => Promise<void> }) {
  let pressure = 0;
  const accept = createAcceptOrder({
    db: troubled(world.db),
    dropoffLocations: defaultDropoffLocations,
    onAccepted: options.following ?? (() => Promise.resolve()),
    admission: createAdmission({ atOnce: options.atOnce, pressure: () => pressure, mostPressure: 1 }),
    metrics: createMetrics(),
  });
  const order = (shipperTrackingId: string) => orderSchema.parse({ ...sampleOrder(), shipperTrackingId });
  return {
    press: (deliveries: number) => (pressure = deliveries),
    /** What becomes of the order: its HTTP status. */
    place: (called: string): Promise<number | undefined> =>
      accept(world.shipperId, order(called), undefined).then(
        ({ httpStatus }) => httpStatus,
        (error: { httpStatus: number }) => error.httpStatus,
      ),
  };
}

/** Until the statement of an order is under way, so that the next order has one of its own. */
const untilUnderWay = () => sleep(10);

describe('an order whose statement gets no answer', () => {
  test('takes those with it that have waited as long, where none was stored meanwhile', async () => {
    const { place, press } = orders({ atOnce: 10 });
    const silent = place('SILENT');
    await untilUnderWay();
    press(1);
    const waiting = place('WAITS');
    expect(await Promise.all([silent, waiting])).toEqual([503, 503]);
  });

  test('is alone where another was stored meanwhile: who waits keeps his turn', async () => {
    const { place, press } = orders({ atOnce: 10 });
    const silent = place('SILENT');
    await untilUnderWay();
    const slow = place('SLOW');
    await untilUnderWay();
    press(1);
    const waiting = place('WAITS');
    expect(await Promise.all([silent, slow])).toEqual([503, 201]);
    press(0);
    expect(await waiting).toBe(201);
  });
});

test('what follows an order keeps its turn for 300 ms at most, however long it takes', async () => {
  const endless = new Promise<void>(() => undefined);
  const { place } = orders({ atOnce: 1, following: () => endless });
  expect(await place('FIRST')).toBe(201);
  const acceptedAt = performance.now();
  expect(await place('SECOND')).toBe(201);
  expect(performance.now() - acceptedAt).toBeGreaterThan(290);
});
