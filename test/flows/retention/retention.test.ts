import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { dropExpiredDays, createPurge } from '../../../src/history/retention/retention.js';
import type { Pool } from '../../../src/platform/database/postgres.js';
import { placeOrder, registerAccount, type Account } from '../../support/client.js';
import { startProcess, startServiceToInspect, stopProcess, type Service } from '../../support/harness.js';
import { logger, openPool } from '../../support/core/world.js';
import { until } from '../../support/until.js';
import { deliveriesOf, startHook, untilDelivery, untilFound, type Hook } from '../../support/deliveries.js';

const retentionMs = 3 * 86_400_000;
let service: Service;
let db: Pool;
let account: Account;
let hook: Hook;
/** Its deliveries stay owed. */
let paused: Hook;

beforeAll(async () => {
  service = await startServiceToInspect({
    LOG_RETENTION: '3d',
    AUDIT_RETENTION: '30d',
    TIME_SCALE: '0.25',
  });
  db = openPool(service.env.DATABASE_URL!, 4);
  account = await registerAccount(service);
  hook = await startHook(account);
  paused = await startHook(account, { status: 'PAUSED', interests: ['NOTHING'] });
});
afterAll(async () => {
  await hook?.close();
  await paused?.close();
  await db?.end();
  await service?.stop();
});

/** One finished delivery of each status; one is owed unattempted, one awaits a retry, one lost its worker. */
async function makeOldDay(daysAgo: number): Promise<string> {
  const [{ day } = { day: '' }] = await service.sql<{ day: string }>(
    `select to_char((now() at time zone 'UTC')::date - $1::int, 'YYYYMMDD') as day`,
    [daysAgo],
  );
  await service.sql(`select make_log_partitions($1::date, $1::date)`, [day]);
  const id = (n: string) => `overlay(uuid_floor(($1::date + interval '1 hour') at time zone 'UTC')::text
    placing lpad((${n})::text, 12, '0') from 25)::uuid`;
  await service.sql(
    `insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count, completed_at)
     select $3, ${id('n')}, gen_random_uuid(), $2, 'CREATED', status, 1, now()
       from unnest(array['SUCCEEDED', 'FAILED', 'CANCELLED']) with ordinality as s (status, n)`,
    [day, hook.webhookId, account.shipperId],
  );
  await service.sql(
    `insert into outbox (shipper_id, delivery_id, event_id, webhook_id, sequence, state, status, due_at, lease_until,
                         attempt_count, failure_count)
     select $3, ${id('n + 3')}, gen_random_uuid(), $2, 1, 'CREATED', status,
            now() + case status when 'RETRY' then interval '1 day' else '0' end,
            case status when 'SENDING' then now() end, (n > 1)::int, (n = 2)::int
       from unnest(array['READY', 'RETRY', 'SENDING']) with ordinality as s (status, n)`,
    [day, paused.webhookId, account.shipperId],
  );
  await service.sql(
    `insert into attempts (shipper_id, delivery_id, number, trigger, started_at)
     select shipper_id, delivery_id, 1, 'SCHEDULED', now() from deliveries
      where delivery_id >= uuid_floor($1::date::timestamp at time zone 'UTC')
        and delivery_id < uuid_floor(($1::date + 1)::timestamp at time zone 'UTC')`,
    [day],
  );
  return day;
}

/** Resolves once the sweeper has taken over the deliveries of the killed worker. */
async function makeOldDays(...daysAgo: number[]): Promise<string[]> {
  const days: string[] = [];
  for (const ago of daysAgo) days.push(await makeOldDay(ago));
  await untilFound(async () =>
    (await Promise.all(days.map(owed))).flat().every((status) => status !== 'SENDING'),
  );
  return days;
}

const owed = async (day: string) =>
  (
    await service.sql<{ status: string }>(
      `select status from outbox
        where delivery_id >= uuid_floor($1::date::timestamp at time zone 'UTC')
          and delivery_id < uuid_floor(($1::date + 1)::timestamp at time zone 'UTC') order by delivery_id`,
      [day],
    )
  ).map(({ status }) => status);

const partitions = async (day: string) =>
  (
    await service.sql<{ relname: string }>(
      `select relname from pg_class where relname in ('deliveries_' || $1, 'attempts_' || $1) order by relname`,
      [day],
    )
  ).map(({ relname }) => relname);

const statuses = async (day: string) =>
  (await service.sql<{ status: string }>(`select status from deliveries_${day} order by delivery_id`)).map(
    ({ status }) => status,
  );

/** Reads in an open transaction; resolves with a function that ends it. */
async function startReading(day: string): Promise<() => Promise<void>> {
  const reader = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await reader.connect();
  await reader.query('begin');
  await reader.query(`select count(*) from deliveries_${day}`);
  return async () => {
    await reader.query('commit');
    await reader.end();
  };
}

