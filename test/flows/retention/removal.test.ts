import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  metricsOf,
  callAsPortal,
  newProgram,
  openSession,
  operator,
  placeOrder,
  registerAccount,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import { findInDatabase } from '../../support/database.js';
import { startProcess, startServiceToBreak, type Service } from '../../support/harness.js';
import { crashTraces } from '../../support/deployment.js';
import { placeOrders } from '../../support/load.js';
import { until } from '../../support/until.js';
import { startHook, type Hook } from '../../support/deliveries.js';

let service: Service;
let removed: Account;
let other: Account;
let removedHook: Hook;
let otherHook: Hook;
const bulk = 2_000;
const patienceMs = 60_000; // it yields to other work, even more on a busy machine

beforeAll(async () => {
  service = await startServiceToBreak({ TIME_SCALE: '0.03', RETRY_SCHEDULE: '1h', SIMULATE: 'true' });
  [removed, other] = await Promise.all([
    registerAccount(service, 'planted-user@example.com'),
    registerAccount(service, 'other@example.com'),
  ]);
  removedHook = await startHook(removed, { description: 'PlantedHook' });
  otherHook = await startHook(other);
});
afterAll(async () => {
  await removedHook?.receiver.close();
  await otherHook?.receiver.close();
  await service?.stop();
});

/** Some of everything that a shipper can have. */
async function fill(account: Account, hook: Hook): Promise<void> {
  const order = { ...sampleOrder(), recipientInformation: { fullName: 'Planted Name', phone: '5512345678' } };
  await account.call('/v1/shipments', {
    body: order,
    headers: { 'idempotency-key': `planted-key ${account.email}` },
  });
  const [trackingId] = await placeOrders(account, 5);
  await hook.receiver.waitFor(6);
  const journey = { states: ['PICKED_UP', 'CANCELLED'], intervalMs: 3_600_000 };
  await account.call(`/v1/shipments/${trackingId}/simulate`, { body: journey });
  await hook.receiver.waitFor(7);
  hook.response.status = 500;
  await placeOrder(account);
  await hook.receiver.waitFor(8);
  const { webhookId } = hook;
  await operator(service, `/users/${account.userId}/password-link`, { method: 'POST' });
  const cookie = await openSession(service, account);
  await callAsPortal(service, cookie, '/v1/session', { method: 'DELETE' });
  await account.call(`/v1/webhooks/${webhookId}/replay`, {
    body: { from: Date.now() - 60_000, to: Date.now() },
  });
  await service.sql(`update replays set status = 'RUNNING', next_at = now() + interval '50 seconds'`);
  await service.sql(
    `insert into redeliveries (delivery_id, shipper_id, webhook_id, number, lease_until)
     select delivery_id, shipper_id, webhook_id, 7, now() + interval '20 seconds' from deliveries where webhook_id = $1 limit 1`,
    [webhookId],
  );
  await newProgram(service, account, { scopes: ['read'], name: 'Planted program' });
  await operator(service, `/shippers/${account.shipperId}/portal-link`, { method: 'POST' });
  await service.sql(
    `insert into webhook_starts (webhook_id, next_at, drawn, step) values ($1, now(), 1, '1 s')`,
    [webhookId],
  );
  await service.sql(
    `with told as (update webhooks set exhausted_told_at = now() where webhook_id = $1) -- no notice while rows are counted
     insert into exhausted_deliveries select $1, gen_random_uuid(), gen_random_uuid() from generate_series(1, 3)`,
    [webhookId],
  );
  await service.sql(
    `insert into mails (mail_id, kind, user_id, shipper_id) values (gen_random_uuid(), 'WELCOME', $1, $2)`,
    [account.userId, account.shipperId],
  );
  await service.sql(
    `with asked as (insert into notify_addresses values ($1, $1::uuid || '@example.com')),
          counted as (insert into mail_budgets values ($1, current_date, 1))
     insert into notices_to_mail (notice_id, shipper_id, webhook_id, facts) values (gen_random_uuid(), $1, $2, '{}')`,
    [account.shipperId, webhookId],
  );
  await service.sql(manyShipments, [account.shipperId, webhookId, bulk]);
}

/** Each with an event and a delivery, half of them finished. */
const manyShipments = `
  with made as (
    insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
    select overlay(uuid_floor(now())::text placing right($1::uuid::text, 6) || lpad(to_hex(n), 6, '0') from 25)::uuid, $1,
           gen_random_uuid(), 1, 'CREATED', now(), '{}' from generate_series(1, $3::int) n
    returning event_id, shipment_id
  ), tracked as (
    insert into shipment_progress select shipment_id, $1, 'CREATED', 1, now() from made
  ), ordered as (
    insert into shipments select shipment_id, $1, shipment_id, shipment_id::text, 'R', '{}', '{}', now() from made
  ), split as (
    select *, row_number() over () % 2 = 0 as finished from made
  ), logged as (
    insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count, completed_at)
    select $1, delivery_id(event_id, $2), event_id, $2, 'CREATED', 'SUCCEEDED', 1, now() from split where finished
  ), tried as (
    insert into attempts (shipper_id, delivery_id, number, trigger, started_at)
    select $1, delivery_id(event_id, $2), 1, 'SCHEDULED', now() from split
  )
  insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at,
                      retry_wait)
  select $1, delivery_id(event_id, $2), event_id, $2, shipment_id, 1, 'CREATED', 'RETRY', now() + interval '1 day',
         interval '1 day'
    from split where not finished`;

