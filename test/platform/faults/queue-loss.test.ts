import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { placeOrder, registerAccount, registerWebhook, request, type Account } from '../../support/client.js';
import { startProcess, startServiceToBreak, stopProcess, type Service } from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { freePort, redisProgram, startRedis, type RedisServer } from '../../support/redis.js';
import { countByStatus, untilAllAre } from '../../support/deliveries.js';
import { crashTraces, newFolder, type Folder } from '../../support/deployment.js';
import { heardOf, percentile, placeOrders, repeated, startLoad, verifyAll } from '../../support/load.js';
import { inSequence, until } from '../../support/until.js';

async function enqueued({ url }: RedisServer): Promise<number> {
  const client = new Redis(url);
  const keys = await client.keys('*:create:c-*');
  const jobs = await Promise.all(keys.map((key) => client.hget(key, 'data')));
  client.disconnect();
  return jobs.flatMap((data) => (JSON.parse(data ?? '{}') as { ids?: string[] }).ids ?? []).length;
}

interface Own {
  receiver: Receiver;
  redis?: RedisServer | null;
  service?: Service;
}

(redisProgram ? describe : describe.skip)('the queue is disposable', () => {
  let folder: Folder;

  beforeAll(() => {
    folder = newFolder();
  });
  afterAll(() => folder.remove());

  const withOwn = (run: (own: Own) => Promise<void>) => async () => {
    const own: Own = { receiver: await startReceiver() };
    try {
      await run(own);
    } finally {
      await own.service?.stop();
      await own.redis?.stop();
      await own.receiver.close();
    }
  };
  const next = inSequence();

  const start = async (own: Own, role?: string) => {
    own.redis = await startRedis(folder.path);
    own.service = await startServiceToBreak({ REDIS_URL: own.redis!.url }, role);
    return registerAccount(own.service);
  };

  /** Some orders created with deliveries owed, some only accepted; the worker is stopped. */
  const makeBacklog = async (
    { receiver, redis, service }: Own,
    account: Account,
    stopWorker: () => unknown,
  ) => {
    const responses: (() => void)[] = [];
    receiver.reply = (_, response) => void responses.push(() => response.end('ok'));
    const created = await placeOrders(account, 20);
    await until('all created', async () => (await service!.sql('select from outbox')).length === 20);
    await receiver.waitFor(2);
    receiver.reply = () => ({});
    await stopWorker();
    for (const respond of responses) respond();
    const accepted = await placeOrders(account, 20);
    await until('all enqueued', async () => (await enqueued(redis!)) === 20); // their jobs come after the 201
    expect(await service!.sql('select from orders_to_create')).toHaveLength(20);
    return [...created, ...accepted];
  };

  test.concurrent(
    'FLUSHALL with a backlog: everything is delivered within 60 s',
    next(
      withOwn(async (own) => {
        const account = await start(own, 'api');
        const { receiver } = own;
        const env = { ...own.service!.env, DELIVERY_CONCURRENCY: '2' };
        const worker = await startProcess(env, 'worker');
        try {
          const { webhookId, secret } = await registerWebhook(account, receiver.url);
          const orders = await makeBacklog(own, account, () => worker.kill('SIGSTOP'));
          const client = new Redis(own.redis!.url);
          expect(await client.dbsize()).toBeGreaterThan(0);
          await client.flushall();
          client.disconnect();
          worker.kill('SIGCONT');
          const tookMs = await until('all', () => heardOf(receiver.received, orders) === orders.length);
          console.info(`everything delivered ${tookMs} ms after FLUSHALL`);
          await untilAllAre(own.service!, webhookId, 'SUCCEEDED', orders.length);
          verifyAll(receiver.received, secret);
          expect(repeated(receiver.received)).toBe(0);
          expect(crashTraces(worker.output())).toEqual([]);
        } finally {
          worker.kill('SIGCONT');
          await stopProcess(worker);
        }
      }),
    ),
  );

  test.concurrent(
    'jobs left on Redis when the queue moves to PostgreSQL are not needed',
    withOwn(async (own) => {
      const account = await start(own, 'api');
      const { receiver } = own;
      const env = { ...own.service!.env, DELIVERY_CONCURRENCY: '2' };
      const worker = await startProcess(env, 'worker');
      const { webhookId } = await registerWebhook(account, receiver.url);
      const orders = await makeBacklog(own, account, async () => {
        worker.kill('SIGKILL');
        await worker.exited;
      });
      await stopProcess(own.service!.process);
      own.service!.process = await startProcess({ ...own.service!.env, REDIS_URL: '' });
      const tookMs = await until('all', () => heardOf(receiver.received, orders) === orders.length, 60_000);
      console.info(`everything delivered ${tookMs} ms after the move to PostgreSQL`);
      await untilAllAre(own.service!, webhookId, 'SUCCEEDED', orders.length);
      expect(repeated(receiver.received)).toBeLessThanOrEqual(2);
    }),
  );

  test(
    'Redis killed and empty after a restart: orders are answered while it is away, and all are delivered',
    withOwn(async (own) => {
      const account = await start(own);
      const { receiver } = own;
      const { webhookId } = await registerWebhook(account, receiver.url);
      const load = startLoad(() => account, 50);
      try {
        await receiver.waitFor(20);
        const port = Number(new URL(own.redis!.url).port);
        await own.redis!.stop();
        await sleep(3_000);
        // Redis comes back only when these have their responses: an order that waited for it would never get one.
        const sentBy = performance.now();
        await until('every order of these seconds has its response', () => load.openSince() > sentBy, 60_000);
        own.redis = await startRedis(folder.path, port);
        const backAt = Date.now();
        const seen = receiver.received.length;
        await receiver.waitFor(seen + 20, undefined, 30_000);
        console.info(`delivering again ${Date.now() - backAt} ms after Redis was back`);
        await sleep(500);
        await load.stop();
        const tookMs = await until(
          'all',
          () => heardOf(receiver.received, load.accepted) === load.accepted.length,
        );
        const durations = load.responses.map(({ durationMs }) => durationMs);
        console.info(
          `${load.responses.length} orders: p99 ${percentile(durations, 0.99).toFixed(0)} ms, ` +
            `slowest ${percentile(durations, 1).toFixed(0)} ms; all delivered ${tookMs} ms after the last order`,
        );
        expect(load.responses.filter(({ httpStatus }) => httpStatus !== 201)).toEqual([]);
        await untilAllAre(own.service!, webhookId, 'SUCCEEDED', load.accepted.length);
        expect(repeated(receiver.received)).toBe(0);
        expect(crashTraces(own.service!.process.output())).toEqual([]);
      } finally {
        await load.stop();
      }
    }),
    180_000,
  );

  test.concurrent(
    'started without Redis it accepts orders, reports it, and delivers when Redis starts',
    withOwn(async (own) => {
      const port = await freePort();
      const { receiver } = own;
      const service = await startServiceToBreak({ REDIS_URL: `redis://127.0.0.1:${port}` }, 'api');
      own.service = service;
      const worker = await startProcess(service.env, 'worker');
      try {
        const account = await registerAccount(service);
        const { webhookId } = await registerWebhook(account, receiver.url);
        const trackingIds = await placeOrders(account, 20);
        const ready = async (of: { url: string }) => {
          const { httpStatus, body } = await request(`${of.url}/readyz`);
          return { httpStatus, ...(body as unknown as { checks: Record<string, string> }) };
        };
        expect(await ready(service)).toMatchObject({ httpStatus: 200, checks: { postgres: 'OK' } });
        expect((await ready(service)).checks.queue).not.toBe('OK');
        expect(await ready(worker)).toMatchObject({ httpStatus: 503, checks: { postgres: 'OK' } });

        own.redis = await startRedis(folder.path, port);
        const tookMs = await until('all', () => heardOf(receiver.received, trackingIds) === 20, 20_000);
        console.info(`delivered ${tookMs} ms after Redis came up for the first time`);
        await until('ready', async () => (await ready(worker)).httpStatus === 200, 20_000);
        expect(await ready(service)).toMatchObject({ httpStatus: 200, checks: { queue: 'OK' } });
        const last = await placeOrder(account);
        await until('one more', () => heardOf(receiver.received, [last]) === 1, 5_000);
        await untilAllAre(service, webhookId, 'SUCCEEDED', 21);
        expect(repeated(receiver.received)).toBe(0);
      } finally {
        await stopProcess(worker);
      }
    }),
  );

  test.concurrent(
    'SIGTERM without Redis still drains and exits 0',
    next(
      withOwn(async (own) => {
        const account = await start(own);
        const { receiver } = own;
        const { webhookId } = await registerWebhook(account, receiver.url);
        receiver.reply = () => ({ delayMs: 1_000 });
        await placeOrder(account);
        await receiver.waitFor(1);
        await own.redis!.stop();
        expect(await stopProcess(own.service!.process)).toBe(0);
        expect(await countByStatus(own.service!, webhookId)).toEqual({ SUCCEEDED: 1 });
      }),
    ),
    150_000, // together with the one before
  );
});
