import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { service } from '../../../src/accounts/audit.js';
import { origin, type Cursor, type Place, findNews } from '../../../src/feed/store.js';
import { renewFeed } from '../../../src/feed/extent-store.js';
import { beginReading, type Start } from '../../../src/feed/read.js';
import type { Database, Pool } from '../../../src/platform/database/postgres.js';
import { timeOfId } from '../../../src/platform/ids.js';
import { record } from '../../support/core/acts.js';
import { stopAt } from '../../support/core/barriers.js';
import { addPlantedOrder, erase } from '../../support/core/erasures.js';
import { all, follow, look, type Told } from '../../support/core/feed.js';
import { lockWaiters } from '../../support/lock-waits.js';
import { addShipment, createWorld, openPool, type World } from '../../support/core/world.js';

let world: World;
let foreign: pg.Client;
let others: Pool[];

beforeAll(async () => {
  world = await createWorld();
  foreign = new pg.Client({ connectionString: world.databaseUrl });
  await foreign.connect();
  others = [1, 2, 3].map(() => openPool(world.databaseUrl, 4));
});
afterAll(async () => {
  await foreign.end();
  await Promise.all(others.map((pool) => pool.end()));
  await world.stop();
});
beforeEach(() => world.sql('truncate events, shipment_progress, shipments'));

/** Starts a recording that has its transaction id and waits for a locked shipment row. */
async function heldRecording(shipmentId: string) {
  await foreign.query('begin');
  await foreign.query('select 1 from shipment_progress where shipment_id = $1 for update', [shipmentId]);
  const recording = record(world.db, shipmentId, ['HELD']);
  const waiting = `select virtualtransaction as id from (${lockWaiters}) w
    where locktype in ('transactionid', 'tuple') and relation is null`;
  for (let rows: { id: string }[] = []; ; await sleep(2)) {
    rows = await world.sql(waiting);
    if (rows[0]) return { recording, transaction: rows[0].id, release: () => foreign.query('commit') };
  }
}

/** The service never has an open transaction after recording: it repeats it in another one. So this fails instead. */
function recordingOnce(tx: Database): Database {
  let began = false;
  const query: Database['query'] = (name, ...rest) => {
    if (name === 'insert-events' && began) throw new Error('would record again at the same position');
    began ||= name === 'insert-events';
    return tx.query(name, ...rest);
  };
  return { ...tx, query };
}

const trackingIdsOf = async (shipmentIds: string[]): Promise<string[]> =>
  (
    await world.sql<{ id: string }>(
      `select tracking_id as id from shipments join unnest($1::uuid[]) with ordinality as t (shipment_id, place)
        using (shipment_id) order by place`,
      [shipmentIds],
    )
  ).map(({ id }) => id);

const statesOf = async () =>
  (await world.sql<{ state: string }>('select state from events order by position, event_id')).map(
    ({ state }) => state,
  );

test('a recording locks events before it gets a transaction id', async () => {
  const shipmentId = await addShipment(world);
  await record(world.db, shipmentId, ['CREATED']);
  const { recording, transaction, release } = await heldRecording(shipmentId);
  const held = await world.sql<{ mode: string }>(
    `select mode from pg_locks where granted and virtualtransaction = $1
        and (locktype = 'transactionid' or relation = 'events'::regclass) order by locktype`,
    [transaction],
  );
  expect(held).toEqual([{ mode: 'RowExclusiveLock' }, { mode: 'ExclusiveLock' }]);
  await release();
  await recording;

  const stop = stopAt(world, 'insert-events', 'SNAPSHOT');
  const stopped = record(stop.db, shipmentId, ['NEXT']);
  await stop.reached;
  expect(
    await world.sql(
      `select mode from pg_locks where granted and relation = 'events'::regclass and mode = 'RowExclusiveLock'`,
    ),
  ).toHaveLength(1);
  stop.go();
  await stopped;
});

