import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/platform/embedded/index.js';
import { createPool } from '../../../src/platform/database/postgres.js';
import { newId } from '../../../src/platform/ids.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import {
  operatorToken,
  queue,
  startProcess,
  stopProcess,
  type RunningProcess,
} from '../../support/harness.js';
import { createDatabase, dropDatabase, templateDatabase } from '../../support/database.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { allDeliveries } from '../../support/deliveries.js';
import { crashTraces, deployment, newFolder, type Folder } from '../../support/deployment.js';
import { heardOf, repeated, startLoad } from '../../support/load.js';
import { inSequence, until } from '../../support/until.js';
import { findByIdempotencyKey } from '../../../src/shipments/store.js';
import { addPlantedOrder } from '../../support/core/erasures.js';
import { runOperator } from '../../platform/run-operator.js';

const redisUrl = process.env.TEST_REDIS_URL ?? '';
const logger = createLogger('silent');
let folder: Folder;
let postgres: EmbeddedPostgres;
let databases = 0;

const startPostgres = async () => {
  postgres = await startEmbeddedPostgres({ dataDir: folder.path, logger });
};

/** It ends at once, without a restart. */
const crashPostgres = async () => {
  const pid = Number(readFileSync(join(folder.path, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  process.kill(pid, 'SIGQUIT');
  await postgres.stop();
};

beforeAll(async () => {
  folder = newFolder();
  await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  folder.remove();
});

interface Own {
  databaseUrl: string;
  env: Record<string, string>;
  service: RunningProcess;
  account: Account;
  receiver: Receiver;
}

const withService = async (databaseUrl: string, run: (own: Own) => Promise<void>) => {
  const env = deployment(databaseUrl, queue === 'redis' ? { REDIS_URL: redisUrl } : {});
  const receiver = await startReceiver();
  const service = await startProcess(env);
  let exit;
  try {
    const account = await registerAccount(service);
    await registerWebhook(account, receiver.url);
    await run({ databaseUrl, env, service, account, receiver });
  } finally {
    exit = await stopProcess(service);
    await receiver.close();
  }
  expect(exit).toBe(0);
  expect(crashTraces(service.output())).toEqual([]);
};
const newName = () => `away_${(databases += 1)}`;
/** The server may be crashed: one test at a time. */
const onOwnServer = (run: (own: Own) => Promise<void>) => async () =>
  withService(await createDatabase(postgres.superuserConnectionString, newName(), null), run);
/** Runs tests that affect one database only. */
const onSharedServer = (run: (own: Own) => Promise<void>) => async () => {
  const server = process.env.TEST_DATABASE_URL ?? '';
  const name = newName();
  try {
    await withService(await createDatabase(server, name, templateDatabase), run);
  } finally {
    await dropDatabase(server, name);
  }
};
const next = inSequence();

const withClient = async <T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};
const untilDelivered = ({ received }: Receiver, trackingIds: string[], timeoutMs = 30_000) =>
  until('all', () => heardOf(received, trackingIds) === trackingIds.length, timeoutMs);

/** Those that PostgreSQL has, in their order. */
const partsOfStatus = [
  ...['processes', 'backlog', 'lag', 'uncalled', 'storedBytes'],
  ...['openCircuits', 'circuits', 'clocks', 'replays', 'postgres'],
];
/** As the API has it, and as people see it. */
async function statusOf({ url }: RunningProcess) {
  const startedAt = performance.now();
  const env = { PARCELHOOK_URL: url, OPERATOR_TOKEN: operatorToken };
  const [{ httpStatus, data }, { code, stdout: text }] = await Promise.all([
    operator({ url }, '/status'),
    runOperator(['status'], env),
  ]);
  expect({ httpStatus, code }).toEqual({ httpStatus: 200, code: 0 });
  return { data, text, tookMs: performance.now() - startedAt };
}

test(
  'while it is down nothing is accepted, and the status says so; afterwards everything continues within 10 s',
  onOwnServer(async ({ databaseUrl, service, account, receiver }) => {
    const load = startLoad(() => account, 20);
    await receiver.waitFor(20);
    await crashPostgres();
    await sleep(200); // orders under way at the crash are in doubt
    const before = load.responses.length;
    const status = await statusOf(service);
    await sleep(Math.max(0, 3_000 - status.tookMs));
    const away = load.responses.slice(before);
    await startPostgres();
    const backAt = Date.now();
    await until('accepting', () => load.responses.at(-1)?.httpStatus === 201, 10_000);
    const acceptingMs = Date.now() - backAt;
    const seen = receiver.received.length;
    await receiver.waitFor(seen + 20, undefined, 10_000);
    const deliveringMs = Date.now() - backAt;
    await load.stop();
    await untilDelivered(receiver, load.accepted);

    const durations = away.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
    const slowest = durations.at(-1)!;
    console.info(
      `${away.length} responses while down, slowest ${slowest.toFixed(0)} ms; after it was back ` +
        `accepting in ${acceptingMs} ms, delivering in ${deliveringMs} ms`,
    );
    expect(status.data.versions).toMatchObject({ postgres: null });
    expect(Object.keys(status.data.unread)).toEqual(partsOfStatus);
    expect(status.text).toMatch(/^Not read\n {2}processes +\S.*ECONNREFUSED/);
    expect(new Set(away.map(({ httpStatus }) => httpStatus))).toEqual(new Set([503]));
    expect(away.every(({ retryAfter }) => retryAfter !== null)).toBe(true);
    expect(slowest).toBeLessThan(3_000);
    expect(durations[Math.floor(durations.length * 0.95)]).toBeLessThan(1_200); // the machine may stall briefly
    // Accepted means committed; orders in doubt at the crash may be present too.
    const inDoubt = load.responses.filter(({ httpStatus }) => httpStatus !== 201).length - away.length;
    const [row] = await withClient(
      databaseUrl,
      async (client) => (await client.query<{ n: number }>('select count(*)::int as n from shipments')).rows,
    );
    expect(row!.n).toBeGreaterThanOrEqual(load.accepted.length);
    expect(row!.n).toBeLessThanOrEqual(load.accepted.length + inDoubt);
  }),
);

/** Crashes PostgreSQL right after `work`, when only commits are on disk, and expects the one order of `work`. */
async function expectOnDisk(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  await withClient(postgres.superuserConnectionString, async (client) => {
    await client.query(`alter system set wal_writer_delay = '10s'`);
    await client.query('select pg_reload_conf()');
  });
  await work();
  await crashPostgres();
  await startPostgres();
  const read = (client: pg.Client) => client.query('select from shipments');
  expect((await withClient(databaseUrl, read)).rowCount).toBe(1);
}

test.each([
  ['as is its creation', 'stored_bytes'],
  ['even if its creation waits', 'stored_bytes, shipment_progress'],
])('an order is on disk before its response, %s', async (_, tables) =>
  onOwnServer(({ databaseUrl, account }) =>
    withClient(databaseUrl, async (client) => {
      await client.query(`begin; lock table ${tables}`); // the count of bytes would be a commit as well
      await expectOnDisk(databaseUrl, async () => void (await placeOrder(account)));
    }),
  )(),
);

test(
  'an order that a repeated request finds is on disk',
  onOwnServer(async ({ databaseUrl }) => {
    const [statementTimeoutMs, applicationName] = [2_000, 'test'];
    const limits = { maxConnections: 2, durable: true, statementTimeoutMs, applicationName };
    const db = createPool({ connectionString: databaseUrl, logger, ...limits });
    const shipperId = newId();
    await expectOnDisk(databaseUrl, async () => {
      const shipmentId = await addPlantedOrder({ db, shipperId }, newId(), false);
      expect(await findByIdempotencyKey(db, shipperId, shipmentId)).toMatchObject({ shipmentId });
    });
    await db.end();
  }),
);

test.concurrent(
  'down for longer than a lease during attempts: each is recorded afterwards, and only attempts in flight are repeated',
  onOwnServer(async ({ databaseUrl, env, account, receiver }) => {
    const second = await startProcess(env, 'worker');
    receiver.reply = () => ({ delayMs: 2_500 });
    await Promise.all(Array.from({ length: 5 }, () => placeOrder(account)));
    await receiver.waitFor(5);
    await crashPostgres(); // claims this recent are lost, because they are not flushed to disk
    await sleep(11_000);
    await startPostgres();
    const rows = () =>
      withClient(
        databaseUrl,
        async (client) =>
          (await client.query(`select status, count(*)::int as n from ${allDeliveries} group by status`))
            .rows,
      );
    const backAt = Date.now();
    await until('settled', async () => (await rows()).every(({ status }) => status === 'SUCCEEDED'), 20_000);
    const twice = repeated(receiver.received);
    console.info(`settled ${Date.now() - backAt} ms after it was back, ${twice} sent twice`);
    expect((await rows()).reduce((sum, { n }) => sum + Number(n), 0)).toBeGreaterThanOrEqual(5);
    expect(receiver.received.length).toBe(5 + twice);
    expect(twice).toBeLessThanOrEqual(5);
    expect(await stopProcess(second)).toBe(0);
    expect(crashTraces(second.output())).toEqual([]);
  }),
);

test.concurrent(
  'repeatedly terminated connections: no crash, and everything accepted is delivered',
  next(
    onSharedServer(async ({ databaseUrl, account, receiver }) => {
      const load = startLoad(() => account, 20);
      await receiver.waitFor(20);
      const terminated = await withClient(databaseUrl, async (client) => {
        let count = 0;
        for (let time = 0; time < 8; time += 1) {
          const ended = await client.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
          );
          count += ended.rowCount ?? 0;
          await sleep(250);
        }
        return count;
      });
      expect(terminated).toBeGreaterThan(20);
      const last = await until('accepting', () => load.responses.at(-1)?.httpStatus === 201, 10_000);
      await load.stop();
      const tookMs = await untilDelivered(receiver, load.accepted);
      const refused = load.responses.filter(({ httpStatus }) => httpStatus !== 201);
      console.info(
        `${refused.length} of ${load.responses.length} orders refused, accepting after ${last} ms, ` +
          `all delivered after ${tookMs} ms`,
      );
      expect(refused.filter(({ httpStatus }) => httpStatus !== 503)).toEqual([]);
      expect(load.accepted.length).toBeGreaterThan(load.responses.length / 2);
    }),
  ),
);

test.concurrent(
  'a hanging check: any number of /readyz requests wait for one check, and connections stay free',
  next(
    onSharedServer(async ({ databaseUrl, service, account }) => {
      const ready = () => fetch(`${service.url}/readyz`);
      await until('ready', async () => (await ready()).ok);
      await withClient(databaseUrl, async (client) => {
        await client.query('begin; lock table migrations in access exclusive mode');
        // Databases of one template have the same table ids: another test may do the same on this server.
        const checking = `select from pg_locks l join pg_database d on d.oid = l.database
          where relation = 'migrations'::regclass and not granted and datname = current_database()`;
        await until('checked', async () => (await client.query(checking)).rowCount! > 0);
        const asked = Array.from({ length: 60 }, ready);
        await sleep(100);
        expect((await account.call('/v1/webhooks')).httpStatus).toBe(200);
        expect((await client.query(checking)).rowCount).toBe(1);
        for (const response of await Promise.all(asked)) expect(response.status).toBe(503);
        await client.query('commit');
      });
    }),
  ),
);

test.concurrent(
  'a locked table: every response within 3 s, 503 if necessary, and normal operation afterwards',
  next(
    onSharedServer(async ({ databaseUrl, service, account, receiver }) => {
      const trackingId = await placeOrder(account);
      await receiver.waitFor(1);
      const timed = async (call: Promise<{ httpStatus: number }>) => {
        const startedAt = performance.now();
        const { httpStatus } = await call;
        return { httpStatus, durationMs: performance.now() - startedAt };
      };
      const responses = await withClient(databaseUrl, async (client) => {
        await client.query('begin');
        await client.query('lock table shipments, outbox, deliveries in access exclusive mode');
        const requests = [];
        for (let time = 0; time < 12; time += 1) {
          requests.push(
            timed(account.call('/v1/shipments', { body: sampleOrder() })),
            timed(account.call('/v1/deliveries')),
            timed(operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } })),
          );
          await sleep(200);
        }
        const responses = await Promise.all(requests);
        await client.query('commit');
        return responses;
      });
      const slowest = Math.max(...responses.map(({ durationMs }) => durationMs));
      console.info(`slowest response while tables were locked ${slowest.toFixed(0)} ms`);
      expect(new Set(responses.map(({ httpStatus }) => httpStatus))).toEqual(new Set([503]));
      expect(slowest).toBeLessThan(3_200);

      const after = await placeOrder(account);
      await untilDelivered(receiver, [trackingId, after]);
      expect(repeated(receiver.received)).toBe(0);
    }),
  ),
);

test.concurrent(
  'a status of which every part hangs comes within 10 s, and names each',
  next(
    onSharedServer(async ({ databaseUrl, service }) => {
      // Each by a client of its own: the service may hold one and wait for another.
      const tables = [
        'processes',
        'outbox',
        'webhooks',
        'stored_bytes',
        'circuits',
        'wrong_clocks',
        'replays',
      ];
      const clients = tables.map(() => new pg.Client({ connectionString: databaseUrl }));
      const lock = async (client: pg.Client, at: number) => {
        await client.connect();
        await client.query(`begin; lock table ${tables[at]} in access exclusive mode`);
      };
      await Promise.all(clients.map(lock));
      const { data, text, tookMs } = await statusOf(service);
      await Promise.all(clients.map((client) => client.end()));
      console.info(`status while all was locked: ${tookMs.toFixed(0)} ms`);
      expect(tookMs).toBeLessThan(10_000);
      expect(Object.keys(data.unread)).toEqual(partsOfStatus);
      expect(data.unread).toMatchObject({
        storedBytes: 'it took too long',
        replays: 'the parts before it took too long',
      });
      expect(text).toMatch(/^ {2}replays +the parts before it took too long$/m);
    }),
  ),
);
