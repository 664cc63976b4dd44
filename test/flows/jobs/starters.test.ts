import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { placeOrder, registerAccount, registerWebhook } from '../../support/client.js';
import { createDatabase, dropDatabase } from '../../support/database.js';
import { queue, startProcess, startServiceOfRole, stopProcess } from '../../support/harness.js';
import { startReceiver } from '../../support/receiver.js';
import { crashTraces, deployment } from '../../support/deployment.js';
import { heardOf, placeOrders, repeated } from '../../support/load.js';
import { until } from '../../support/until.js';
import { untilAllAre } from '../../support/deliveries.js';

const server = process.env.TEST_DATABASE_URL ?? '';

test('processes started at the same time on an empty database migrate it once and all work', async () => {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const databaseUrl = await createDatabase(server, name, null);
  const env = deployment(
    databaseUrl,
    queue === 'redis' ? { REDIS_URL: process.env.TEST_REDIS_URL ?? '' } : {},
  );
  const receiver = await startReceiver();
  const started = await Promise.allSettled([1, 2, 3].map(() => startProcess(env)));
  const processes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    expect(started.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([]);
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const { rows } = await client.query('select name from migrations group by name having count(*) > 1');
    await client.end();
    expect(rows).toEqual([]);
    for (const one of processes) {
      const account = await registerAccount(one);
      const { webhookId } = await registerWebhook(account, receiver.url);
      const order = await placeOrder(account);
      await until('delivered', () => heardOf(receiver.received, [order]) === 1);
      expect(webhookId).toMatch(/^[0-9a-f-]{36}$/);
    }
  } finally {
    const exits = await Promise.all(processes.map(stopProcess));
    await receiver.close();
    await dropDatabase(server, name);
    expect(exits).toEqual([0, 0, 0]);
    expect(processes.flatMap((one) => crashTraces(one.output()))).toEqual([]);
  }
}, 90_000);

test('two workers share the work, and each event is delivered exactly once', async () => {
  const service = await startServiceOfRole('api');
  const workers = await Promise.all([
    startProcess(service.env, 'worker'),
    startProcess(service.env, 'worker'),
  ]);
  const receiver = await startReceiver(() => ({ delayMs: 20 }));
  try {
    const account = await registerAccount(service);
    const { webhookId } = await registerWebhook(account, receiver.url);
    const orders = await placeOrders(account, 200);
    await untilAllAre(service, webhookId, 'SUCCEEDED', orders.length, 20_000);
    expect(heardOf(receiver.received, orders)).toBe(orders.length);
    expect(repeated(receiver.received)).toBe(0);
    const shares = () => workers.map((one) => one.output().split('"msg":"attempt"').length - 1);
    await until('all logged', () => shares().reduce((sum, share) => sum + share, 0) >= orders.length);
    expect(shares().reduce((sum, share) => sum + share, 0)).toBe(orders.length);
    for (const share of shares()) expect(share).toBeGreaterThan(0);
  } finally {
    await Promise.all(workers.map(stopProcess));
    await service.stop();
    await receiver.close();
  }
}, 90_000);