test('a reader stays behind a recording that began before, until that has ended', async () => {
  const [slow, quick] = [await addShipment(world), await addShipment(world)];
  await record(world.db, slow, ['CREATED']);
  const reader = follow(world, others[0]!, { from: new Date(0) });
  expect(await reader.step()).toBe(1);
  const { recording, release } = await heldRecording(slow);
  await record(world.db, quick, ['LATER', 'LATEST']);
  expect(await reader.step()).toBe(0);
  expect(await all(world, world.db)).toHaveLength(1);
  await release();
  await recording;
  expect(await reader.step()).toBe(3);
  expect(await statesOf()).toEqual(['CREATED', 'HELD', 'LATER', 'LATEST']);
  expect(reader.seen).toEqual(await all(world, world.db));
});

test('a recording without a visible transaction id also holds readers back', async () => {
  const [slow, quick] = [await addShipment(world), await addShipment(world)];
  await foreign.query('begin');
  await foreign.query('update shippers set name = name');
  await others[1]!.transaction(async (tx) => {
    await tx.query('', 'lock table events in row exclusive mode');
    await record(world.db, quick, ['QUICK']);
    const before = await look(others[0]!);
    expect([before.uncertain, (await all(world, world.db)).length]).toEqual([true, 0]);
    await record(tx, slow, ['SLOW']);
    const after = await look(others[0]!);
    expect(after.uncertain).toBe(false);
    expect(after.horizon).toBeGreaterThan(before.horizon);
    expect(await all(world, world.db)).toHaveLength(1);
  });
  await foreign.query('commit');
  expect(await all(world, world.db)).toHaveLength(2);
});

test('a renewal waits for recordings under way: no event appears before a position that was read', async () => {
  const [slow, quick] = [await addShipment(world), await addShipment(world)];
  await record(world.db, slow, ['CREATED']);
  const before = follow(world, others[0]!, { from: new Date(0) });
  expect(await before.step()).toBe(1);
  const { recording, release } = await heldRecording(slow);
  await record(world.db, quick, ['LATER']);
  const renewing = others[0]!.transaction((tx) => renewFeed(tx, service, 'ASKED'));
  await Promise.race([renewing, sleep(100)]);
  expect(await all(world, others[1]!)).toHaveLength(1);
  await release();
  await Promise.all([recording, renewing]);
  await expect(before.step()).rejects.toThrow('not valid');
  const after = follow(world, others[0]!, { from: new Date(0) });
  expect(await after.step()).toBe(3);
  await record(world.db, slow, ['NEXT']);
  expect(await after.step()).toBe(1);
  expect(after.seen).toEqual(await all(world, world.db));
});

test('a renewal waits for a recording for at most 1.5 s, as do recordings behind it; then it changes nothing', async () => {
  const [slow, quick] = [await addShipment(world), await addShipment(world)];
  await record(world.db, slow, ['CREATED']);
  const reader = follow(world, others[0]!, { from: new Date(0) });
  expect(await reader.step()).toBe(1);
  const { recording, release } = await heldRecording(slow);
  const startedAt = performance.now();
  const renewing = others[0]!.transaction((tx) => renewFeed(tx, service, 'ASKED'));
  const refused = expect(renewing).rejects.toMatchObject({ httpStatus: 503 });
  await sleep(200);
  await record(world.db, quick, ['LATER']);
  await refused;
  expect(performance.now() - startedAt).toBeGreaterThan(1_400);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  await release();
  await recording;
  expect(await reader.step()).toBe(2);
});

test('an erasure under way changes events and holds no reader back', async () => {
  const [planted, other] = [await addPlantedOrder(world), await addShipment(world)];
  await record(world.db, planted, ['CREATED']);
  const reader = follow(world, others[0]!, { from: new Date(0) });
  expect(await reader.step()).toBe(1);
  const stop = stopAt(world, 'erase-events', 'COMMIT');
  const erased = erase(stop.db, planted);
  await stop.reached;
  await record(world.db, other, ['CREATED']);
  expect(await reader.step()).toBe(1);
  stop.go();
  await erased;
});

