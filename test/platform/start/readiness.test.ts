import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { requireServerVersion } from '../../../src/platform/database/migrate.js';
import { basic, placeOrder, registerAccount, request } from '../../support/client.js';
import { createDatabase, dropDatabase } from '../../support/database.js';
import {
  operatorToken,
  startProcess,
  startServiceToBreak,
  stopProcess,
  type Service,
} from '../../support/harness.js';
import { freePort, redisProgram, startRedis, type RedisServer } from '../../support/redis.js';
import { crashTraces, deployment, newFolder, type Folder } from '../../support/deployment.js';
import { inSequence, until } from '../../support/until.js';

async function withService(
  { role, env }: { role?: string | undefined; env?: Record<string, string> },
  run: (service: Service) => Promise<void>,
): Promise<void> {
  const service = await startServiceToBreak(env, role);
  try {
    await run(service);
  } finally {
    await service.stop();
  }
}

const byOperator = { authorization: `Bearer ${operatorToken}` };
/** The response that the operator gets by default. */
const readyz = async (url: string, headers: Record<string, string> = byOperator) => {
  const { httpStatus, body } = await request(`${url}/readyz`, { headers });
  return { httpStatus, ...(body as unknown as { status: string; checks: Record<string, string> }) };
};
const untilReady = (url: string, ready: boolean) =>
  until(
    ready ? 'ready' : 'not ready',
    async () => (await readyz(url)).status === (ready ? 'OK' : 'UNAVAILABLE'),
  );
const untilQueueIs = (ok: boolean, url: string) =>
  until(`queue ok: ${ok}`, async () => ((await readyz(url)).checks.queue === 'OK') === ok);

/** Many times, so that a line per check would show. */
async function linesOf(output: () => string, url: string, check: string): Promise<string[]> {
  for (let time = 0; time < 10; time += 1) await readyz(url);
  return output()
    .split('\n')
    .filter((line) => line.includes('"msg":"health check') && line.includes(`"check":"${check}"`));
}

describe('a schema that does not fit', () => {
  const next = inSequence();

  test.concurrent(
    'that lacks a migration makes every role not ready, is reported in one line, and is ready again once it is migrated',
    next(() =>
      withService({}, async (service) => {
        await untilReady(service.url, true);
        const [newest] = await service.sql<{ name: string; sha256: string }>(
          'delete from migrations where name = (select max(name) from migrations) returning name, sha256',
        );
        await untilReady(service.url, false);
        const failing = await readyz(service.url);
        expect(failing).toMatchObject({ httpStatus: 503, status: 'UNAVAILABLE', checks: { queue: 'OK' } });
        expect(failing.checks.postgres).toBe(`the schema lacks ${newest!.name}`);
        for (const authorization of ['', 'Bearer of-somebody-else-altogether']) {
          const { checks } = await readyz(service.url, { authorization });
          expect(checks).toEqual({ ...failing.checks, postgres: 'PostgreSQL cannot be used' });
        }
        const lines = await linesOf(service.process.output, service.url, 'postgres');
        expect(lines).toHaveLength(1);
        expect(lines[0]).toContain(newest!.name);

        await service.sql('insert into migrations (name, sha256) values ($1, $2)', [
          newest!.name,
          newest!.sha256,
        ]);
        await untilReady(service.url, true);
        expect(await readyz(service.url)).toMatchObject({ httpStatus: 200, checks: { postgres: 'OK' } });
        expect(await linesOf(service.process.output, service.url, 'postgres')).toHaveLength(2);
      }),
    ),
  );

  test.concurrent(
    'that is newer than the program is accepted: in a rolling upgrade old processes continue, and can restart',
    next(() =>
      withService({}, async (service) => {
        await service.sql("insert into migrations (name, sha256) values ('9999-of-a-later-version', 'ab12')");
        await untilReady(service.url, true);
        await stopProcess(service.process);
        service.process = await startProcess(service.env);
        await untilReady(service.process.url, true);
        expect(await readyz(service.process.url)).toMatchObject({
          httpStatus: 200,
          checks: { postgres: 'OK' },
        });
        await placeOrder(await registerAccount(service.process));
      }),
    ),
  );

  test.concurrent(
    'that cannot be migrated is waited for: /readyz states the reason, and the start continues later',
    async () => {
      const server = process.env.TEST_DATABASE_URL ?? '';
      const name = 't_readiness';
      await dropDatabase(server, name);
      const databaseUrl = await createDatabase(server, name, null);
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query('create table shippers (of_somebody_else int)');
      const port = await freePort();
      const starting = startProcess(deployment(databaseUrl, { PORT: String(port) }));
      try {
        const url = `http://127.0.0.1:${port}`;
        await until('listening', () =>
          readyz(url).then(
            ({ checks }) => !!checks.postgres,
            () => false,
          ),
        );
        const { httpStatus, checks } = await readyz(url);
        expect({ httpStatus, checks }).toEqual({
          httpStatus: 503,
          checks: { postgres: expect.stringContaining('relation "shippers" already exists') },
        });
        expect((await request(`${url}/healthz`)).httpStatus).toBe(200);
        const login = await request(`${url}/v1/login?key=k`, { headers: { authorization: basic('a', 'b') } });
        expect({ httpStatus: login.httpStatus, status: login.body.status }).toEqual({
          httpStatus: 503,
          status: 'UNAVAILABLE',
        });
        expect(login.headers.get('retry-after')).toBe('1');

        await client.query('drop table shippers');
        const running = await starting;
        await untilReady(url, true);
        const lines = await linesOf(running.output, url, 'postgres');
        expect(lines.map((line) => /passes again/.test(line))).toEqual([false, true]);
        await placeOrder(await registerAccount(running));
      } finally {
        await client.end();
        const running = await starting;
        expect(await stopProcess(running)).toBe(0);
        expect(crashTraces(running.output())).toEqual([]);
        await dropDatabase(server, name);
      }
    },
  );
});

