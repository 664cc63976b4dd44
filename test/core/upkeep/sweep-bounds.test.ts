import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createPool, type Database } from '../../../src/platform/database/postgres.js';
import { createSweeper, finish, inspect, lapse, muchRoom, pull, record } from '../../support/core/acts.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../../support/core/race.js';
import { addShipment, addWebhook, logger, outboxOf, setStatus } from '../../support/core/world.js';
import { durationsOf } from '../../../src/platform/durations.js';

setUpRaces('outbox, events, webhooks, circuits, deliveries');

/** Counts blocks of 8 KiB, from memory or disk. */
async function pagesReadBy(statement: string, work: (db: Database) => Promise<unknown>): Promise<number> {
  let pages = 0;
  await work({
    ...world.db,
    query: async (name, text, values) => {
      if (name === statement) {
        type Explained = { 'QUERY PLAN': [{ Plan: Record<string, number> }] };
        const [row] = await world.db.query<Explained>(
          '',
          `explain (analyze, buffers, format json) ${text}`,
          values,
        );
        const { Plan: plan } = row!['QUERY PLAN'][0];
        pages += plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
      }
      return world.db.query(name, text, values);
    },
  });
  expect(pages).toBeGreaterThan(0);
  return pages;
}

/** The webhook does not want the `laterStates` that follow. */
async function oweFirstStates(to: string, shipments: number, laterStates: number): Promise<void> {
  await world.sql(
    `with s as (select gen_random_uuid() as shipment_id from generate_series(1, $3)), p as (
       insert into shipment_progress (shipment_id, shipper_id, state, sequence, updated_at)
       select shipment_id, $1, 'IN_TRANSIT', 1 + $4::int, now() from s
     ), e as (
       insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
       select overlay(gen_random_uuid()::text placing left(uuid_floor(now())::text, 15) from 1 for 15)::uuid, $1, shipment_id, n, case n when 1 then 'CREATED' else 'IN_TRANSIT' end, now(), ''
         from s cross join generate_series(1, 1 + $4::int) n
       returning event_id, shipment_id, sequence
     )
     insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at)
     select $1, delivery_id(event_id, $2), event_id, $2, shipment_id, 1, 'CREATED', 'READY', now()
       from e where sequence = 1`,
    [world.shipperId, to, shipments, laterStates],
  );
}

test('the search for what overtakes a held state reads the outbox of its webhook, however many states the shipment had', async () => {
  await world.sql(`update webhooks set supersede = true, interests = '{CREATED}', status = 'PAUSED'`);
  await oweFirstStates(webhookId, 50, 1);
  const few = await pagesReadBy('inspect-page', inspect);
  await world.sql('truncate outbox, events');
  await oweFirstStates(webhookId, 50, 200);
  expect(await pagesReadBy('inspect-page', inspect)).toBeLessThan(2 * few);
});

describe('expired claims', () => {
  test('are found at the same cost whatever others are owed', async () => {
    await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
    await lapse(world);
    const alone = await pagesReadBy('find-lapsed', (db) => createSweeper(db).takeUpLapsed());
    expect(await now()).toEqual(['1 READY']);
    const [held, slow] = [await addWebhook(world), await addWebhook(world)];
    await setStatus(world, held, 'PAUSED');
    await oweFirstStates(held, 5_000, 0);
    await oweFirstStates(slow, 5_000, 0);
    await pull(world.db, webhookId);
    await lapse(world);
    const beside = await pagesReadBy('find-lapsed', (db) => createSweeper(db).takeUpLapsed());
    expect(await now()).toEqual(['1 READY']);
    expect(beside).toBeLessThan(alone + 600); // the first rows of the callable webhook
  });

  test('are found behind the webhooks of the first page', async () => {
    for (let n = 0; n < 210; n += 1) await addWebhook(world);
    const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
    expect(claims).toHaveLength(211);
    await lapse(world);
    const { takeUpLapsed } = createSweeper(world.db);
    await takeUpLapsed();
    const left = async () => (await outboxOf(world)).filter(({ status }) => status === 'SENDING').length;
    expect(await left()).toBe(11);
    await takeUpLapsed();
    expect(await left()).toBe(0);
  });

  test('are skipped if overtaken meanwhile and the webhook wants that', async () => {
    await world.sql('update webhooks set supersede = true');
    await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
    await record(world.db, shipmentId, ['PICKED_UP']);
    await lapse(world);
    await createSweeper(world.db).takeUpLapsed();
    expect(await now()).toEqual(['1 SUPERSEDED', '2 READY']);
  });
});