test('a transaction that writes something else holds no reader back, however long it is open', async () => {
  const shipmentId = await addShipment(world);
  await foreign.query('begin');
  await foreign.query('update shippers set name = name');
  await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
  const reader = follow(world, world.db, { from: new Date(0) });
  expect(await reader.step()).toBe(2);
  await foreign.query('commit');
});

test('a commit that failed leaves no gap to wait for', async () => {
  const [first, second] = [await addShipment(world), await addShipment(world)];
  await record(world.db, first, ['CREATED']);
  const reader = follow(world, world.db, { from: new Date(0) });
  const failing = world.db.transaction(async (tx) => {
    await record(tx, first, ['PICKED_UP']);
    await record(world.db, second, ['CREATED']);
    expect(await reader.step()).toBe(1);
    throw new Error('rolled back');
  });
  await expect(failing).rejects.toThrow('rolled back');
  expect(await reader.step()).toBe(1);
  expect(reader.seen.map(({ sequence }) => sequence)).toEqual([1, 1]);
});

test('the events of one commit keep their sequence, even if the clock is put back between them', async () => {
  const [one, two] = [await addShipment(world), await addShipment(world)];
  const RealDate = Date;
  let backMs = 0;
  globalThis.Date = class extends RealDate {
    constructor(...given: [number]) {
      super(given.length > 0 ? given[0] : RealDate.now() - (backMs += 1_000));
    }
  } as DateConstructor;
  try {
    await record(world.db, one, ['A', 'B', 'C', 'D', 'E']);
    await record(world.db, two, ['A', 'B', 'C']);
    await record(world.db, one, ['F', 'G']);
  } finally {
    globalThis.Date = RealDate;
  }
  const seen = await all(world, world.db);
  expect(seen.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 6, 7]);
});

test('followers see what a reader from the start sees, in the same order, whatever writers do concurrently', async () => {
  const shipments = await Promise.all(Array.from({ length: 4 }, () => addShipment(world)));
  const random = (below: number) => Math.floor(Math.random() * below);
  let writing = true;
  const write = async (pool: Pool) => {
    for (let n = 0; n < 40; n += 1) {
      const states = Array.from({ length: 1 + random(3) }, () => 'STATE');
      const shipmentId = shipments[random(shipments.length)]!;
      const work = (db: Parameters<typeof record>[0]) => record(db, shipmentId, states);
      // Some stay open for a while after their statement, some are rolled back.
      await (
        random(4) > 2
          ? work(pool)
          : pool.transaction(async (tx) => {
              await work(recordingOnce(tx));
              await sleep(random(15));
              if (random(8) > 6) throw new Error('rolled back');
            })
      ).catch(() => undefined);
    }
  };
  const trackingIds = await trackingIdsOf(shipments);
  const start = { from: new Date(0) };
  const followers = others.map((pool) => follow(world, pool, start));
  const ofOne = trackingIds.map((id, index) => follow(world, others[index % 3]!, start, id));
  const reading = [...followers, ...ofOne].map(async ({ step }) => {
    while (writing) {
      await step(1 + random(20));
      await sleep(random(5));
    }
    while ((await step()) > 0);
  });
  await Promise.all([world.db, ...others].flatMap((pool) => [write(pool), write(pool)]));
  writing = false;
  await Promise.all(reading);

  const whole = await all(world, world.db);
  expect(whole.length).toBeGreaterThan(100);
  expect(await statesOf()).toHaveLength(whole.length);
  for (const { seen } of followers) expect(seen).toEqual(whole);
  for (const one of new Set(whole.map(({ shipment }) => shipment))) {
    const sequences = whole.filter(({ shipment }) => shipment === one).map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  }
  for (const [index, { seen }] of ofOne.entries())
    expect(seen).toEqual(whole.filter(({ shipment }) => shipment === trackingIds[index]));
});