const owners = ['shipper_id', 'webhook_id', 'user_id', 'shipment_id', 'delivery_id', 'event_id'];
/** Tables with such a column of which nothing remains, or which may remain: each was considered. */
const thoughtOf = [
  ...[
    'attempts',
    'circuits',
    'deliveries',
    'events',
    'external_ids',
    'idempotency_keys',
    'orders_to_create',
    'outbox',
    'program_tokens',
    'support_links',
  ],
  ...[
    'password_links',
    'redeliveries',
    'replays',
    'shipment_progress',
    'shipments',
    'shipments_to_erase',
    'erasures_under_way',
    'shippers',
    'simulations',
    'stored_bytes',
  ],
  ...[
    'mails',
    'webhook_starts',
    'exhausted_deliveries',
    'mail_budgets',
    'notices_to_mail',
    'notify_addresses',
    'users',
    'webhooks',
    'ended_sessions',
    'sessions',
    'login_origins',
    'attempt_counts',
    'webhook_hours',
  ],
  'audit', // survives the objects it mentions
];

test('every table with data of a shipper is considered', async () => {
  const tables = await service.sql<{ table_name: string }>(
    `select distinct table_name from information_schema.columns
      where table_schema = 'public' and column_name = any($1) and table_name !~ '_([0-9]{6}|[0-9]{8})$' order by 1`,
    [owners],
  );
  expect(tables.map((row) => row.table_name)).toEqual([...thoughtOf].sort());
});

/** The audit log survives the objects it mentions. */
const findUnaudited = async (ids: string[]) =>
  (await findInDatabase(service.sql, ids)).filter((place) => !place.startsWith('public.audit:'));

async function countRows({ shipperId }: Account): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const tables = await service.sql<{ table_name: string }>(
    `select table_name from information_schema.columns c
      where table_schema = 'public' and column_name = 'shipper_id' and table_name !~ '_([0-9]{6}|[0-9]{8})$' and table_name <> 'audit'`,
  );
  for (const { table_name: table } of tables) {
    const [row] = await service.sql<{ n: number }>(
      `select count(*)::int as n from ${table} where shipper_id = $1`,
      [shipperId],
    );
    counts[table] = row!.n;
  }
  return counts;
}

let renewal: NodeJS.Timeout | undefined;
afterAll(() => clearInterval(renewal));

test('a removed shipper is deleted with all of its data, in steps, across a kill, and no other shipper loses a row', async () => {
  await Promise.all([fill(removed, removedHook), fill(other, otherHook)]);
  const [before, othersBefore] = [await countRows(removed), await countRows(other)];
  for (const [table, count] of Object.entries(before)) expect([table, count > 0]).toEqual([table, true]);
  const left = async () => Object.values(await countRows(removed)).reduce((sum, count) => sum + count, 0);
  const all = await left();

  // Until this is over no process may take it over, and a lease may not be longer.
  renewal = setInterval(() => {
    void service.sql(`update redeliveries set lease_until = now() + interval '20 seconds'`).catch(() => {});
  }, 1_000);
  await service.sql(`update shippers set status = 'REMOVED' where shipper_id = $1`, [removed.shipperId]);
  await until('some of it is gone', async () => (await left()) < all - 500, patienceMs);
  service.process.kill('SIGKILL');
  await service.process.exited;
  expect(await left()).toBeGreaterThan(1_000);
  service.process = await startProcess(service.env);
  const url = service.process.url;

  await until('all of it is gone', async () => (await left()) === 0, patienceMs);
  expect(await countRows(removed)).toEqual(
    Object.fromEntries(Object.keys(before).map((table) => [table, 0])),
  );
  const remains = await findUnaudited([removed.shipperId, removedHook.webhookId, removed.userId]);
  expect(remains).toEqual([]);
  expect(await findInDatabase(service.sql, ['planted-user@example.com', 'PlantedHook'])).toEqual([]);
  clearInterval(renewal);
  expect(await countRows(other)).toEqual(othersBefore);
  const metrics = await metricsOf({ url });
  expect(metrics).toMatch(/parcelhook_removal_rows_total\{rows="events"\} [1-9]/);
  await until('the log says so', () => service.process.output().includes('shipper removed'));
  expect(crashTraces(service.process.output())).toEqual([]);
});

test('operations under way during a removal do no harm', async () => {
  const account = await registerAccount({ url: service.process.url }, 'late@example.com');
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const hook = await startHook(account);
  hook.receiver.reply = (_, response) => void released.then(() => response.end('late'));
  await placeOrder(account);
  await hook.receiver.waitFor(1);
  await service.sql(`update shippers set status = 'REMOVED' where shipper_id = $1`, [account.shipperId]);
  await until('nothing is owed', async () => {
    const [row] = await service.sql<{ owed: number }>(
      'select count(*)::int as owed from outbox where shipper_id = $1',
      [account.shipperId],
    );
    return row!.owed === 0;
  });
  const writes = Promise.all([placeOrder(account), placeOrder(account)]); // accepted before the removal was known
  release();
  await writes.catch(() => undefined);
  const row = 'select 1 from shippers where shipper_id = $1';
  const isGone = async () => (await service.sql(row, [account.shipperId])).length === 0;
  await until('the shipper is gone', isGone, patienceMs);
  expect(await findUnaudited([account.shipperId, hook.webhookId])).toEqual([]);
  expect(crashTraces(service.process.output())).toEqual([]);
  await hook.receiver.close();
});
