/** Receivers in Python against the service, with a proxy between them that does what networks and crashes do. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { resolve } from 'node:path';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../support/client.js';
import { countShown } from '../support/deliveries.js';
import { startService, type Service } from '../support/harness.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
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
    const chance = chances(seed);
    const account = await registerAccount(service, `${store}@example.com`);
    const proxy = await startProxy(chance);
    const { webhookId, secret } = await registerWebhook(account, proxy.url, { ordering: 'NONE' });
    const later = await registerWebhook(account, proxy.url, { ordering: 'NONE', interests: ['NONE_YET'] });
    const isDurable = store === 'PostgresStore';
    const { accountKey: key, email, password } = account;
    const settings = {
      ...{ seed, secret: [secret, later.secret], url: service.url, credentials: { key, email, password } },
      startedAt: Date.now() - 60_000,
      database: isDurable ? await newDatabase() : null,
    };
    let receiver = await startReceiverProgram(settings);
    proxy.forwardTo(receiver.url);

    const trackingIds = await Promise.all(
      Array.from({ length: 8 }, (_, n) => placeOrder(account, `ORDER-${n}`)),
    );
    for (const [n, trackingId] of trackingIds.entries()) {
      await started(account, trackingId, n);
      if (isDurable && n === 4) {
        receiver.kill();
        receiver = await startReceiverProgram(settings);
        proxy.forwardTo(receiver.url);
      }
    }
    const expected = await journeys(account, trackingIds);
    await settled(account, webhookId);
    await proxy.passOnTheRest();
    await replayed(account, later.webhookId);

    expect({ seed, states: await receiver.states() }).toEqual({ seed, states: expected });
    receiver.kill();
    for (const id of [webhookId, later.webhookId])
      await account.call(`/v1/webhooks/${id}`, { method: 'DELETE' });
    await proxy.close();
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

/** Mulberry32: numbers from 0 to 1, the same for the same seed. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Proxy {
  url: string;
  forwardTo(url: string): void;
  /** From now on passes everything on, last what it held back. */
  passOnTheRest(): Promise<void>;
  close: Receiver['close'];
}

/** Between the service and a receiver: doubles, drops, holds back and replays notifications. */
async function startProxy(chance: () => number): Promise<Proxy> {
  let target = '';
  let isFair = false;
  const held: Received[] = [];
  const seen: Received[] = [];
  const forward = async ({ headers, body }: Received): Promise<number> => {
    const names = ['content-type', 'parcelhook-sequence'];
    const passed = Object.entries(headers).filter(
      ([name]) => name.startsWith('webhook-') || names.includes(name),
    );
    const options = { method: 'POST', headers: Object.fromEntries(passed) as Record<string, string>, body };
    return fetch(target, options).then(
      ({ status }) => status,
      () => 502, // it was killed
    );
  };
  const kinds: ((request: Received) => Promise<number>)[] = [
    forward,
    async (request) =>
      Math.max(...(await Promise.all([forward(request), forward(request), forward(request)]))),
    () => Promise.resolve(200), // lost
    () => Promise.resolve(503),
    async (request) => {
      held.push(request);
      if (held.length > 3) await forward(held.splice(Math.floor(chance() * held.length), 1)[0]!);
      return 200;
    },
    async (request) => {
      await forward(seen[Math.floor(chance() * seen.length)]!);
      return forward(request);
    },
  ];
  const proxy = await startReceiver((request, response) => {
    seen.push(request);
    const isEachTried = seen.length > kinds.length;
    const kind = isFair ? 0 : isEachTried ? Math.floor(chance() * kinds.length) : seen.length - 1;
    void kinds[kind]!(request).then((status) => response.writeHead(status).end());
  });
  return {
    url: proxy.url,
    forwardTo: (url) => (target = url),
    passOnTheRest: async () => {
      isFair = true;
      for (const request of held.splice(0).reverse()) await forward(request);
    },
    close: proxy.close,
  };
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