const writeAuditLines = (lines: number, daysAgo: number) =>
  service.sql(
    `insert into audit (audit_id, at, action, outcome, actor_kind)
     select overlay(uuid_floor(at)::text placing lpad(n::text, 12, '0') from 25)::uuid, at, 'WEBHOOK_UPDATED', 'DONE', 'USER'
       from generate_series(1, $1::int) n, (select now() - $2::int * interval '1 day' as at) t`,
    [lines, daysAgo],
  );

const oldAuditLines = async () => {
  const [row] = await service.sql<{ gone: boolean; kept: number }>(
    `select count(*) filter (where at < now() - interval '30 days') = 0 as gone,
            count(*) filter (where at between now() - interval '30 days' and now() - interval '1 day')::int as kept
       from audit`,
  );
  return row!;
};

const deleted = async () => {
  const [row] = await service.sql<{ n: number }>(
    'select count(*)::int as n from webhooks where deleted_at is not null',
  );
  return row!.n;
};

/** Index statistics of webhooks; backends report them some seconds late. */
const indexUse = async () => {
  const rows = await service.sql<{ name: string; scans: string; rows: string }>(
    `select indexrelname as name, idx_scan as scans, idx_tup_read as rows from pg_stat_user_indexes
      where relname = 'webhooks'`,
  );
  return Object.fromEntries(
    rows.map(({ name, scans, rows: read }) => [name, { scans: Number(scans), rows: Number(read) }]),
  );
};

const makeDeleted = (count: number, age: string) =>
  service.sql(
    `insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede, headers,
                           description, secret, created_at, updated_at, deleted_at)
     select gen_random_uuid(), $1, '{*}', 'https://example.org/', 'PAUSED', 'NONE', false, '{}', '', '', now(), now(),
            now() - $3::interval
       from generate_series(1, $2) n`,
    [account.shipperId, count, age],
  );

/** Maintenance runs when a worker starts. */
async function untilMaintained(check: () => Promise<boolean>): Promise<void> {
  const start = () => startProcess(service.env, 'worker');
  const workers = await Promise.all([start(), start()]);
  try {
    await until('maintenance is over', check, 40_000);
  } finally {
    await Promise.all(workers.map(stopProcess));
  }
}

/** As two workers that start at once do. */
const dropExpiredTwice = () =>
  Promise.all([dropExpiredDays(db, retentionMs, logger), dropExpiredDays(db, retentionMs, logger)]);

/** It is read during the first maintenance. */
let inUse: { day: string; endReading: () => Promise<void> };
/** An attempt of the last day is under way during the second. */
let underWay: { older: string; day: string };

test('days before the retention are dropped, later days and the tracking history stay', async () => {
  const trackingId = await placeOrder(account);
  await hook.receiver.waitFor(1);
  const [read, old, expired, kept] = (await makeOldDays(12, 10, 4, 2)) as [string, string, string, string];
  inUse = { day: read, endReading: await startReading(read) };
  await writeAuditLines(2_500, 31);
  await writeAuditLines(3, 29);
  expect(await deliveriesOf(account, hook.webhookId)).toHaveLength(1); // deliveries without an event are not shown
  await makeDeleted(1, '2 hours');
  await untilMaintained(
    async () =>
      (await partitions(expired)).length === 0 &&
      (await partitions(old)).length === 0 &&
      (await oldAuditLines()).gone &&
      (await deleted()) === 0,
  );
  expect((await oldAuditLines()).kept).toBe(3);
  await expect(service.sql('delete from audit')).rejects.toThrow('append-only');
  expect(await partitions(kept)).toEqual([`attempts_${kept}`, `deliveries_${kept}`]);
  expect(await statuses(kept)).toEqual(['SUCCEEDED', 'FAILED', 'CANCELLED']);
  expect(await owed(kept)).toEqual(['READY', 'RETRY', 'READY']);
  expect((await account.call(`/v1/shipment-tracking/${trackingId}`)).data.history).toHaveLength(1);
  expect(await deliveriesOf(account, hook.webhookId)).toHaveLength(1);
});

