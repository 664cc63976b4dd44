/** PostgreSQL behind a real PgBouncer in transaction mode, which has fewer connections to it than a process opens. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { isTooSlow, createPool, type Pool } from '../../../src/platform/database/postgres.js';
import { takesNoSettings } from '../../../src/platform/database/connection.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { operator, registerAccount, registerWebhook, request } from '../../support/client.js';
import { createDatabase, dropDatabase } from '../../support/database.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/process.js';
import { runProgram } from '../../support/program.js';
import { startReceiver } from '../../support/receiver.js';
import { freePort } from '../../support/redis.js';
import { pgbouncerVersion, startPgbouncer, type Pgbouncer } from '../../support/pgbouncer.js';
import { crashTraces, deployment } from '../../support/deployment.js';
import { heardOf, placeOrders, repeated } from '../../support/load.js';
import { until } from '../../support/until.js';

const server = process.env.TEST_DATABASE_URL ?? '';
const redis = process.env.TEST_REDIS_URL ?? '';
const connections = 4;
/** The settings of docs/kubernetes/README.md, but for what is the test's own. */
const documented = (): Record<string, string> => {
  const [, ini] = /\[pgbouncer\]\n([^`]*)/.exec(readFileSync('docs/kubernetes/README.md', 'utf8'))!;
  const settings = [...ini!.matchAll(/^(\w+) = (.*)$/gm)].map(([, name, value]) => [name!, value!]);
  return Object.fromEntries(
    settings.filter(([name]) => !['default_pool_size', 'auth_file'].includes(name!)),
  ) as Record<string, string>;
};
const name = `t_${randomBytes(6).toString('hex')}`;

(pgbouncerVersion ? describe : describe.skip)('behind PgBouncer in transaction mode', () => {
  let pgbouncer: Pgbouncer;
  let database: string;
  beforeAll(async () => {
    database = await createDatabase(server, name, null);
    pgbouncer = await startPgbouncer(server, { connections, settings: documented() });
  });
  afterAll(async () => {
    await pgbouncer.stop();
    await dropDatabase(server, name);
  });

  (redis ? test : test.skip)(
    'the service migrates, takes orders, delivers in order, replays and goes on when PgBouncer reconnects',
    async () => {
      const receiver = await startReceiver();
      const running: RunningProcess[] = [];
      const env = deployment(pgbouncer.url(database), { DATABASE_POOLER: 'transaction', REDIS_URL: redis });
      try {
        const migrated = await runProgram(['migrate'], env);
        expect(migrated).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^Migrated: 0001/) });
        running.push(
          ...(await Promise.all(['api', 'worker', 'worker'].map((role) => startProcess(env, role)))),
        );
        const [api] = running as [RunningProcess];
        const account = await registerAccount(api);
        await registerWebhook(account, receiver.url);
        const trackingIds = await placeOrders(account, 30);
        await receiver.waitFor(30);
        const states = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];
        for (const [index, state] of states.entries()) {
          if (index === 2) await pgbouncer.console('reconnect');
          const events = trackingIds.map((trackingId) => ({ trackingId, state }));
          const { data } = await operator(api, '/events', { body: { events } });
          expect(data.results).toEqual(events.map(() => ({ eventId: expect.any(String) })));
        }
        await receiver.waitFor(30 * 5);
        for (const trackingId of trackingIds)
          expect(
            receiver.received
              .filter(({ notification }) => notification.tracking_id === trackingId)
              .map(({ headers }) => headers['parcelhook-sequence']),
          ).toEqual(['1', '2', '3', '4', '5']);
        expect(repeated(receiver.received)).toBe(0);
        const feed = await account.call('/v1/events?limit=250');
        expect(feed.data.events).toHaveLength(150);

        const late = await registerWebhook(account, `${receiver.url}/late`);
        const from = new Date(Date.now() - 3_600_000).toISOString();
        const replay = await account.call(`/v1/webhooks/${late.webhookId}/replay`, {
          body: { from, to: new Date().toISOString() },
        });
        expect(replay.httpStatus).toBe(202);
        await receiver.waitFor(30 * 5, ({ path }) => path.endsWith('/late'), 30_000);
        await until('the log shows it', async () => {
          const { data } = await account.call(`/v1/webhooks/${late.webhookId}`);
          return data.health.pendingCount === 0;
        });
        expect(heardOf(receiver.received, trackingIds)).toBe(30);

        const clients = await pgbouncer.console('show clients');
        expect(clients.filter((client) => client.database === name).length).toBeGreaterThan(connections);
        const servers = await pgbouncer.console('show servers');
        expect(servers.filter((one) => one.database === name).length).toBeLessThanOrEqual(connections);
        for (const process of running)
          await until(
            'it is ready',
            async () => (await request(`${process.url}/readyz`)).httpStatus === 200,
            20_000,
          );
        expect(await Promise.all(running.map(stopProcess))).toEqual([0, 0, 0]);
        for (const process of running) expect(crashTraces(process.output())).toEqual([]);
      } finally {
        for (const process of running) process.kill('SIGKILL');
        await receiver.close();
      }
    },
  );

  describe('a pool', () => {
    let pool: Pool;
    const settings = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle, current_setting('synchronous_commit') as commit,
      current_setting('plan_cache_mode') as plans, current_setting('enable_seqscan') as seqscan`;
    const options = {
      applicationName: 'test',
      maxConnections: 8,
      durable: false,
      statementTimeoutMs: 700,
      logger: createLogger('silent'),
    };
    beforeAll(() => {
      const connectionString = pgbouncer.url(database);
      pool = createPool({ ...options, connectionString, pooler: 'transaction' });
    });
    afterAll(() => pool.end());

    test('gives every statement the settings that it has on a connection of its own', async () => {
      const direct = createPool({ ...options, connectionString: database });
      const [expected] = await direct.query('settings', settings);
      await direct.end();
      expect(await pool.query('settings', settings)).toEqual([expected]);
      expect(await pool.transaction((tx) => tx.query('settings', settings))).toEqual([expected]);
      const both = await pool.together(
        (db) => db.query('settings', settings),
        (db) => db.query('more settings', settings),
      );
      expect(both).toEqual([
        { status: 'fulfilled', value: [expected] },
        { status: 'fulfilled', value: [expected] },
      ]);
    });

    test('leaves none of them behind on the connections of others', async () => {
      await Promise.all(Array.from({ length: 50 }, () => pool.query('settings', settings)));
      const other = new pg.Client({ connectionString: pgbouncer.url(database) });
      await other.connect();
      for (let connection = 0; connection < connections; connection += 1)
        expect((await other.query(settings)).rows).toEqual([
          { statement: '0', lock: '0', idle: '0', commit: 'on', plans: 'auto', seqscan: 'on' },
        ]);
      await other.end();
    });

    test('has PostgreSQL end a statement that takes too long', async () => {
      const tooLong = pool.query('too-long', 'select pg_sleep(5)');
      await expect(tooLong).rejects.toMatchObject({ status: 'UNAVAILABLE' });
      expect(await tooLong.catch(isTooSlow)).toBe(true);
    });

    test('runs the same statements on any connection, with values, and each commits by itself', async () => {
      await pool.query('', 'create table numbers (n int primary key)');
      const many = Array.from({ length: 40 }, (_, n) => n);
      await Promise.all(many.map((n) => pool.query('insert', 'insert into numbers values ($1)', [n])));
      await expect(pool.query('insert', 'insert into numbers values ($1)', [7])).rejects.toMatchObject({
        code: '23505',
      });
      const [first, second] = await pool.together(
        (db) => db.query('insert', 'insert into numbers values ($1)', [8]),
        (db) => db.query('count', 'select count(*)::int as n from numbers where n >= $1', [0]),
      );
      expect(first).toMatchObject({ status: 'rejected', reason: { code: '23505' } });
      expect(second).toEqual({ status: 'fulfilled', value: [{ n: 40 }] });
    });
  });

  test.each([
    ['refuses the settings of a connection', {}],
    [
      'drops them',
      {
        ignore_startup_parameters:
          'options, statement_timeout, lock_timeout, idle_in_transaction_session_timeout',
      },
    ],
  ])(
    'a process that was not told of a PgBouncer that %s says so, in the log and in /readyz',
    async (_, settings) => {
      const other = await startPgbouncer(server, { connections, settings });
      const port = await freePort();
      const env = deployment(other.url(database), { PORT: String(port), ...(redis && { REDIS_URL: redis }) });
      let stop: () => void = () => undefined;
      let logged = '';
      const ended = runProgram(['worker'], env, {
        stopWhen: new Promise<void>((resolve) => (stop = resolve)),
        onStdout: (text) => (logged = text),
      });
      try {
        await until('/readyz says why', async () => {
          const answer = await request(`http://127.0.0.1:${port}/readyz`).catch(() => null);
          const { checks } = (answer?.body ?? {}) as { checks?: Record<string, string> };
          return answer?.httpStatus === 503 && checks?.postgres === takesNoSettings;
        });
        const line = `"check":"postgres","reason":"${takesNoSettings}"`;
        await until('the log says why', () => logged.includes(line));
      } finally {
        stop();
        await ended;
        await other.stop();
      }
    },
  );
});

test.each([
  ['DATABASE_URL', {}],
  ['REDIS_URL', { DATABASE_URL: server }],
])('a pooler without %s is refused', async (missing, given) => {
  const { exit, stderr } = await runProgram(['worker'], {
    SECRETS_KEY: 's'.repeat(40),
    DATABASE_POOLER: 'transaction',
    ...given,
  });
  expect(exit).toBe(78);
  expect(stderr).toContain(`DATABASE_POOLER: transaction requires ${missing}`);
});
