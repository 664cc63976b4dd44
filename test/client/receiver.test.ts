/** The proof of the receivers' kit: whatever happens to notifications on their way, the receiver is right in the end. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import fc from 'fast-check';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import {
  createClient,
  memoryStore,
  postgresStore,
  receiver,
  type Client,
  type NotificationContext,
  type ReceiverHandler,
} from '../../src/client/index.js';
import { operator, placeOrder, registerAccount, registerWebhook, type Account } from '../support/client.js';
import { startServiceWith, type Service } from '../support/harness.js';
import { until } from '../support/until.js';
import { fates, startProxy, type Proxy } from './proxy.js';

let service: Service;
let account: Account;
let client: Client;
let pool: pg.Pool;

beforeAll(async () => {
  service = await startServiceWith({ RETRY_SCHEDULE: Array(20).fill('100ms').join(',') });
  account = await registerAccount(service);
  const { accountKey: key, email, password } = account;
  client = createClient({ url: service.url, key, email, password });
  pool = new pg.Pool({ connectionString: service.env.DATABASE_URL!, max: 8 });
  await pool.query('create schema shop');
  await pool.query(
    'create table shop.handled (place serial, tracking_id text, sequence int, state text, missing jsonb)',
  );
});
afterAll(async () => {
  await pool?.end();
  await service?.stop();
});

interface Handled {
  sequence: number;
  state: string;
  missing: unknown;
}

const journey = ['CREATED', 'PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** Shared by both: whether the next call of `onNotification` fails. */
const failures: boolean[] = [];
const failIfDue = () => {
  if (failures.shift()) throw new Error('The handler fails, as the test wants.');
};
const expectedError = (error: unknown) => {
  if (!/as the test wants/.test(String(error))) throw error as Error;
};

interface Kit {
  start(secret: string[], feed: Client | undefined): Promise<ReceiverHandler>;
  handledOf(trackingId: string): Promise<Handled[]>;
  serve(handler: ReceiverHandler): Server;
}

function memoryKit(): Kit {
  const handled = new Map<string, Handled[]>();
  return {
    start: (secret, feed) => {
      const handler = receiver({
        ...{ secret, store: memoryStore(), client: feed, onError: expectedError },
        onNotification({ tracking_id, state }, { sequence, missing }) {
          failIfDue();
          handled.set(tracking_id, [
            ...(handled.get(tracking_id) ?? []),
            { sequence: sequence!, state, missing },
          ]);
        },
      });
      return Promise.resolve(handler);
    },
    handledOf: (trackingId) => Promise.resolve(handled.get(trackingId) ?? []),
    serve: (handler) => createServer((request, response) => void handler(request, response)),
  };
}

function postgresKit(): Kit {
  const store = postgresStore<pg.PoolClient>(pool, { table: 'shop.received' });
  const write = (trackingId: string, state: string, context: NotificationContext<pg.PoolClient>) =>
    context.transaction.query(
      'insert into shop.handled (tracking_id, sequence, state, missing) values ($1, $2, $3, $4)',
      [trackingId, context.sequence, state, JSON.stringify(context.missing)],
    );
  return {
    start: async (secret, feed) => {
      await Promise.all([store.createTables(), store.createTables()]);
      return receiver({
        ...{ secret, store, client: feed, onError: expectedError },
        async onNotification({ tracking_id, state }, context) {
          await write(tracking_id, state, context);
          failIfDue(); // after the write, which is undone
        },
      });
    },
    handledOf: async (trackingId) =>
      (
        await pool.query<Handled>(
          'select sequence, state, missing from shop.handled where tracking_id = $1 order by place',
          [trackingId],
        )
      ).rows,
    serve(handler) {
      const app = express();
      app.post('/hook', handler);
      return createServer(app);
    },
  };
}

/** All events of a shipment, at once and in order, with its creation. */
async function travel(): Promise<string> {
  const trackingId = await placeOrder(account);
  for (const state of journey.slice(1)) {
    const { httpStatus, body } = await operator(service, `/shipments/${trackingId}/events`, {
      body: { state },
    });
    if (httpStatus !== 202) throw new Error(JSON.stringify(body));
  }
  return trackingId;
}

