/** The dashboard Tenants on a real PostgreSQL: what it shows, and what its role may read. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrate.js';
import { createLogger } from '../../src/platform/telemetry/logger.js';
import {
  placeOrder,
  registerAccount,
  registerWebhook,
  sampleOrder,
  type Account,
} from '../support/client.js';
import { createDatabase, dropDatabase } from '../support/database.js';
import { codeBlocks } from '../support/project-files.js';
import { until } from '../support/until.js';
import { startServiceToInspect, type Service } from '../support/harness.js';
import { panels } from './dashboards.js';
import { inRepository } from './prometheus.js';

const role = 'parcelhook_dashboards';
const password = randomBytes(8).toString('hex');
const server = process.env.TEST_DATABASE_URL ?? '';

/** The script as psql runs it in the compose file. */
const script = () =>
  /<<'SQL'\n([^]*)\nSQL\n/
    .exec(readFileSync(inRepository('.postgres/dashboards-role.sh'), 'utf8'))![1]!
    .replace(/^\\getenv .*\n/, '')
    .replaceAll(":'password'", `'${password}'`);
/** The test's role owns the tables. */
const fromOperating = () =>
  codeBlocks('A role for dashboards', 'docs/operating.md')[0]!
    .code.replace("'…'", `'${password}'`)
    .replace('parcelhook_owner', 'current_user');

async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const asRole = (databaseUrl: string) => {
  const url = new URL(databaseUrl);
  [url.username, url.password] = [role, password];
  return url.toString();
};

/** System catalogues are left out. */
const rights = `
  with ours as (select oid, nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'),
  held as (
    select c.oid::regclass::text as name, case
             when relkind in ('r', 'p', 'v', 'm', 'f') then array[
               case when has_any_column_privilege('${role}', c.oid, 'SELECT') then 'read' end,
               case when has_any_column_privilege('${role}', c.oid, 'INSERT, UPDATE, REFERENCES')
                      or has_table_privilege('${role}', c.oid, 'DELETE, TRUNCATE, TRIGGER') then 'write' end]
             when relkind = 'S' and has_sequence_privilege('${role}', c.oid, 'USAGE, SELECT, UPDATE')
               then array['use'] end as verbs
      from pg_class c join ours n on n.oid = c.relnamespace)
  select verb || ' ' || name as "right" from held, unnest(verbs) as verb where verb is not null
  union all
  select 'call as another ' || p.oid::regprocedure from pg_proc p join ours n on n.oid = p.pronamespace
   where p.prosecdef and has_function_privilege('${role}', p.oid, 'EXECUTE')
  union all
  select 'make in ' || nspname from ours where has_schema_privilege('${role}', oid, 'CREATE')
  union all
  select 'be ' || rolname from pg_roles where rolname <> '${role}' and pg_has_role('${role}', oid, 'MEMBER')`;

