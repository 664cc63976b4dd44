import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { listDeliveries } from '../../../src/history/log/store.js';
import type { LogFilter } from '../../../src/history/log/page-store.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { firstIdOf } from '../../../src/platform/ids.js';
import { addShipments, addWebhook, createWorld, type World } from '../../support/core/world.js';

const shipments = 60;
const states = ['CREATED', 'PICKED_UP', 'IN_TRANSIT', 'DELIVERED'];
const webhooks = 20;
const minuteMs = 60_000;

let world: World;
let webhookIds: string[];
let trackingId: string;

interface Row {
  delivery_id: string;
  webhook_id: string;
  state: string;
  status: string;
  tracking_id: string;
}
/** Newest first. */
let rows: Row[];

/** The ids of six events each begin with the same 64 bits. Every second webhook is owed its deliveries. */
async function addDeliveries(shipmentIds: string[]): Promise<void> {
  const nowMs = Date.now();
  const events = shipmentIds.flatMap((shipmentId, n) =>
    states.map((state, s) => {
      const group = Math.floor((n * states.length + s) / 6);
      const begin = firstIdOf(nowMs - group * 90 * minuteMs).slice(0, 19);
      const end = `8${String(n).padStart(3, '0')}-${String(s).padStart(12, '0')}`;
      return { id: begin + end, shipmentId, state, sequence: s + 1 };
    }),
  );
  await world.sql(`select make_log_partitions(current_date - 4, current_date + 1)`);
  await world.sql(
    `with e as (
       insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
       select event_id, $1, shipment_id, sequence, state, now(), '{}'
         from unnest($2::uuid[], $3::uuid[], $4::int[], $5::text[]) as t (event_id, shipment_id, sequence, state)
       returning event_id, shipment_id, sequence, state
     ), progress as (
       insert into shipment_progress (shipment_id, shipper_id, state, sequence, updated_at, first_event_id, last_event_id)
       select shipment_id, $1, 'DELIVERED', max(sequence), now(), (array_agg(event_id order by event_id))[1],
              (array_agg(event_id order by event_id desc))[1]
         from e group by shipment_id
     ), d as (
       select e.*, w.webhook_id, w.place from e cross join unnest($6::uuid[]) with ordinality as w (webhook_id, place)
     ), owed as (
       insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, state, sequence, status, due_at)
       select $1, delivery_id(event_id, webhook_id), event_id, webhook_id, shipment_id, state, sequence, 'READY', now()
         from d where place % 2 = 0
     )
     insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count, completed_at)
     select $1, delivery_id(event_id, webhook_id), event_id, webhook_id, state,
            case when place = 1 and sequence = 1 then 'FAILED' else 'SUCCEEDED' end, 1, now()
       from d where place % 2 = 1`,
    [
      world.shipperId,
      events.map(({ id }) => id),
      events.map(({ shipmentId }) => shipmentId),
      events.map(({ sequence }) => sequence),
      events.map(({ state }) => state),
      webhookIds,
    ],
  );
}

beforeAll(async () => {
  world = await createWorld();
  webhookIds = await Promise.all(Array.from({ length: webhooks }, () => addWebhook(world)));
  await addDeliveries(await addShipments(world, shipments));
  rows = await world.sql<Row>(
    `select d.delivery_id, d.webhook_id, d.state, d.status, s.tracking_id
       from (select delivery_id, webhook_id, event_id, state, status from deliveries
             union all select delivery_id, webhook_id, event_id, state, 'PENDING' from outbox) d
       join events using (event_id) join shipments s using (shipment_id) order by delivery_id desc`,
  );
  trackingId = rows[0]!.tracking_id;
});
afterAll(() => world.stop());

const page = (db: Database, filter: LogFilter, before: string | undefined, limit: number) =>
  listDeliveries(db, world.shipperId, { shipperTrackingId: 'R', ...filter }, before, limit);

async function allPages(filter: LogFilter, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const { deliveries: found } = await page(world.db, filter, ids.at(-1), limit);
    ids.push(...found.map(({ deliveryId }) => deliveryId));
    if (found.length < limit) return ids;
  }
}

test('pages of the deliveries of many shipments have each once, newest first, even where ids of events begin alike', async () => {
  expect(rows).toHaveLength(shipments * states.length * webhooks);
  expect(new Set(rows.map(({ delivery_id: id }) => id.slice(0, 18))).size).toBe(
    (shipments * states.length) / 6,
  );
  const maybe = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
  const filters = fc.record({
    webhookId: maybe(...webhookIds.slice(0, 2)),
    state: maybe(...states.slice(0, 2)),
    status: maybe('PENDING' as const, 'SUCCEEDED' as const, 'FAILED' as const),
    trackingId: maybe(trackingId),
    limit: fc.constantFrom(37, 250),
  });
  await fc.assert(
    fc.asyncProperty(filters, async ({ limit, ...filter }) => {
      const expected = rows.filter(
        (row) =>
          row.webhook_id === (filter.webhookId ?? row.webhook_id) &&
          row.state === (filter.state ?? row.state) &&
          row.status === (filter.status ?? row.status) &&
          row.tracking_id === (filter.trackingId ?? row.tracking_id),
      );
      expect(await allPages(filter, limit)).toEqual(expected.map(({ delivery_id: id }) => id));
    }),
    { numRuns: 25, examples: [[{ limit: 37 } as never]] },
  );
});

test('a page reads about as many deliveries as it returns, however many the shipments have', async () => {
  const rowsRead = async (tx: Database) => {
    const [row] = await tx.query<{ rows: number }>(
      '',
      String.raw`select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
        where relname = 'outbox' or relname like 'deliveries\_%'`,
    );
    return row!.rows;
  };
  const readBy = (filter: LogFilter, before?: string) =>
    world.db.transaction(async (tx) => {
      const sofar = await rowsRead(tx);
      expect((await page(tx, filter, before, 10)).deliveries).toHaveLength(10);
      return (await rowsRead(tx)) - sofar;
    });
  const limit = 2 * 6 * 6 * webhooks; // for each of six events that begin alike, those of all six
  expect(await readBy({})).toBeLessThan(limit);
  expect(await readBy({}, rows[2_000]!.delivery_id)).toBeLessThan(limit);
  expect(await readBy({ webhookId: webhookIds[0]! })).toBeLessThan(limit);
});
