import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../../../src/platform/batch.js';
import { unavailable } from '../../../src/platform/errors.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { createAcceptOrder } from '../../../src/shipments/accept.js';
import { createAdmission } from '../../../src/shipments/admission.js';
import { defaultDropoffLocations } from '../../../src/shipments/dropoff.js';
import { orderSchema } from '../../../src/shipments/order.js';
import { sampleOrder } from '../../support/client.js';
import { createWorld, type World } from '../../support/core/world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const noTrace = Buffer.alloc(24);

/** It continues or fails when told to. */
interface Stopped {
  begun: Promise<void>;
  begin(): void;
  ended: Promise<void>;
  goOn(): void;
  lose(): void;
}

function stopped(): Stopped {
  let [begin, goOn, lose] = [() => {}, () => {}, () => {}];
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const ended = new Promise<void>((resolve, reject) => {
    goOn = resolve;
    lose = () => reject(unavailable());
  });
  return { begun, begin, ended, goOn, lose };
}

const stopping = (db: Database, stops: Record<string, Stopped>): Database => ({
  ...db,
  query: async (name, text, values) => {
    const stop = name === 'insert-orders' ? stops[(values![4] as string[])[0]!] : undefined;
    stop?.begin();
    await stop?.ended;
    return db.query(name, text, values);
  },
});

function orders(options: { atOnce?: number; following?: () => Promise<void> } = {}) {
  let pressure = 0;
  const stops = { SILENT: stopped(), SLOW: stopped() };
  const accept = createAcceptOrder({
    db: stopping(world.db, stops),
    dropoffLocations: defaultDropoffLocations,
    onAccepted: options.following ?? (() => Promise.resolve()),
    admission: createAdmission({ atOnce: options.atOnce ?? 10, hasRoom: () => pressure < 1 }),
    metrics: createMetrics(),
  });
  const order = (shipperTrackingId: string) => orderSchema.parse({ ...sampleOrder(), shipperTrackingId });
  return {
    stops,
    press: (deliveries: number) => (pressure = deliveries),
    place: (called: string): Promise<number | undefined> =>
      accept(world.shipperId, order(called), undefined, noTrace).then(
        ({ httpStatus }) => httpStatus,
        (error: { httpStatus: number }) => error.httpStatus,
      ),
  };
}

const longerThanPatience = () => sleep(patienceMs + 50);

describe('an order whose statement gets no response', () => {
  test('also fails the orders that waited as long, if none was stored meanwhile', async () => {
    const { place, press, stops } = orders();
    const silent = place('SILENT');
    await stops.SILENT.begun;
    press(1);
    const waiting = place('WAITS');
    await longerThanPatience();
    stops.SILENT.lose();
    expect(await Promise.all([silent, waiting])).toEqual([503, 503]);
  });

  test('fails alone if another order was stored meanwhile: waiting orders stay in line', async () => {
    const { place, press, stops } = orders();
    const silent = place('SILENT');
    await stops.SILENT.begun;
    const slow = place('SLOW');
    await stops.SLOW.begun;
    press(1);
    const waiting = place('WAITS');
    await longerThanPatience();
    stops.SLOW.goOn();
    expect(await slow).toBe(201);
    stops.SILENT.lose();
    expect(await silent).toBe(503);
    press(0);
    expect(await waiting).toBe(201);
  });
});

test('the order behind a slow one stays in line for 300 ms', async () => {
  const endless = new Promise<void>(() => undefined);
  const { place } = orders({ atOnce: 1, following: () => endless });
  expect(await place('FIRST')).toBe(201);
  const acceptedAt = performance.now();
  expect(await place('SECOND')).toBe(201);
  const waitedMs = performance.now() - acceptedAt;
  expect(waitedMs).toBeGreaterThan(290);
  expect(waitedMs).toBeLessThan(2_000);
});
