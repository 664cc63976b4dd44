import { afterEach, describe, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliveryQueue, dueOf, type DueDelivery } from '../../src/deliveries/enqueue.js';
import { newId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/logger.js';
import { createQueueEngine, type QueueEngine } from '../../src/platform/queue.js';
import { createDatabase, dropDatabase } from '../database.js';
import { backends } from '../harness.js';

const databaseUrl = process.env.TEST_DATABASE_URL ?? '';

/** What one event owes to so many webhooks; its deliveries' ids begin as its own does. */
const owedBy = (webhooks: number, atMs = Date.now()): DueDelivery[] => {
  const head = newId(atMs).slice(0, 18);
  return Array.from({ length: webhooks }, () => ({
    deliveryId: head + randomUUID().slice(18),
    webhookId: newId(),
  }));
};

describe.each(backends)('the delivery queue on %s', (backend) => {
  let engine: QueueEngine;
  let database: string;

  const open = async () => {
    database = `t_${randomBytes(6).toString('hex')}`;
    const logger = createLogger('silent');
    engine = createQueueEngine({
      databaseUrl: await createDatabase(databaseUrl, database, null),
      redisUrl: backend === 'redis' ? process.env.TEST_REDIS_URL : undefined,
      prefix: database,
      logger,
    });
    await engine.prepare();
    const producer = engine.producer('q');
    return { producer, queue: createDeliveryQueue([producer], logger) };
  };
  /** The jobs that wait, in the order in which one consumer gets them. */
  const consumeAll = async (count: number) => {
    const jobs: { name: string; ids: string[] }[] = [];
    const consumer = engine.consume('q', 1, (job) => Promise.resolve(void jobs.push(job)));
    for (const end = Date.now() + 10_000; jobs.length < count && Date.now() < end;) await sleep(10);
    await sleep(100);
    await consumer.close();
    return jobs;
  };
  const waiting = async (producer: { waitingCount(): Promise<number> }, count: number) => {
    for (const end = Date.now() + 10_000; (await producer.waitingCount()) < count; await sleep(10))
      if (Date.now() > end) throw new Error(`no ${count} jobs within 10 s`);
  };

  afterEach(async () => {
    await engine.close();
    await dropDatabase(databaseUrl, database);
  });

  test('what one event owes beyond a hundred webhooks gives way to what other events owe', async () => {
    const { producer, queue } = await open();
    const large = owedBy(150);
    queue.enqueue(large);
    await waiting(producer, 3);
    const [other] = owedBy(1);
    queue.enqueue([other!]);
    await waiting(producer, 4);
    const jobs = await consumeAll(4);
    expect(jobs.flatMap(({ ids }) => dueOf(ids))).toEqual([
      ...large.slice(0, 100),
      other,
      ...large.slice(100),
    ]);
  });

  test('events of one millisecond are not taken for one large event: none of them gives way', async () => {
    const { producer, queue } = await open();
    const webhookIds = Array.from({ length: 60 }, () => newId());
    const atMs = Date.now();
    const head = newId(atMs).slice(0, 18);
    const events = [1, 2, 3].flatMap(() =>
      webhookIds.map((webhookId) => ({ deliveryId: head + randomUUID().slice(18), webhookId })),
    );
    queue.enqueue(events);
    await waiting(producer, 4);
    const [other] = owedBy(1);
    queue.enqueue([other!]);
    await waiting(producer, 5);
    const jobs = await consumeAll(5);
    expect(jobs.flatMap(({ ids }) => dueOf(ids))).toEqual([...events, other]);
  });

  test('help is called for at most ten webhooks a second, once each; the others are called for later', async () => {
    const { producer, queue } = await open();
    await sleep(1_010 - (Date.now() % 1_000)); // a second that has just begun
    const webhookIds = Array.from({ length: 30 }, () => newId());
    for (const webhookId of [...webhookIds, ...webhookIds]) queue.askForHelp(webhookId);
    await waiting(producer, 10);
    const first = await consumeAll(10);
    expect(new Set(first.map(({ name }) => name))).toEqual(new Set(['help']));
    expect(first.flatMap(({ ids }) => ids).sort()).toEqual(webhookIds.slice(0, 10).sort());
    await sleep(1_010 - (Date.now() % 1_000));
    for (const webhookId of webhookIds.slice(10)) queue.askForHelp(webhookId);
    await waiting(producer, 10);
    const second = await consumeAll(10);
    expect(second.flatMap(({ ids }) => ids).sort()).toEqual(webhookIds.slice(10, 20).sort());
  });
});
