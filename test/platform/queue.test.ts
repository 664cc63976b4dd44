import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNotify, dueOf } from '../../src/engine/engine.js';
import { dueSinceUnknown } from '../../src/engine/outbox/types.js';
import { newId } from '../../src/platform/ids.js';
import { createQueueEngine, type JobSpec, type QueueEngine } from '../../src/platform/queue/engine.js';
import { connectRedis } from '../../src/platform/redis.js';
import { createLogger } from '../../src/platform/telemetry/logger.js';
import { createDatabase, dropDatabase } from '../support/database.js';
import { backends } from '../support/harness.js';

const databaseUrl = process.env.TEST_DATABASE_URL ?? '';

const webhooks = (count: number) => Array.from({ length: count }, () => newId());

describe.each(backends)('the delivery queue on %s', (backend) => {
  let engine: QueueEngine;
  let database: string;

  const open = async (shards = 1) => {
    database = `t_${randomBytes(6).toString('hex')}`;
    const logger = createLogger('silent');
    engine = createQueueEngine({
      databaseUrl: await createDatabase(databaseUrl, database, null),
      redisUrl: backend === 'redis' ? process.env.TEST_REDIS_URL : undefined,
      prefix: database,
      logger,
    });
    await engine.prepare();
    const producers = Array.from({ length: shards }, (_, n) => engine.producer(`q${n}`));
    return { producers, notify: createNotify(producers, logger) };
  };
  /** Jobs in the order one consumer gets them, up to a last job. */
  const consumeAll = async (shard = 0) => {
    const jobs: string[][] = [];
    let over = false;
    const consumer = engine.consume(`q${shard}`, 1, (job) => {
      if (job.name === 'last') over = true;
      else jobs.push(job.ids);
      return Promise.resolve();
    });
    for (const end = Date.now() + 20_000; !over; await sleep(10))
      if (Date.now() > end) throw new Error('the last job did not come within 20 s');
    await consumer.close();
    return jobs;
  };
  const waiting = async (producer: { waitingCount(): Promise<number> }, count: number) => {
    for (const end = Date.now() + 10_000; (await producer.waitingCount()) < count; await sleep(10))
      if (Date.now() > end) throw new Error(`no ${count} jobs within 10 s`);
  };
  const last: JobSpec = { name: 'last', id: 'last' };

  afterEach(async () => {
    await engine.close();
    await dropDatabase(databaseUrl, database);
  });

  test('webhooks notified together share jobs of at most 200, each once, in order', async () => {
    const { producers, notify } = await open();
    const ids = webhooks(450);
    notify(dueSinceUnknown([...ids, ...ids]));
    await waiting(producers[0]!, 3);
    await producers[0]!.add([last]);
    const jobs = await consumeAll();
    expect(jobs.map((job) => job.length)).toEqual([200, 200, 50]);
    expect(jobs.flat()).toEqual(ids);
  });

  test('a webhook notified again while its job waits gets another job: the first may have been read', async () => {
    const { producers, notify } = await open();
    const [id] = webhooks(1);
    notify(dueSinceUnknown([id!]));
    await waiting(producers[0]!, 1);
    notify(dueSinceUnknown([id!]));
    await waiting(producers[0]!, 2);
    await producers[0]!.add([last]);
    expect(await consumeAll()).toEqual([[id], [id]]);
  });

  test('a webhook always has the same shard, and every shard gets its share', async () => {
    const { producers, notify } = await open(3);
    const other = createNotify(producers, createLogger('silent'));
    const ids = webhooks(60);
    notify(dueSinceUnknown(ids));
    for (const producer of producers) await waiting(producer, 1);
    other(dueSinceUnknown([...ids].reverse()));
    for (const producer of producers) await waiting(producer, 2);
    const named = [];
    for (const [shard, producer] of producers.entries()) {
      await producer.add([last]);
      const [first, second] = await consumeAll(shard);
      expect(second).toEqual([...first!].reverse());
      named.push(...first!);
    }
    expect(named.sort()).toEqual([...ids].sort());
  });

  test('a job has the due time of each webhook, the earliest of several', async () => {
    const { producers, notify } = await open();
    const [fresh, old, named] = webhooks(3);
    notify([
      { webhookId: fresh!, dueFromMs: 1_700_000_000_123 },
      { webhookId: old!, dueFromMs: null },
      { webhookId: named!, dueFromMs: 1_700_000_000_456 },
      { webhookId: named!, dueFromMs: 1_700_000_000_122 },
    ]);
    await waiting(producers[0]!, 1);
    await producers[0]!.add([last]);
    expect(dueOf((await consumeAll()).flat())).toEqual([
      { webhookId: fresh, dueFromMs: 1_700_000_000_123 },
      { webhookId: old, dueFromMs: null },
      { webhookId: named, dueFromMs: 1_700_000_000_122 },
    ]);
  });

  test('a thousand unread jobs are enough: no more are added until they are read', async () => {
    const { producers, notify } = await open();
    const unread = Array.from({ length: 1_001 }, (_, n) => ({
      name: 'due',
      id: `unread-${n}`,
      ids: ['unread'],
    }));
    await producers[0]!.add(unread);
    notify(dueSinceUnknown(webhooks(1)));
    await producers[0]!.add([last]);
    expect(new Set((await consumeAll()).flat())).toEqual(new Set(['unread']));
    const [known] = webhooks(1);
    for (; (await producers[0]!.waitingCount()) === 0; await sleep(100)) notify(dueSinceUnknown([known!]));
    await producers[0]!.add([{ ...last, id: 'last-2' }]);
    expect(new Set((await consumeAll()).flat())).toEqual(new Set([known])); // and no earlier one
  });
});