describe('the dashboard Tenants', () => {
  const words = {
    email: 'recipient@personal.example',
    path: 'hidden-path',
    header: 'header-value',
    description: 'of whom it is',
    trackingId: 'OWN-NUMBER-7',
  };
  let service: Service;
  let account: Account;

  beforeAll(async () => {
    service = await startServiceToInspect();
    account = await registerAccount(service, words.email);
    const { webhookId } = await registerWebhook(account, `http://127.0.0.1:9/${words.path}`, {
      headers: { 'X-Own': words.header },
      description: words.description,
      status: 'PAUSED',
    });
    await placeOrder(account, words.trackingId);
    await until('its notification is owed', async () => (await service.sql('select from outbox')).length > 0);
    await service.sql(
      `insert into webhook_hours (webhook_id, hour, succeeded, failed, durations_ms, duration_counts)
       values ($1, date_trunc('hour', now()), 5, 3, '{}', '{}')`,
      [webhookId],
    );
    await ask(service.env.DATABASE_URL!, script());
  });
  afterAll(async () => {
    await service?.stop();
    await ask(server, `drop role if exists ${role}`);
  });

  const read = (text: string) => ask(asRole(service.env.DATABASE_URL!), text);

  test('shows what a shipper is owed, what failed and what it sent', async () => {
    expect(await read('select * from dashboards.tenants')).toEqual([
      {
        shipper_id: account.shipperId,
        status: 'ACTIVE',
        webhooks: 1,
        paused: 1,
        disabled: 0,
        circuits_open: 0,
        owed: 1,
        oldest_due_seconds: expect.any(Number),
        attempts_24h: 8,
        failed_24h: 3,
        orders_10m: 1,
      },
    ]);
  });

  test('has the shipper in the answer to each of its queries', async () => {
    const queries = panels().filter(({ dashboard }) => dashboard === 'Tenants');
    expect(queries.length).toBeGreaterThan(2);
    for (const { queries: own } of queries)
      for (const { sql } of own)
        expect(await read(sql!)).toEqual([expect.objectContaining({ Shipper: account.shipperId })]);
  });

  test('is made of ids, numbers and a status: of personal data and secrets there is nothing', async () => {
    const columns = await service.sql<{ column_name: string; data_type: string }>(
      `select column_name, data_type from information_schema.columns where table_schema = 'dashboards'`,
    );
    const texts = columns.filter(
      ({ data_type: type }) => !['uuid', 'integer', 'double precision'].includes(type),
    );
    expect(texts).toEqual([{ column_name: 'status', data_type: 'text' }]);

    const shown = JSON.stringify(await read('select * from dashboards.tenants'));
    const { recipientLocation, recipientInformation } = sampleOrder();
    const secrets = await service.sql('select secret, headers::text, target_address from webhooks');
    const personal = [
      ...Object.values(words),
      ...Object.values(recipientInformation),
      recipientLocation.street,
      account.accountKey,
      account.userId,
      ...secrets.flatMap((row) => Object.values(row) as string[]),
    ];
    expect(personal.filter((word) => shown.includes(word))).toEqual([]);
  });

  test('asks under a role that may read its view and do nothing else', async () => {
    expect(await service.sql(rights)).toEqual([{ right: 'read dashboards.tenants' }]);
    const relations = await service.sql<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'v') and n.nspname in ('public', 'bullmq')`,
    );
    expect(relations.length).toBeGreaterThan(20);
    for (const { name } of relations)
      await expect(read(`select * from ${name}`)).rejects.toMatchObject({ code: '42501' });
    for (const text of [
      'update dashboards.tenants set status = status',
      'select event_of_any_month(gen_random_uuid())',
      `select drop_log_day('20260101')`,
    ])
      await expect(read(`set default_transaction_read_only = off; ${text}`)).rejects.toMatchObject({
        code: expect.stringMatching(/^(42501|55000)$/),
      });
    await expect(read('create temp table t ()')).rejects.toMatchObject({ code: '25006' });
    expect(await read('show statement_timeout')).toEqual([{ statement_timeout: '5s' }]);
  });
});

describe('the role of the dashboard Tenants', () => {
  test.each([
    ['made with the database, before there is a schema', ['role', 'migrate']],
    ['made by docs/operating.md, after the migrations', ['migrate', 'operating']],
    ['made twice', ['migrate', 'role', 'role']],
  ])('%s, reads the view', async (_when, steps) => {
    const name = `t_${randomBytes(6).toString('hex')}`;
    const database = await createDatabase(server, name, null);
    try {
      for (const step of steps) {
        if (step === 'migrate') await migrate(database, createLogger('silent'));
        else await ask(database, step === 'role' ? script() : fromOperating());
      }
      expect(await ask(asRole(database), 'select * from dashboards.tenants')).toEqual([]);
      expect(await ask(database, rights)).toEqual([{ right: 'read dashboards.tenants' }]);
    } finally {
      await dropDatabase(server, name);
      await ask(server, `drop role if exists ${role}`);
    }
  });
});