test('a day in use is settled, skipped without delaying anything, and dropped the next time', async () => {
  const { day, endReading } = inUse;
  expect(await owed(day)).toEqual([]);
  const logged = await service.sql(`select status, reason from deliveries_${day} order by delivery_id`);
  expect(logged).toEqual([
    ...['SUCCEEDED', 'FAILED', 'CANCELLED'].map((status) => ({ status, reason: null })),
    ...Array(3).fill({ status: 'CANCELLED', reason: 'EXPIRED' }),
  ]);
  const before = hook.receiver.received.length;
  await placeOrder(account);
  await hook.receiver.waitFor(before + 1);
  expect(await partitions(day)).toHaveLength(2);
  await endReading();
  const [older, last] = (await makeOldDays(11, 10)) as [string, string];
  underWay = { older, day: last };
  await service.sql(
    `update outbox set status = 'SENDING', lease_until = now() + interval '1 hour'
      where delivery_id = (
        select delivery_id from outbox where delivery_id < uuid_floor(now() - interval '9 days')
         order by delivery_id desc limit 1)`,
  );
  await dropExpiredTwice();
  expect([...(await partitions(day)), ...(await partitions(older))]).toEqual([]);
});

test('a day stays while an attempt owed since then is under way', async () => {
  const { older, day } = underWay;
  expect(await partitions(older)).toEqual([]);
  expect(await owed(day)).toEqual(['SENDING']);
  expect(await partitions(day)).toHaveLength(2);
  await service.sql(`update outbox set lease_until = now() where status = 'SENDING'`);
  await untilFound(async () => (await owed(day))[0] === 'READY');
  await dropExpiredTwice();
  expect(await partitions(day)).toEqual([]);
});

test('a process that starts with an old empty log makes no partition for it', async () => {
  const [row] = await service.sql<{ oldest: string }>(
    `select min(right(c.relname, 8)) as oldest from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'deliveries'::regclass`,
  );
  const days = (Date.now() - Date.parse(row!.oldest.replace(/(....)(..)(..)/, '$1-$2-$3'))) / 86_400_000;
  expect(days).toBeLessThan(4);
});

test('partitions are made while a long transaction reads the log, without delaying anything', async () => {
  const reader = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await reader.connect();
  await reader.query('begin');
  await reader.query('select count(*) from deliveries, attempts');
  const day = `(now() at time zone 'UTC')::date + 20`;
  await service.sql(
    `set lock_timeout = '2s'; select make_log_partitions(${day}, ${day}); reset lock_timeout`,
  );
  const made = await service.sql(`select to_regclass('attempts_' || to_char(${day}, 'YYYYMMDD')) as name`);
  expect(made).toEqual([{ name: expect.stringMatching(/^attempts_\d{8}$/) }]);
  await reader.query('commit');
  await reader.end();
});

test('20,000 deleted webhooks make neither the log nor an order slower, and are purged when nothing refers to them', async () => {
  account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['CREATED'] });
  const mentioned = await startHook(account, { interests: ['CREATED'] });
  await placeOrder(account);
  const [delivery] = await untilFound(async () => {
    const found = await deliveriesOf(account, mentioned.webhookId);
    return found.length === 1 && found;
  });
  await untilDelivery(account, delivery!.deliveryId, ({ status }) => status === 'SUCCEEDED');
  await mentioned.close();
  await service.sql(
    `update webhooks set deleted_at = now() - interval '2 hours' where deleted_at is not null`,
  );

  await makeDeleted(20_000, '2 hours');
  await makeDeleted(700, '10 minutes'); // recent operations may still owe them something
  for (const path of ['/v1/deliveries', '/v1/webhooks', `/v1/deliveries/${delivery!.deliveryId}`])
    for (let n = 0; n < 10; n += 1) expect((await account.call(path)).httpStatus).toBe(200);
  await placeOrder(account);
  await untilFound(async () => (await deliveriesOf(account, hook.webhookId)).length === 2);

  expect(await deleted()).toBe(20_701);
  await service.sql(
    `delete from webhooks where webhook_id in (
    select webhook_id from webhooks where deleted_at < now() - interval '1 hour' and webhook_id <> $1 limit 19400)`,
    [mentioned.webhookId],
  ); // shortens the walk
  const purge = createPurge(db, logger);
  while (await purge());
  expect(await deleted()).toBe(701);
  // Webhooks in the log are still shown with their address.
  expect(await deliveriesOf(account, mentioned.webhookId)).toMatchObject([
    { deliveryId: delivery!.deliveryId },
  ]);
  await service.sql('delete from deliveries where webhook_id = $1', [mentioned.webhookId]);
  const unfolded = 'select 1 from attempt_counts where webhook_id = $1';
  await untilFound(async () => (await service.sql(unfolded, [mentioned.webhookId])).length === 0);
  while (await purge());
  expect(await deleted()).toBe(700);
  await hook.close();
  const use = await untilFound(async () => {
    const found = await indexUse();
    return found.webhooks_of_shipper!.scans > 30 && found;
  });
  expect(use.webhooks_of_shipper!.rows).toBeLessThan(1_000);
}, 120_000);
