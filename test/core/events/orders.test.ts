import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type RecordDependencies, recordEvents } from '../../../src/engine/record/record.js';
import type { ShipmentHead } from '../../../src/engine/record/store.js';
import { pino } from 'pino';
import { StoredBytes } from '../../../src/platform/limits/stored-bytes.js';
import { patienceMs } from '../../../src/platform/batch.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { ApiError, unavailable } from '../../../src/platform/errors.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { createAcceptOrder, createAdmission } from '../../../src/shipments/accept.js';
import { createInsertAndCreate, createShipments } from '../../../src/shipments/create.js';
import { defaultDropoffLocations } from '../../../src/shipments/dropoff.js';
import { orderSchema } from '../../../src/shipments/order.js';
import { createCatalogue } from '../../../src/shipments/states.js';
import { findTracking } from '../../../src/shipments/store.js';
import { sampleOrder } from '../../support/client.js';
import { collector, longHoldMs, recording } from '../../support/core/acts.js';
import { addPlantedOrder } from '../../support/core/erasures.js';
import { until } from '../../support/until.js';
import {
  type World,
  addShipments,
  addWebhook,
  createWorld,
  openPool,
  outboxOf,
} from '../../support/core/world.js';

const uncounted = (db: Database) =>
  new StoredBytes({ db, logger: pino({ level: 'silent' }), metrics: createMetrics(), limit: 0 });

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

describe('creation', () => {
  const metrics = createMetrics();
  const catalogue = createCatalogue();

  const deps = (): RecordDependencies => ({
    ...recording(world.db, collector(), longHoldMs),
    allows: catalogue.allows,
    next: catalogue.next,
    metrics,
  });
  /** 30 s ago, and not created since. */
  async function accepted(count = 1): Promise<string[]> {
    const shipmentIds = await addShipments(world, count);
    await world.sql(`insert into orders_to_create select unnest($1::uuid[])`, [shipmentIds]);
    await world.sql(`update shipments set accepted_at = now() - interval '30 seconds'`);
    return shipmentIds;
  }
  const statesOf = async (shipmentId: string) =>
    (
      await world.sql<{ state: string }>(
        'select state from events where shipment_id = $1 order by sequence',
        [shipmentId],
      )
    ).map(({ state }) => state);
  const uncreated = async () => (await world.sql('select from orders_to_create')).length;
  const created = async () => {
    const text = await metrics.text();
    const [count, within20s] = ['count ', 'bucket{le="20"} '].map((name) =>
      Number(text.split(`\nparcelhook_order_to_created_seconds_${name}`)[1]!.split('\n')[0]),
    );
    return { count, within20s };
  };

  test('an event for an accepted order that is not created yet creates its shipment first', async () => {
    const webhookId = await addWebhook(world);
    const [shipmentId] = await accepted();
    const before = await created();
    const [result] = await recordEvents(deps(), [
      { shipmentId: shipmentId!, state: 'PICKED_UP', externalId: 'picked-up' },
    ]);
    expect(result).toEqual({ eventId: 'picked-up' });
    expect(await statesOf(shipmentId!)).toEqual(['CREATED', 'PICKED_UP']);
    expect(await uncreated()).toBe(0);
    expect(
      (await outboxOf(world, webhookId)).map(({ sequence, waits_turn }) => [sequence, waits_turn]),
    ).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(await created()).toEqual({ count: before.count! + 1, within20s: before.within20s });
    expect(await createShipments({ ...deps(), initialState: 'CREATED' }, [shipmentId!])).toBe(0);
    expect(await statesOf(shipmentId!)).toEqual(['CREATED', 'PICKED_UP']);
  });

  test('several of its events in one request are recorded in order', async () => {
    const [shipmentId] = await accepted();
    const states = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY'];
    await recordEvents(
      deps(),
      states.map((state) => ({ shipmentId: shipmentId!, state })),
    );
    expect(await statesOf(shipmentId!)).toEqual(['CREATED', ...states]);
  });

  test('an event that may not follow the creation is refused with what may, and creates nothing', async () => {
    const [shipmentId] = await accepted();
    const [result] = await recordEvents(deps(), [{ shipmentId: shipmentId!, state: 'DELIVERED' }]);
    expect(result).toBeInstanceOf(ApiError);
    expect((result as ApiError).message).toBe(
      'A shipment that is not created yet cannot change to DELIVERED; allowed: PICKED_UP, CANCELLED, LOST.',
    );
    expect([await statesOf(shipmentId!), await uncreated()]).toEqual([[], 1]);
  });

  test('an event and the creation at the same time record each state once', async () => {
    const shipmentIds = await accepted(40);
    const pickUp = (from: number) =>
      recordEvents(
        deps(),
        shipmentIds.slice(from, from + 10).map((shipmentId) => ({ shipmentId, state: 'PICKED_UP' })),
      );
    await Promise.all([
      createShipments({ ...deps(), initialState: 'CREATED' }, shipmentIds),
      ...[0, 10, 20, 30].map(pickUp),
    ]);
    for (const shipmentId of shipmentIds)
      expect(await statesOf(shipmentId)).toEqual(['CREATED', 'PICKED_UP']);
  });
});