describe('the feed of one shipment', () => {
  const states = 3_000;
  let shipmentId: string;
  let trackingId: string;
  let whole: Told[];

  beforeEach(async () => {
    const other = await addShipment(world);
    shipmentId = await addShipment(world);
    [trackingId] = (await trackingIdsOf([shipmentId])) as [string];
    await record(world.db, other, ['CREATED']);
    for (let n = 0; n < 20; n += 1) {
      await record(world.db, shipmentId, Array<string>(1 + (n % 3)).fill('STATE'));
      await record(world.db, other, ['STATE']);
    }
    whole = await all(world, world.db);
  });

  const addStates = () => record(world.db, shipmentId, Array<string>(states).fill('STATE'));
  const cursorAt = async ({ position, eventId }: Place): Promise<Cursor> => {
    const { epoch } = await look(world.db);
    return { epoch, position, eventId, timeMs: Date.now() };
  };
  const first = async (start: Start, limit: number) => {
    const reader = follow(world, world.db, start, trackingId);
    await reader.step(limit);
    return reader.seen;
  };
  const isOfIt = ({ shipment }: Told) => shipment === trackingId;

  test('continues after every cursor, of whichever shipment it is, and has every event once', async () => {
    for (const [index, place] of [origin, ...whole].entries()) {
      const expected = whole.slice(index).filter(isOfIt).slice(0, 5);
      expect(await first({ after: await cursorAt(place) }, 5)).toEqual(expected);
    }
    expect(await first({ after: 'latest' }, 5)).toEqual([]);
    expect(await first({ from: new Date() }, 5)).toEqual([]);
    expect(await first({ from: new Date(Date.now() - 3_600_000) }, 250)).toEqual(whole.filter(isOfIt));
  });

  test('finds every event of a time or later, even if the clocks of the processes are hours apart', async () => {
    const RealDate = Date;
    const hour = 3_600_000;
    let offMs = 0;
    globalThis.Date = class extends RealDate {
      constructor(...given: [number]) {
        super(given.length > 0 ? given[0] : RealDate.now() + offMs);
      }
    } as DateConstructor;
    try {
      for (offMs of [-3, 5, -10, 12, -20, 1, -1].map((hours) => hours * hour))
        await record(world.db, shipmentId, ['STATE']);
    } finally {
      globalThis.Date = RealDate;
    }
    const seen = (await all(world, world.db)).filter(isOfIt);
    for (const hours of [-21, -9, -4, -2]) {
      const from = new Date(Date.now() + hours * hour);
      const expected = seen.filter(({ eventId }) => timeOfId(eventId) >= from.getTime());
      expect(await first({ from }, 250)).toEqual(expected);
    }
  });

  test('a page and a check for news read a few of its events, however many it has', async () => {
    await addStates();
    const latest = (await all(world, world.db)).at(-1)!;
    const selection = { shipperId: world.shipperId, trackingId, limit: 5 };
    const rowsRead = async (tx: Database) => {
      const [row] = await tx.query<{ rows: number }>(
        '',
        String.raw`select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
          where relname like 'events\_%'`,
      );
      return row!.rows;
    };
    const rowsReadBy = (read: (tx: Database) => Promise<unknown>) =>
      world.db.transaction(async (tx) => {
        const before = await rowsRead(tx);
        await read(tx);
        return (await rowsRead(tx)) - before;
      });
    const news = (place: Place) => (tx: Database) =>
      findNews(tx, [{ selection, after: place, firstId: origin.eventId }], latest.position + 1n);
    const page = (start: Start) => (tx: Database) => beginReading(tx, selection, start, 86_400_000);
    expect(await rowsReadBy(news(latest))).toBeLessThan(10);
    expect(await rowsReadBy(news(whole[5]!))).toBeLessThan(10);
    expect(await rowsReadBy(page({ after: await cursorAt(latest) }))).toBeLessThan(50);
    expect(await rowsReadBy(page({ after: await cursorAt(whole[5]!) }))).toBeLessThan(50);
    expect(await rowsReadBy(page({ after: 'latest' }))).toBeLessThan(50);
    expect(await rowsReadBy(page({ from: new Date(Date.now() - 3_600_000) }))).toBeLessThan(1_100);
  });
});
