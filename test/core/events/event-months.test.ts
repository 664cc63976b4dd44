import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { recordEvents, type RecordResult } from '../../../src/engine/record/record.js';
import { deleteOldExternalIds } from '../../../src/engine/record/store.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { databaseClockAheadMs, followDatabaseClock } from '../../../src/platform/clock.js';
import { newId } from '../../../src/platform/ids.js';
import { makeFirstPartitions, makePartitionsFor } from '../../../src/history/retention/retention.js';
import { findFilteredShipments } from '../../../src/history/log/store.js';
import { findTracking } from '../../../src/shipments/store.js';
import { collector, longHoldMs, pull, record, recording } from '../../support/core/acts.js';
import { stopAt } from '../../support/core/barriers.js';
import { addPlantedOrder, erase, plantedWords, recordPlanted } from '../../support/core/erasures.js';
import { all, follow } from '../../support/core/feed.js';
import { addWebhook, createWorld, type World } from '../../support/core/world.js';
import { findInDatabase } from '../../support/database.js';

let world: World;
let shipmentId: string;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  shipmentId = await addPlantedOrder(world);
});
afterEach(() =>
  world.sql('truncate events, external_ids, shipment_progress, shipments, outbox, webhooks cascade'),
);

const dayMs = 86_400_000;

async function age(days: number): Promise<void> {
  const shift = (id: string) =>
    `overlay(${id}::text placing left(uuid_floor(to_timestamp(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0) - interval '${days} days')::text, 13) from 1 for 13)::uuid`;
  await world.sql(`select make_log_partitions(current_date - ${days + 1}, current_date - ${days})`);
  await world.sql(`update events set event_id = ${shift('event_id')}`);
  await world.sql(`update external_ids set event_id = ${shift('event_id')}`);
  await world.sql(`update outbox set event_id = ${shift('event_id')}`);
  await world.sql(
    `update shipment_progress set first_event_id = ${shift('first_event_id')}, last_event_id = ${shift('last_event_id')}`,
  );
}

const partitionsWithEvents = async () =>
  (await world.sql<{ name: string }>('select distinct tableoid::regclass::text as name from events')).length;

const trackingIdOf = (id: string) => `PH${id.replaceAll('-', '').toUpperCase()}`;
const historyOf = async (id: string) => {
  const tracked = await findTracking(world.db, world.shipperId, trackingIdOf(id));
  return tracked!.notifications.map(({ state }) => state);
};

async function named(
  db: Database,
  externalId: string,
  state: string,
  to = shipmentId,
): Promise<RecordResult> {
  const event = { shipmentId: to, state, externalId };
  return (await recordEvents(recording(db, collector(), longHoldMs), [event]))[0]!;
}