describe('much evidence', () => {
  const states = 20;
  const evidenceBytes = 200_000;
  const mebibyte = 1024 ** 2;

  let trackingId: string;

  beforeAll(async () => {
    const shipmentId = await addPlantedOrder(world);
    trackingId = `PH${shipmentId.replaceAll('-', '').toUpperCase()}`;
    const results = await recordEvents(
      recording(world.db, collector(), longHoldMs),
      Array.from({ length: states }, (_, n) => ({
        shipmentId,
        state: `STATE_${n + 1}`,
        evidences: ['e'.repeat(evidenceBytes)],
      })),
    );
    for (const result of results) if (result instanceof Error) throw result;
  });

  const history = async () => (await findTracking(world.db, world.shipperId, trackingId))!.notifications;

  /** Reads the latest 1 MiB of notifications as one text. */
  const readAsOneText = async () => {
    const [row] = await world.sql<{ text: string }>(
      `select '[' || string_agg(body, ',' order by sequence) || ']' as text from events where sequence > $1`,
      [states - Math.ceil(mebibyte / evidenceBytes)],
    );
    return JSON.parse(row!.text) as unknown[];
  };

  async function cpuOf(work: () => Promise<unknown>): Promise<number> {
    const { user, system } = process.cpuUsage();
    for (let n = 0; n < 10; n += 1) await work();
    const used = process.cpuUsage();
    return used.user + used.system - user - system;
  }

  test('a history of much evidence has its latest states, as many as fit in 1 MiB, oldest first', async () => {
    const found = await history();
    const numbers = found.map(({ state }) => Number(String(state).slice(6)));
    const first = states - Math.ceil(mebibyte / evidenceBytes) + 1;
    expect(numbers).toEqual(Array.from({ length: states - first + 1 }, (_, n) => first + n));
    expect(found.at(-1)!.evidences).toEqual(['e'.repeat(evidenceBytes)]);
  });

  test('reading it costs a few times as much CPU as the same bytes as one text, not a hundred times', async () => {
    await history(); // connected and prepared
    const least = Math.min(...[await cpuOf(readAsOneText), await cpuOf(readAsOneText)]);
    expect(await cpuOf(history)).toBeLessThan(5 * least);
  });
});