test.each([
  [140_012, /15 or newer is required, this server is 14/],
  [90_624, /this server is 9/],
])('PostgreSQL %i is refused and named', (version, reason) => {
  expect(() => requireServerVersion(version)).toThrow(reason);
});

test.each([150_000, 180_004])('PostgreSQL %i is accepted', (version) => {
  expect(() => requireServerVersion(version)).not.toThrow();
});

(redisProgram ? describe : describe.skip)('Redis', () => {
  const next = inSequence();
  let folder: Folder;
  beforeAll(() => {
    folder = newFolder();
  });
  afterAll(() => folder.remove());

  const withRedis = async (
    options: { role?: string; env?: Record<string, string>; settings?: string[] },
    run: (service: Service, redis: RedisServer) => Promise<void>,
  ) => {
    const { role, env, settings } = options;
    const redis = (await startRedis(folder.path, undefined, settings))!;
    try {
      await withService({ role, env: { REDIS_URL: redis.url, ...env } }, (service) => run(service, redis));
    } finally {
      await redis.stop();
    }
  };

  test.concurrent(
    'that may evict jobs makes a worker not ready, an API reports it; one line each, and both recover once it is fixed',
    next(() =>
      withRedis({ role: 'api' }, async (service, redis) => {
        const worker = await startProcess(service.env, 'worker');
        const client = new Redis(redis.url);
        try {
          await untilReady(worker.url, true);
          await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
          for (const url of [worker.url, service.url]) await untilQueueIs(false, url);
          const reason = expect.stringContaining(
            'its maxmemory-policy is allkeys-lru and must be noeviction',
          );
          expect(await readyz(worker.url)).toMatchObject({ httpStatus: 503, checks: { queue: reason } });
          expect(await readyz(service.url)).toMatchObject({ httpStatus: 200, checks: { queue: reason } });
          for (const one of [worker, service.process])
            expect(await linesOf(one.output, one.url, 'queue')).toEqual([reason]);

          await client.config('SET', 'maxmemory-policy', 'noeviction');
          for (const one of [worker, service.process]) {
            await untilQueueIs(true, one.url);
            expect(await readyz(one.url)).toMatchObject({ httpStatus: 200, checks: { queue: 'OK' } });
            const lines = await linesOf(one.output, one.url, 'queue');
            expect(lines.map((line) => /passes again/.test(line))).toEqual([false, true]);
          }
        } finally {
          client.disconnect();
          await stopProcess(worker);
        }
      }),
    ),
  );

  test.concurrent(
    'that hands out no jobs keeps a new worker not ready from its first answer on, until it does',
    next(() =>
      withRedis({ role: 'api', env: { QUEUE_PREFIX: 'p' } }, async (service, redis) => {
        const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
        const queue = new Queue('deliver-0', { connection, prefix: '{p-deliver-0}' });
        await queue.pause();
        const worker = await startProcess(service.env, 'worker');
        try {
          const reason = 'no job, not even a canary, arrived from deliver-0 since the start';
          for (let time = 0; time < 3; time += 1) {
            const { httpStatus, checks } = await readyz(worker.url);
            expect(httpStatus).toBe(503);
            if (!checks.start) expect(checks).toMatchObject({ queue: 'OK', flow: reason });
          }
          await queue.resume();
          await untilReady(worker.url, true);
        } finally {
          await stopProcess(worker);
          await queue.close();
          connection.disconnect();
        }
      }),
    ),
  );

  test.concurrent(
    'that is misconfigured at the start is logged without a request',
    next(() => {
      const settings = ['--maxmemory-policy', 'volatile-lru'];
      return withRedis({ settings }, async ({ process: { output } }) => {
        await until('logged', () => /health check fails/.test(output()), 10_000);
        expect(output()).toContain('its maxmemory-policy is volatile-lru');
      });
    }),
  );
});
