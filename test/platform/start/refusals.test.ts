/** Engines that refuse what a process needs: it waits, says why, and goes on once somebody has put it right. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import pg from 'pg';
import { placeOrder, registerAccount, registerWebhook, request } from '../../support/client.js';
import { deployment, newFolder, type Folder } from '../../support/deployment.js';
import {
  operatorToken,
  startProcess,
  startServiceToBreak,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { setDefaults } from '../../support/hostile-defaults.js';
import { runProgram } from '../../support/program.js';
import { startReceiver } from '../../support/receiver.js';
import { freePort, redisProgram, startRedis, type RedisServer } from '../../support/redis.js';
import { until } from '../../support/until.js';
import { emptyDatabaseOfOwner, waitingForSchema, type OwnedDatabase } from '../../support/wrong-starts.js';

const server = process.env.TEST_DATABASE_URL ?? '';

type Checks = Record<string, string>;
const checksAt = async (url: string): Promise<Checks> => {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const answer = await request(`${url}/readyz`, { headers }).catch(() => null);
  return (answer?.body as { checks?: Checks } | undefined)?.checks ?? {};
};
const untilSaid = async (url: string, check: string, reason: RegExp) => {
  const said = new Set<string | undefined>();
  const isSaid = async () => {
    const text = (await checksAt(url))[check];
    said.add(text);
    return reason.test(text ?? '');
  };
  await until(`${check}: ${reason}`, isSaid, 20_000).catch((error: Error) => {
    throw new Error(`${error.message}; it said ${JSON.stringify([...said])}`);
  });
};
const untilReady = (url: string) =>
  until('ready', async () => (await request(`${url}/readyz`)).httpStatus === 200, 20_000);

const expectResponsive = async (url: string) => {
  for (let n = 0; n < 5; n += 1) {
    const startedAt = performance.now();
    expect((await request(`${url}/healthz`)).httpStatus).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  }
};

(redisProgram ? describe : describe.skip)('Redis', () => {
  let folder: Folder;
  let service: Service;
  let redis: RedisServer;
  let admin: Redis;
  beforeAll(async () => {
    folder = newFolder();
    redis = (await startRedis(folder.path))!;
    admin = new Redis(redis.url);
    service = await startServiceToBreak({ REDIS_URL: redis.url }, 'api');
    await admin.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '&*', '+@all', '-info');
    await admin.call('ACL', 'SETUSER', 'idle', 'on', '>secret', '~*', '&*', '+@all', '-@scripting');
  });
  afterAll(async () => {
    admin.disconnect();
    await service.stop();
    await redis.stop();
    folder.remove();
  });

  const urlWith = (change: (url: URL) => void) => {
    const url = new URL(redis.url);
    change(url);
    return url.href;
  };
  const as = (username: string, password: string) =>
    urlWith((url) => Object.assign(url, { username, password }));

  test.each<[string, () => string, string, RegExp]>([
    ['a user without INFO', () => as('blind', 'secret'), 'queue', /NOPERM.*'info'/],
    ['a user without scripts', () => as('idle', 'secret'), 'flow', /no job.*NOPERM/],
    ['a wrong password', () => as('blind', 'wrong'), 'queue', /not connected: WRONGPASS/],
    ['a database that is not there', () => `${redis.url}/99`, 'queue', /DB index is out of range/],
    [
      'TLS where there is none',
      () => redis.url.replace('redis:', 'rediss:'),
      'queue',
      /not connected over TLS: .*ETIMEDOUT/,
    ],
  ])(
    '%s makes a worker not ready, with the reason; it responds, and ends on SIGTERM',
    async (_, url, check, reason) => {
      const worker = await startProcess({ ...service.env, REDIS_URL: url() }, 'worker');
      try {
        await untilSaid(worker.url, check, reason);
        await expectResponsive(worker.url);
      } finally {
        expect(await stopProcess(worker)).toBe(0);
      }
      expect(worker.output()).toContain('"msg":"stopped"');
      expect(
        worker
          .output()
          .split('\n')
          .filter((line) => line.includes('"level":40')).length,
      ).toBeLessThan(30);
    },
  );

  test('a password that is missing is said, and a worker is ready once what was refused is allowed', async () => {
    await admin.call('ACL', 'SETUSER', 'default', 'resetpass', '>secret');
    const worker = await startProcess({ ...service.env, REDIS_URL: redis.url }, 'worker');
    try {
      await untilSaid(worker.url, 'queue', /not connected: NOAUTH/);
      await admin.call('ACL', 'SETUSER', 'default', 'nopass', '-info');
      await untilSaid(worker.url, 'queue', /NOPERM.*'info'/);
      await admin.call('ACL', 'SETUSER', 'default', '+info');
      await untilReady(worker.url);
    } finally {
      expect(await stopProcess(worker)).toBe(0);
    }
  });

  test('the commands that operating.md names are enough', async () => {
    const [, rights] = /^ACL SETUSER parcelhook (.*)$/m.exec(readFileSync('docs/operating.md', 'utf8'))!;
    const prefix = service.env.QUEUE_PREFIX!;
    await admin.call(
      'ACL',
      'SETUSER',
      'parcelhook',
      ...rights!.replaceAll('parcelhook-', `${prefix}-`).replaceAll('parcelhook:', `${prefix}:`).split(' '),
    );
    await admin.call('ACL', 'SETUSER', 'parcelhook', '>secret');
    await admin.call('ACL', 'LOG', 'RESET');
    const env = { ...service.env, REDIS_URL: as('parcelhook', 'secret') };
    const running = await Promise.all(['api', 'worker'].map((role) => startProcess(env, role)));
    const receiver = await startReceiver();
    try {
      const account = await registerAccount(running[0]!);
      await registerWebhook(account, receiver.url);
      await placeOrder(account);
      await receiver.waitFor(1);
      for (const { url } of running) await untilReady(url);
      expect((await checksAt(running[0]!.url)).queue).toBe('OK');
      expect((await fetch(`${running[1]!.url}/metrics`)).status).toBe(200);
    } finally {
      await Promise.all(running.map(stopProcess));
      await receiver.close();
    }
    expect(await admin.call('ACL', 'LOG')).toEqual([]);
  });
});

describe('PostgreSQL', () => {
  let database: OwnedDatabase;
  let roles: string[];
  const running: RunningProcess[] = [];
  beforeAll(async () => {
    database = await emptyDatabaseOfOwner(server);
    roles = [database.owner, database.service].map((url) => new URL(url).username);
    for (const role of roles) await setDefaults(server, 'hostile', role);
  });
  afterAll(async () => {
    await Promise.all(running.map(stopProcess));
    await database.drop();
  });

  const byOwner = async (text: string) => {
    const client = new pg.Client({ connectionString: database.owner, options: '-c search_path=public' });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };
  const secrets = deployment('');

  test('roles with defaults of their own: what each refuses is said, first the schema, then the queue, then the outbox; then it sends', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { ...secrets, DATABASE_URL: database.service, PORT: String(port) };
    const starting = startProcess(env, 'all');
    await untilSaid(
      url,
      'postgres',
      new RegExp(`^${waitingForSchema}. This role may not make it: 42501 permission denied`),
    );
    const stranger = (await request(`${url}/readyz`)).body as unknown as { checks: Checks };
    expect(stranger.checks).toEqual({ postgres: waitingForSchema });

    await byOwner(`create schema bullmq`);
    const urls = {
      DATABASE_URL: database.service,
      MIGRATION_DATABASE_URL: database.owner,
      REDIS_URL: 'redis://none',
    };
    expect(await runProgram(['migrate'], urls)).toMatchObject({ exit: 0, stderr: '' });
    await byOwner(`revoke insert on outbox from ${roles[1]}`);
    await untilSaid(url, 'queue', /permission denied/);
    expect(await runProgram(['migrate'], { ...urls, REDIS_URL: '' })).toMatchObject({ exit: 0, stderr: '' });
    await byOwner(`revoke insert on outbox from ${roles[1]}`);

    running.push(await starting);
    await untilSaid(url, 'orders', /would not become an attempt: .*permission denied for table outbox/);
    await byOwner(`grant insert on outbox to ${roles[1]}`);
    await untilReady(url);
    const receiver = await startReceiver();
    const account = await registerAccount({ url });
    await registerWebhook(account, receiver.url);
    await placeOrder(account);
    await receiver.waitFor(1);
    await receiver.close();
    const [client] = [new pg.Client({ connectionString: database.owner, options: '-c search_path=public' })];
    await client.connect();
    expect((await client.query(`select name from shippers where name = 'Rehearsal'`)).rows).toEqual([]);
    await client.end();
  });
});