describe('a row that no statement can handle in time', () => {
  const statementTimeoutMs = 100;

  /** Its failed state costs PostgreSQL more than the statement timeout. */
  async function addPoison(): Promise<{ webhookId: string; deliveryId: string }> {
    const poisoned = await addWebhook(world, { supersede: true, interests: ['CREATED'] });
    const poison = await addShipment(world);
    await finish(world.db, await record(world.db, poison, ['CREATED'], { room: muchRoom }), 'RETRY', {
      delayMs: 60_000,
    });
    await record(world.db, poison, ['PICKED_UP']);
    return { webhookId: poisoned, deliveryId: (await outboxOf(world, poisoned))[0]!.delivery_id };
  }

  const makeSlow = (poisoned: string) =>
    world.sql(
      `create or replace function delivery_id(event_id uuid, webhook_id uuid) returns uuid language plpgsql immutable as $$
       begin
         if webhook_id = '${poisoned}' then perform pg_sleep(1); end if;
         return overlay(md5(event_id::text || webhook_id::text)
                        placing left(replace(event_id::text, '-', ''), 16) || '8' from 1 for 17)::uuid;
       end $$`,
    );

  test('is reported by its id, and the walk continues to the end and handles all others', async () => {
    const stranded: string[] = [];
    const recordStranded = async () => {
      const shipment = await addShipment(world);
      await record(world.db, shipment, ['CREATED', 'PICKED_UP'], { room: muchRoom });
      await world.sql('delete from outbox where shipment_id = $1 and sequence = 1', [shipment]);
      stranded.push(shipment);
    };
    await recordStranded();
    const poison = await addPoison();
    await recordStranded();
    await makeSlow(poison.webhookId);

    const lines: { msg: string; deliveryId?: string }[] = [];
    const log = pino(
      {},
      { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
    );
    const db = createPool({
      connectionString: world.databaseUrl,
      applicationName: 'test',
      maxConnections: 2,
      durable: false,
      statementTimeoutMs,
      logger,
    });
    const sweeper = createSweeper(db, undefined, log);
    const begunAt = await walkedAt(sweeper.metrics);
    try {
      for (let pass = 0; pass < 30 && (await walkedAt(sweeper.metrics)) === begunAt; pass += 1)
        await sweeper.sweep().catch(() => undefined);
    } finally {
      await db.end();
    }
    expect(await walkedAt(sweeper.metrics)).toBeGreaterThan(begunAt);
    expect(lines.flatMap(({ deliveryId }) => deliveryId ?? [])).toEqual([poison.deliveryId]);
    const waiting = (await outboxOf(world)).filter(
      (row) => row.waits_turn && stranded.includes(row.shipment_id!),
    );
    expect(waiting).toEqual([]);
  });
});

const walkedAt = async (metrics: { text(): Promise<string> }) =>
  Number(/^parcelhook_outbox_walked_timestamp_seconds (.+)$/m.exec(await metrics.text())![1]);

const owe = (count: number) =>
  world.sql(
    `insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at)
     select $1, gen_random_uuid(), gen_random_uuid(), $2, $3, n, 'IN_TRANSIT', 'READY', now()
       from generate_series(1, $4) n`,
    [world.shipperId, webhookId, shipmentId, count],
  );

test('the pages of a long outbox follow faster, and lost deliveries behind them are found', async () => {
  await record(world.db, await addShipment(world), ['CREATED'], { room: muchRoom });
  await setStatus(world, webhookId, 'PAUSED');
  await owe(20_000);
  await world.sql(`update outbox set lease_until = now() - interval '1 second' where status = 'SENDING'`);
  const { sweep } = createSweeper(world.db);
  const pauses = [await sweep(), await sweep()];
  expect(pauses[0]).toBeGreaterThan(0);
  expect(pauses[0]).toBeLessThanOrEqual(durationsOf().sweepEveryMs);
  expect(pauses[1]).toBeGreaterThanOrEqual(durationsOf().sweepEveryMs); // the end of the outbox
  expect((await outboxOf(world)).filter(({ status }) => status !== 'READY')).toEqual([]);
});