describe('over two months', () => {
  test('a shipment has one history, in order', async () => {
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    await age(40);
    await record(world.db, shipmentId, ['IN_TRANSIT']);
    expect(await partitionsWithEvents()).toBe(2);
    expect(await historyOf(shipmentId)).toEqual(['CREATED', 'PICKED_UP', 'IN_TRANSIT']);
    const found = await findFilteredShipments(world.db, world.shipperId, {
      trackingId: trackingIdOf(shipmentId),
    });
    expect(found!.before.getTime() - found!.from.getTime()).toBeGreaterThan(39 * dayMs);
  });

  test('a reader of the feed gets every event once, in order, across the month’s end', async () => {
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    await age(29);
    await record(world.db, shipmentId, ['IN_TRANSIT', 'DELIVERED']);
    const reader = follow(world, world.db, { from: new Date(Date.now() - 30 * dayMs) });
    for (let n = 0; n < 4; n += 1) expect(await reader.step(1)).toBe(1);
    expect(await reader.step(1)).toBe(0);
    expect(reader.seen.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    await record(world.db, await addPlantedOrder(world), ['CREATED']);
    expect(await reader.step(1)).toBe(1);
    expect(reader.seen).toEqual(await all(world, world.db));
  });

  test('a reader that starts at the latest event gets everything recorded later, however old that event is', async () => {
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    await age(80);
    const reader = follow(world, world.db, { after: 'latest' });
    expect(await reader.step()).toBe(0);
    await record(world.db, shipmentId, ['IN_TRANSIT']);
    expect(await reader.step()).toBe(1);
    expect(reader.seen[0]!.sequence).toBe(3);
  });

  test('an erasure finds every event', async () => {
    await recordPlanted(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    await age(40);
    await recordPlanted(world.db, shipmentId, ['IN_TRANSIT']);
    await erase(world.db, shipmentId);
    expect(await findInDatabase(world.sql, plantedWords)).toEqual([]);
    expect(await world.sql(`select 1 from events where erasure = 'DONE'`)).toHaveLength(3);
  });

  test('a delivery owed since an earlier month is claimed with its event', async () => {
    const webhookId = await addWebhook(world, { ordering: 'NONE' });
    await named(world.db, 'earlier', 'CREATED');
    await age(40);
    await named(world.db, 'later', 'PICKED_UP');
    const claims = await pull(world.db, webhookId);
    expect(
      claims.map(({ eventId, body }) => [eventId, (JSON.parse(body) as { state: string }).state]),
    ).toEqual([
      ['earlier', 'CREATED'],
      ['later', 'PICKED_UP'],
    ]);
  });
});

describe('a caller’s event id', () => {
  test('is recognized in a later month: the same event gets the same response, a different one is refused', async () => {
    expect(await named(world.db, 'given', 'CREATED')).toEqual({ eventId: 'given' });
    await age(29);
    expect(await named(world.db, 'given', 'CREATED')).toEqual({ eventId: 'given' });
    expect(await named(world.db, 'given', 'PICKED_UP')).toMatchObject({ httpStatus: 409 });
    expect(await historyOf(shipmentId)).toEqual(['CREATED']);
  });

  test('is recorded once if two requests use it concurrently, for one shipment or two', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    const other = await addPlantedOrder(world);
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const first = named(stop.db, 'raced', 'PICKED_UP');
    await stop.reached;
    const [same, different] = [
      named(world.db, 'raced', 'PICKED_UP'),
      named(world.db, 'raced', 'CREATED', other),
    ];
    stop.go();
    expect([await first, await same]).toEqual([{ eventId: 'raced' }, { eventId: 'raced' }]);
    expect(await different).toMatchObject({ httpStatus: 409 });
    expect(await historyOf(shipmentId)).toEqual(['CREATED', 'PICKED_UP']);
    expect(await historyOf(other)).toEqual([]);
  });

  test('is forgotten with the log, but its event stays', async () => {
    await named(world.db, 'old', 'CREATED');
    await age(31);
    await named(world.db, 'young', 'PICKED_UP');
    await deleteOldExternalIds(world.db, 30 * dayMs);
    expect(await world.sql('select external_id from external_ids')).toEqual([{ external_id: 'young' }]);
    expect(await historyOf(shipmentId)).toEqual(['CREATED', 'PICKED_UP']);
  });
});

describe('partitions of events', () => {
  test('are created once for every month in the range', async () => {
    const make = () => world.sql(`select make_log_partitions('2031-12-30', '2032-02-01')`);
    await make();
    await make();
    const made = await world.sql<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits
        where inhparent = 'events'::regclass and inhrelid::regclass::text ~ '_203[12]' order by 1`,
    );
    expect(made.map(({ name }) => name)).toEqual(['events_203112', 'events_203201', 'events_203202']);
  });

  test('a process that starts in a month without a partition creates it', async () => {
    const [month] = await world.sql<{ name: string }>(
      `select 'events' || to_char(now() at time zone 'UTC', '_YYYYMM') as name`,
    );
    await world.sql(`drop table ${month!.name}`);
    await expect(record(world.db, shipmentId, ['CREATED'])).rejects.toThrow('no partition');
    expect(await historyOf(shipmentId)).toEqual([]);
    await makeFirstPartitions(world.db);
    await record(world.db, shipmentId, ['CREATED']);
    expect(await historyOf(shipmentId)).toEqual(['CREATED']);
  });

  test('are read by the intended index, even if one was vacuumed while empty', async () => {
    await world.sql(`select make_log_partitions('2033-05-01', '2033-05-01')`);
    await world.sql('vacuum analyze events_203305');
    const id = `uuid_floor('2033-05-02T00:00Z')`;
    const indexOf = async (rest: string) => {
      const lines = await world.sql<{ 'QUERY PLAN': string }>(`explain select * from events where ${rest}`);
      return /using \S+?_(pkey|shipper_id_position|shipper_id_event_id|shipment_id_sequence)/.exec(
        lines.map((line) => line['QUERY PLAN']).join('\n'),
      )?.[1];
    };
    const inMonth = `event_id >= ${id} and event_id < uuid_floor('2033-05-03T00:00Z')`;
    expect(await indexOf(`event_id = ${id}`)).toBe('pkey');
    expect(await indexOf(`shipment_id = ${id} and ${inMonth} order by sequence`)).toBe(
      'shipment_id_sequence',
    );
    expect(
      await indexOf(
        `shipper_id = ${id} and shipment_id is not null and position > 5 and ${inMonth}
          order by position, event_id limit 5`,
      ),
    ).toBe('shipper_id_position');
  });
});

describe('a process whose clock is off by more than a day', () => {
  const days = [-2, 2];
  const aheadMs = databaseClockAheadMs();
  afterEach(() => followDatabaseClock(aheadMs));

  test.each(days)('(%i days) records nothing, and reports why', async (off) => {
    await record(world.db, shipmentId, ['CREATED']);
    await world.sql(`select make_log_partitions(current_date - 3, current_date + 3)`);
    followDatabaseClock(aheadMs + off * dayMs);
    const recorded = record(world.db, shipmentId, ['PICKED_UP']);
    await expect(recorded).rejects.toMatchObject({
      httpStatus: 503,
      message: expect.stringMatching('clocks'),
    });
    expect(await historyOf(shipmentId)).toEqual(['CREATED']);
    followDatabaseClock(aheadMs);
    await record(world.db, shipmentId, ['PICKED_UP']);
    expect(await historyOf(shipmentId)).toEqual(['CREATED', 'PICKED_UP']);
  });
});

test('a replay makes partitions for days with events of its shipper, or its shipment, however far back it begins', async () => {
  const [old, older] = [newId(), newId()];
  await world.sql(
    `insert into shipment_progress select shipment_id, $1::uuid, 'CREATED', 1, now() from unnest($2::uuid[]) shipment_id`,
    [world.shipperId, [old, older]],
  );
  await world.sql(
    `select make_log_partitions(day, day) from unnest(array[current_date - 400, current_date - 900]) day`,
  );
  await world.sql(
    `insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
       select uuid_floor(now() - e.days * interval '1 day'), $1::uuid, e.shipment_id, 1, 'CREATED', now(), '{}'
         from (values ($2::uuid, 400), ($3::uuid, 900)) e (shipment_id, days)`,
    [world.shipperId, old, older],
  );
  await world.sql(
    `select drop_log_day(to_char(current_date - days, 'YYYYMMDD')) from unnest(array[400, 900]) days`,
  );
  const tables = async () =>
    (
      await world.sql(
        `select 1 from pg_class where relname ~ '^(deliveries|attempts|events)_[0-9]+$' and relkind = 'r'`,
      )
    ).length;
  const before = await tables();
  const walk = { shipperId: world.shipperId, shipmentId: old, since: new Date('2017-01-01') };
  const tenYearsMs = 3_650 * 86_400_000;
  for (const [made, shipmentId] of [
    [2, old],
    [4, null],
    [4, null],
  ] as const) {
    await makePartitionsFor(world.db, { ...walk, shipmentId }, tenYearsMs);
    expect((await tables()) - before).toBe(made);
  }
  await makePartitionsFor(world.db, { ...walk, shipperId: newId(), shipmentId: null }, tenYearsMs);
  expect((await tables()) - before).toBe(4);
});
