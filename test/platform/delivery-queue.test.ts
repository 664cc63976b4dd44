import { afterEach, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNotify, dueOf } from '../../src/engine/schedule/notify.js';
import { dueSinceUnknown } from '../../src/engine/outbox/types.js';
import { newId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/telemetry/logger.js';
import { createQueueEngine, type JobSpec, type QueueEngine } from '../../src/platform/queue/engine.js';
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