const moduleOf = (name: string) => new URL(`../../src/platform/${name}.ts`, import.meta.url).href;

/** A separate process, because it might hang. */
const program = (url: string) => `
  import { createQueueEngine } from '${moduleOf('queue/engine')}';
  import { createLogger } from '${moduleOf('telemetry/logger')}';
  const logger = createLogger('silent');
  const engine = createQueueEngine({ databaseUrl: '${url}', redisUrl: undefined, prefix: 't', logger });
  await engine.prepare();
  console.log('prepared');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const producer = engine.producer('q');
  const consumer = engine.consume('q', 2, async ({ name }) => console.log('consumed', name));
  const timer = setInterval(() => producer.add([{ name: 'job', id: 'j' + Date.now() }]).then(
    () => console.log('added'), () => console.log('refused')), 200);
  await new Promise((resolve) => process.stdin.once('data', resolve));
  clearInterval(timer);
  await consumer.close();
  await engine.close();
  console.log('closed');
  process.exit(0);`;

describe('the queue on PostgreSQL', () => {
  let child: ChildProcess | undefined;
  let proxy: Server | undefined;

  afterEach(async () => {
    child?.kill('SIGKILL');
    proxy?.close();
    await dropDatabase(databaseUrl, 'queue_opening');
  });

  test('opened while PostgreSQL does not respond, it keeps the process alive, and works as soon as PostgreSQL responds', async () => {
    const target = new URL(await createDatabase(databaseUrl, 'queue_opening', null));
    const upstreamPort = Number(target.port);
    let responses = true;
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      if (!responses) return;
      const upstream = connect(upstreamPort, target.hostname).on('error', () => undefined);
      sockets.push(upstream);
      socket.pipe(upstream).pipe(socket);
    });
    proxy = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    target.port = String((server.address() as { port: number }).port);

    let output = '';
    const args = ['--import', 'tsx', '--input-type=module', '-e', program(target.href)];
    const running = (child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
    running.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const exited = once(running, 'exit');
    const until = async (text: RegExp) => {
      for (const end = Date.now() + 45_000; !text.test(output); await sleep(20))
        if (Date.now() > end) throw new Error(`no ${text} within 45 s in ${output}`);
    };

    await until(/prepared/);
    responses = false;
    running.stdin.write('go');
    await until(/(refused\s+){5}/);
    responses = true;
    await until(/added/);
    await until(/consumed job/);
    running.stdin.write('stop');
    await until(/closed/);
    for (const socket of sockets) socket.destroy();
    expect(await exited).toEqual([0, null]);
  });
});

describe('Redis', () => {
  const ok = '+OK\r\n';
  const sockets: Socket[] = [];
  let isSilent = false;

  /** Enough of Redis for a connection to become ready; then it can go silent, like a host that is cut off. */
  const server = createServer((socket) => {
    const isNew = isSilent;
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      if (isSilent && !isNew) return;
      socket.write(ok.repeat(chunk.toString().match(/^\*\d/gm)?.length ?? 0));
    });
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  test('a connection to a silent Redis is closed and replaced within 10 s, and works', async () => {
    const redis = connectRedis(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`, 'fast');
    redis.on('error', () => undefined);
    const ready = () => new Promise((resolve) => redis.once('ready', resolve));
    await ready();
    isSilent = true; // on this connection, not on the next
    const silentAt = performance.now();
    await expect(redis.call('PING')).rejects.toThrow('timed out');
    await ready();
    expect(performance.now() - silentAt).toBeLessThan(10_000);
    await expect(redis.call('PING')).resolves.toBe('OK');
    redis.disconnect();
  });
});
