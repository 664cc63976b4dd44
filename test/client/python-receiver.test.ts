/** Receivers in Python against the service, with a proxy between them that does what networks and crashes do. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { resolve } from 'node:path';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../support/client.js';
import { countShown } from '../support/deliveries.js';
import { startService, type Service } from '../support/harness.js';
import { until } from '../support/until.js';
import { fates, startProxy } from './proxy.js';
import { dropDatabases, has, newDatabase, startPython } from './python.js';

const stores = has.psycopg ? ['MemoryStore', 'PostgresStore'] : ['MemoryStore'];

let service: Service;
beforeAll(async () => {
  const env = { SIMULATE: 'true', RETRY_SCHEDULE: '200ms,500ms,1s,1s,1s,1s,1s,1s' };
  service = await startService({ env });
});
afterAll(async () => {
  await service.stop();
  await dropDatabases();
});

(has.python ? describe.each(stores) : describe.skip.each(stores))('a receiver in Python with %s', (store) => {
  test('has every state once and in order, whatever was doubled, shuffled, dropped and replayed', async () => {
    const seed = Date.now() % 1_000_000;
    const account = await registerAccount(service, `${store}@example.com`);
    let receiver: Awaited<ReturnType<typeof startReceiverProgram>>;
    const proxy = await startProxy(() => receiver.url);
    const everyFate = fc.array(fc.constantFrom(...fates), { minLength: 100, maxLength: 100 });
    proxy.fates.push(...fc.sample(everyFate, { seed, numRuns: 1 })[0]!);
    const { webhookId, secret } = await registerWebhook(account, proxy.url, { ordering: 'NONE' });
    const later = await registerWebhook(account, proxy.url, { ordering: 'NONE', interests: ['NONE_YET'] });
    const isDurable = store === 'PostgresStore';
    const { accountKey: key, email, password } = account;
    const settings = {
      ...{ seed, secret: [secret, later.secret], url: service.url, credentials: { key, email, password } },
      startedAt: Date.now() - 60_000,
      database: isDurable ? await newDatabase() : null,
    };
    receiver = await startReceiverProgram(settings);

    const trackingIds = await Promise.all(
      Array.from({ length: 8 }, (_, n) => placeOrder(account, `ORDER-${n}`)),
    );
    for (const [n, trackingId] of trackingIds.entries()) {
      await started(account, trackingId, n);
      if (isDurable && n === 4) {
        receiver.kill();
        receiver = await startReceiverProgram(settings);
      }
    }
    const expected = await journeys(account, trackingIds);
    await settled(account, webhookId);
    await proxy.flush();
    await replayed(account, later.webhookId);

    expect({ seed, states: await receiver.states() }).toEqual({ seed, states: expected });
    receiver.kill();
    for (const id of [webhookId, later.webhookId])
      await account.call(`/v1/webhooks/${id}`, { method: 'DELETE' });
    proxy.close();
  });
});

async function started(account: Account, trackingId: string, n: number): Promise<void> {
  await until('the shipment can be simulated', async () => {
    const response = await account.call(`/v1/shipments/${trackingId}/simulate`, {
      body: { intervalMs: 100 + 20 * n },
    });
    return response.httpStatus === 202;
  });
}

/** The states of each shipment, once all are delivered. */
async function journeys(account: Account, trackingIds: string[]): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const trackingId of trackingIds) {
    await until('the shipment is delivered', async () => {
      const { data } = await account.call(`/v1/shipment-tracking/${trackingId}`);
      all[trackingId] = (data.history as { state: string }[]).map(({ state }) => state);
      return data.state === 'DELIVERED';
    });
  }
  return all;
}

/** A webhook that has had no delivery gets all of them. */
async function replayed(account: Account, webhookId: string): Promise<void> {
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { interests: ['*'] } });
  const body = { from: Date.now() - 3_600_000, to: Date.now() };
  const { data } = await account.call(`/v1/webhooks/${webhookId}/replay`, { body });
  await until(
    'the replay is done',
    async () => (await account.call(`/v1/replays/${data.replayId}`)).data.status === 'DONE',
    40_000,
  );
}

async function settled(account: Account, webhookId: string): Promise<void> {
  const isFinished = (status: string) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status);
  await until(
    'all deliveries are finished',
    async () => Object.keys(await countShown(account, webhookId)).every(isFinished),
    40_000,
  );
}

async function startReceiverProgram(settings: object) {
  const program = startPython([resolve('test/client/receiver.py')], { SETTINGS: JSON.stringify(settings) });
  const { port } = await program.next();
  return {
    url: `http://127.0.0.1:${port}/`,
    states: async () => {
      program.write('');
      return (await program.next()).states as Record<string, string[]>;
    },
    kill: program.kill,
  };
}