const untilSettled = (webhookId: string, trackingId: string) =>
  until(`every delivery of ${trackingId} has succeeded`, async () => {
    const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}&trackingId=${trackingId}`);
    const deliveries = (data?.deliveries ?? []) as { status: string }[]; // a busy machine may respond 503
    return deliveries.length === journey.length && deliveries.every(({ status }) => status === 'SUCCEEDED');
  });

const plans = fc.record({
  /** The fates of the deliveries, retries too. */
  fates: fc.array(fc.constantFrom(...fates), { maxLength: 20 }),
  failures: fc.array(fc.boolean(), { maxLength: 10 }),
});

describe.each([
  ['in memory, by node:http', memoryKit],
  ['in PostgreSQL, by express', postgresKit],
])('with a store %s', (_name, createKit) => {
  let kit: Kit;
  let close = () => {};

  async function connect(feed: Client | undefined, ordering: string) {
    kit = createKit();
    let target = '';
    const proxy: Proxy = await startProxy(() => target);
    const webhook = await registerWebhook(account, proxy.url, { ordering });
    const other = await registerWebhook(account, proxy.url, { interests: ['NONE_YET'] });
    const handler = await kit.start([webhook.secret, other.secret], feed);
    const server = kit.serve(handler);
    target = await listen(server);
    close = () => {
      proxy.close();
      server.close();
      server.closeAllConnections();
    };
    const replayAll = async (trackingIds: string[]) => {
      const path = `/v1/webhooks/${other.webhookId}`;
      await account.call(path, { method: 'PATCH', body: { interests: ['*'] } });
      await Promise.all(trackingIds.map((trackingId) => replay(other.webhookId, trackingId)));
      await account.call(path, { method: 'PATCH', body: { interests: ['NONE_YET'] } });
    };
    return { webhookId: webhook.webhookId, proxy, handler, replayAll };
  }
  afterEach(async () => {
    const { data } = await account.call('/v1/webhooks');
    for (const { webhookId } of data.webhooks as { webhookId: string }[])
      await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
    close();
  });

  /** Sends every event again, by the other webhook, which never had any of them. */
  async function replay(webhookId: string, trackingId: string): Promise<void> {
    const replayed = await account.call(`/v1/webhooks/${webhookId}/replay`, {
      body: { from: Date.now() - 3_600_000, to: Date.now(), trackingId },
    });
    expect(replayed).toMatchObject({ httpStatus: 202, data: { queued: journey.length } });
    await untilSettled(webhookId, trackingId);
  }

  const right = journey.map((state, index) => ({ sequence: index + 1, state, missing: null }));

  test('each event is handled once and in order: doubled, shuffled, dropped, failed and replayed', async () => {
    const { webhookId, proxy, replayAll } = await connect(client, 'NONE');
    const property = fc.asyncProperty(plans, async (plan) => {
      proxy.fates = [...plan.fates];
      failures.splice(0, Infinity, ...plan.failures);
      const trackingIds = await Promise.all([travel(), travel()]);
      await Promise.all(trackingIds.map((trackingId) => untilSettled(webhookId, trackingId)));
      await proxy.flush();
      proxy.fates = [];
      failures.length = 0;
      await replayAll(trackingIds);
      for (const trackingId of trackingIds) expect(await kit.handledOf(trackingId)).toEqual(right);
    });
    await fc.assert(property, { numRuns: 5, endOnFailure: true });
  });

  test('without a feed its state is right in the end, none is handled twice, and gaps are reported', async () => {
    const { webhookId, proxy, replayAll } = await connect(undefined, 'SHIPMENT');
    proxy.fates = ['PASS', 'DROP', 'DROP', 'DOUBLE'];
    const trackingId = await travel();
    await untilSettled(webhookId, trackingId);
    const [first, fourth, fifth] = [right[0], right[3]!, right[4]];
    const expected = [first, { ...fourth, missing: { from: 2, to: 3 } }, fifth];
    expect(await kit.handledOf(trackingId)).toEqual(expected);
    await replayAll([trackingId]);
    expect(await kit.handledOf(trackingId)).toEqual(expected);
  });

  test('reconciling by the feed finds what no later notification shows to be missing', async () => {
    const { webhookId, proxy, handler } = await connect(client, 'SHIPMENT');
    const from = new Date(Date.now() - 1_000);
    proxy.fates = ['PASS', 'PASS', 'PASS', 'DROP', 'DROP'];
    const trackingId = await travel();
    await untilSettled(webhookId, trackingId);
    expect(await kit.handledOf(trackingId)).toEqual(right.slice(0, 3));
    failures.push(true);
    await expect(handler.reconcile(from)).rejects.toThrow('as the test wants');
    await handler.reconcile(from);
    expect(await kit.handledOf(trackingId)).toEqual(right);
    expect(await handler.reconcile(from)).toBe(0);
  });
});