describe('acceptance', () => {
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
      const stop = name === 'insert-orders' ? stops[(values![5] as string[])[0]!] : undefined;
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
      insertAndCreate: null,
      admission: createAdmission({ atOnce: options.atOnce ?? 10, hasRoom: () => pressure < 1 }),
      stored: uncounted(world.db),
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

  describe('of a few orders that go with their creation in one message,', () => {
    const deps = (db = world.db) => ({
      ...recording(db, collector(), longHoldMs),
      db,
      initialState: 'CREATED',
    });
    const left: ShipmentHead[] = [];
    const accept = (called: string, key?: string, db = world.db) =>
      createAcceptOrder({
        db,
        dropoffLocations: defaultDropoffLocations,
        insertAndCreate: createInsertAndCreate(deps(db)),
        onAccepted: (head) => Promise.resolve(void left.push(head)),
        admission: createAdmission({ atOnce: 10, hasRoom: () => true }),
        stored: uncounted(world.db),
        metrics: createMetrics(),
      })(world.shipperId, ordered(called), key, noTrace);
    const ordered = (shipperTrackingId: string) => orderSchema.parse({ ...sampleOrder(), shipperTrackingId });
    const createdOf = (called: string) =>
      world.sql(
        `select state from shipments join shipment_progress using (shipment_id) where shipper_tracking_id = $1`,
        [called],
      );
    const waiting = `select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into shipment_progress%'`;

    async function whileNoneCanBeCreated(work: () => Promise<void>): Promise<void> {
      const holder = new pg.Client({ connectionString: world.databaseUrl });
      await holder.connect();
      await holder.query('begin; lock table shipment_progress');
      try {
        await work();
      } finally {
        await holder.end();
      }
    }

    test('the response does not wait for the creation', async () => {
      await whileNoneCanBeCreated(async () => {
        expect(await accept('SLOWLY')).toMatchObject({ httpStatus: 201 });
        await until('its creation waits', async () => (await world.sql(waiting)).length === 1);
      });
      await until('it is created', async () => (await createdOf('SLOWLY')).length === 1);
      expect(left).toEqual([]);
      expect(
        await world.sql(
          `select from orders_to_create join shipments using (shipment_id) where shipper_tracking_id = 'SLOWLY'`,
        ),
      ).toEqual([]);
    });

    test('one that another request has made with the same key is left out', async () => {
      const responses = await Promise.all([accept('TWICE', 'one-key'), accept('TWICE', 'one-key')]);
      expect(new Set(responses.map(({ processId }) => processId)).size).toBe(1);
      await until('it is created', async () => (await createdOf('TWICE')).length === 1);
      expect(
        await world.sql(`select from shipment_progress p
        where not exists (select from shipments where shipment_id = p.shipment_id)`),
      ).toEqual([]);
    });

    test.each([
      ['not inserted', 'select 1 / 0', 'division by zero'],
      ['lost before they are on disk', 'select', 'The database stopped before the order was stored.'],
    ])('none is created or accepted if they are %s', async (_, text, message) => {
      const head: ShipmentHead = {
        shipmentId: randomUUID(),
        shipperId: world.shipperId,
        trackingId: 'PH1',
        shipperTrackingId: '1',
        acceptedAt: new Date(),
        state: null,
        sequence: 0,
        erased: false,
        trace: null,
      };
      const failing = createInsertAndCreate(deps())([head], async (one) =>
        one.query('', text).then(() => new Set([head.shipmentId])),
      );
      await expect(failing).rejects.toThrow(message);
      expect(await world.sql('select from events where shipment_id = $1', [head.shipmentId])).toEqual([]);
    });

    test('one is in doubt if nothing says that it is on disk', async () => {
      const db = openPool(world.databaseUrl, 1); // its creation has the only connection
      try {
        await whileNoneCanBeCreated(() =>
          expect(accept('IN DOUBT', undefined, db)).rejects.toThrow('is not known. Send it again'),
        );
        await until('it is created', async () => (await createdOf('IN DOUBT')).length === 1);
      } finally {
        await db.end();
      }
    });

    test.each([undefined, 'a-key'])(
      'one with the key %p is created later if the connection ends',
      async (key) => {
        const called = `LATER ${key}`;
        await whileNoneCanBeCreated(async () => {
          expect(await accept(called, key)).toMatchObject({ httpStatus: 201 });
          await until('its creation waits', async () => (await world.sql(waiting)).length === 1);
          await world.sql(`select pg_terminate_backend(pid) from (${waiting}) w`);
          await until('it is left to others', () => left.length === 1);
        });
        const { shipmentId } = left.pop()!;
        expect(await createdOf(called)).toEqual([]);
        const known = 'select from orders_to_create where shipment_id = $1'; // the sweep reads them
        expect(await world.sql(known, [shipmentId])).toHaveLength(1);
        expect(await createShipments(deps(), [shipmentId])).toBe(1);
        expect(await createdOf(called)).toEqual([{ state: 'CREATED' }]);
      },
    );
  });
});
