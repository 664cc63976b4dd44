import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { placeOrder, registerAccount, registerWebhook } from '../../support/client.js';
import { createDatabase, dropDatabase } from '../../support/database.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { startReceiver } from '../../support/receiver.js';
import { deployment } from '../../support/deployment.js';
import { until } from '../../support/until.js';

const adminUrl = process.env.TEST_DATABASE_URL ?? '';

describe('MIGRATION_DATABASE_URL', () => {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const [owner, service] = [`${name}_owner`, `${name}_service`];
  const running: RunningProcess[] = [];
  let database: string;

  beforeAll(async () => {
    await ask(adminUrl, `create role ${owner} login password 'o'; create role ${service} login password 's'`);
    database = await createDatabase(adminUrl, name, null);
  });
  afterAll(async () => {
    await Promise.all(running.map(stopProcess));
    await dropDatabase(adminUrl, name);
    await ask(adminUrl, `drop role ${owner}, ${service}`);
  });

  const as = (role: string, password: string) => {
    const url = new URL(database);
    [url.username, url.password] = [role, password];
    return url.toString();
  };
  const ask = async <Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const asService = (text: string) => ask(as(service, 's'), text);
  const start = async (env: Record<string, string>, role: string) => {
    const process = await startProcess(env, role);
    running.push(process);
    return process;
  };
  const stopAll = () => Promise.all(running.splice(0).map(stopProcess));
  const owned = () =>
    asService(`select relname from pg_class where pg_get_userbyid(relowner) = current_user
               union all select proname from pg_proc where pg_get_userbyid(proowner) = current_user
               union all select nspname from pg_namespace where pg_get_userbyid(nspowner) = current_user`);

  const queueIsOpen = async () =>
    (
      await asService(
        `select from pg_namespace where nspname = 'bullmq' and has_schema_privilege(oid, 'USAGE')`,
      )
    ).length === 1;

  const secrets = deployment('', { LOG_RETENTION: '3d' });
  const env = () => ({ ...secrets, DATABASE_URL: as(service, 's') });

  /** Tries everything from an order to its notification, and through the log. */
  const expectWhole = async (api: RunningProcess) => {
    const receiver = await startReceiver();
    const account = await registerAccount(api, `${randomBytes(4).toString('hex')}@example.com`);
    const { webhookId } = await registerWebhook(account, receiver.url);
    await placeOrder(account);
    await receiver.waitFor(1);
    await until('the log shows it', async () => {
      const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}&status=SUCCEEDED`);
      return (data.deliveries as unknown[]).length === 1;
    });
    await receiver.close();
  };

  test('objects made while the service owned its tables are taken over, and the service continues', async () => {
    await ask(adminUrl, `alter database ${name} owner to ${service}`);
    const settings = env();
    await expectWhole(await start(settings, 'all'));
    expect((await owned()).length).toBeGreaterThan(20);
    await ask(adminUrl, `grant ${service} to ${owner}`);
    // The old process runs beside the new one.
    const api = await start({ ...settings, MIGRATION_DATABASE_URL: as(owner, 'o') }, 'api');
    expect(await owned()).toEqual([]);
    await expectWhole(api);
    await expectWhole(running[0]!);
    await stopAll();
    await ask(adminUrl, `drop database ${name} with (force)`);
    await createDatabase(adminUrl, name, null);
    await ask(adminUrl, `revoke ${service} from ${owner}`);
  });

  test('migrations run under their own role; processes without it wait; the service works fully and owns nothing', async () => {
    await ask(adminUrl, `alter database ${name} owner to ${owner}`);
    const settings = env();
    const ofWorker = { ...settings, TOKEN_SECRET: '', OPERATOR_TOKEN: '' };
    const migrations = new pg.Client({ connectionString: database });
    await migrations.connect();
    await migrations.query(`select pg_advisory_lock(hashtext('parcelhook-migrations'))`); // blocks the migrations
    const starting = Promise.all([
      start(ofWorker, 'worker'), // a worker needs neither secret
      start({ ...settings, MIGRATION_DATABASE_URL: as(owner, 'o') }, 'api'),
    ]);
    try {
      await until('the queue is open before the migrations are run', queueIsOpen);
    } finally {
      await migrations.end();
      await starting;
    }
    const [, api] = await starting;
    await expectWhole(api);
    expect(await owned()).toEqual([]);
  });

  test.each([
    'alter table outbox add column more text',
    'drop table events',
    'truncate events',
    'create table own (n int)',
    `update migrations set name = 'x'`,
    'alter function drop_log_day(text) security invoker',
    `select drop_log_day('20200101; drop table events')`,
  ])('the service may not: %s', async (statement) => {
    await expect(asService(statement)).rejects.toMatchObject({
      code: expect.stringMatching(/^(42501|P0001)$/),
    });
  });

  test('it creates coming days of the log, and drops old ones', async () => {
    const days = (text: string) => `to_char((now() at time zone 'UTC')::date ${text}, 'YYYYMMDD')`;
    const partitions = async (day: string) =>
      (await asService(`select to_regclass('deliveries_' || ${day}) is not null as found`))[0]!.found;
    await asService(
      `select make_log_partitions(d, d) from (select (now() at time zone 'UTC')::date - 10 as d) day`,
    );
    expect(await partitions(days('- 10'))).toBe(true);
    const isDone = async () => !(await partitions(days('- 10'))) && (await partitions(days('+ 7')));
    await until(
      'the day is dropped, and the coming ones are there',
      async () => {
        const worker = await startProcess(env(), 'worker'); // retention runs once, soon after the start
        await until('retention runs', isDone, 5_000).catch(() => undefined);
        await stopProcess(worker);
        return isDone();
      },
      50_000,
    );
  });
});

test('MIGRATION_DATABASE_URL without DATABASE_URL is refused', async () => {
  const started = startProcess({ MIGRATION_DATABASE_URL: 'postgres://localhost/none' });
  await expect(started).rejects.toThrow(/MIGRATION_DATABASE_URL: requires DATABASE_URL/);
});
