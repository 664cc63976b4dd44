import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import pg from 'pg';
import {
  figureOf,
  placeOrder,
  registerAccount,
  registerWebhook,
  request,
  sampleOrder,
  type Account,
} from '../support/client.js';
import { lockWaiters } from '../support/lock-waits.js';
import { until } from '../support/until.js';
import { startServiceWith, type Service } from '../support/harness.js';

let service: Service;
let busy: Account;
let other: Account;
let third: Account;

beforeAll(async () => {
  // The smallest number of PostgreSQL connections a role can have, and no rate limit.
  service = await startServiceWith({ API_RATE_LIMIT: '0', MAX_CONNECTIONS: '2000' }, 'api');
  [busy, other] = [await registerAccount(service), await registerAccount(service, 'b@example.com')];
  third = await registerAccount(service, 'c@example.com');
});
afterAll(() => service?.stop());

/** Returns what ends it. */
async function lock(tables: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await client.connect();
  await client.query(`begin; lock table ${tables} in access exclusive mode`);
  return () => client.end();
}

function pipeline(account: Account, path: string) {
  const { hostname, port } = new URL(service.url);
  const head = [
    `GET ${path}?key=${account.accountKey} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${account.token}`,
    '',
    '',
  ].join('\r\n');
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return {
    socket,
    send: (count: number) => void socket.write(head.repeat(count)),
    responses: () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!),
  };
}

describe('the concurrent requests of a shipper', () => {
  test('are limited to 1,000, the rest is 429; all get a response, and other shippers do not wait', async () => {
    const clients = Array.from({ length: 1_050 }, () => pipeline(busy, '/v1/deliveries'));
    await Promise.all(clients.map(({ socket }) => once(socket, 'connect')));
    const locked = service.sql('begin; lock table outbox, deliveries; select pg_sleep(1); commit');
    for (const { send } of clients) send(1);
    const responses = () => clients.flatMap((client) => client.responses());
    while (responses().length < clients.length)
      expect((await other.call('/v1/deliveries')).httpStatus).not.toBe(429);
    await locked;
    for (const { socket } of clients) socket.destroy();
    const served = responses().filter((status) => status === '200').length;
    expect(served).toBeGreaterThan(0);
    const refused = responses().filter((status) => status === '429').length;
    expect(refused).toBeGreaterThan(0); // not 50: some may finish before the tables are locked
    expect(await figureOf(service, 'rate_limited_total{limit="at_once"}')).toBe(refused);
  });

  test('that upload without end are limited to some megabytes: the rest is 429, and orders of others are accepted', async () => {
    const { hostname, port } = new URL(service.url);
    const head = [
      `POST /v1/shipments?key=${busy.accountKey} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${busy.token}`,
      'Content-Type: application/json',
      'Content-Length: 262144',
    ];
    const part = `${head.join('\r\n')}\r\n\r\n${'x'.repeat(262_143)}`;
    let refused = '';
    const sockets = Array.from({ length: 60 }, () =>
      connect(Number(port), hostname)
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => (refused += chunk.toString())),
    );
    for (const socket of sockets) socket.write(part);
    await until('half are refused', () => refused.split('HTTP/1.1 429 ').length > 30);
    expect(refused.split('Retry-After: 1\r\n').length).toBeGreaterThan(30);
    await placeOrder(other);
    for (const socket of sockets) socket.destroy();
    await until('the share is free again', async () => {
      const { httpStatus } = await busy.call('/v1/shipments', { body: sampleOrder() });
      return httpStatus === 201;
    });
  });

  test('free their share when the client disconnects, whatever was under way', async () => {
    for (let n = 0; n < 5; n += 1) {
      const { socket, send, responses } = pipeline(busy, '/v1/deliveries');
      send(250);
      await until('the first has a response', () => responses().length > 0);
      socket.destroy();
    }
    await until('its places are free again', async () => {
      const { httpStatus } = await busy.call('/v1/deliveries');
      return httpStatus === 200;
    });
    const responses = await Promise.all(Array.from({ length: 150 }, () => busy.call('/v1/webhooks')));
    expect(responses.filter(({ httpStatus }) => httpStatus !== 200)).toEqual([]);
  });

  test('have a lower limit for expensive requests, so that others have connections left however long these last', async () => {
    const { webhookId } = await registerWebhook(busy, 'http://127.0.0.1:9/');
    const body = { from: Date.now() - 60_000, to: Date.now() };
    const unlock = await lock('deliveries');
    const dear = Array.from({ length: 24 }, (_, n) =>
      n % 3 === 0 ? busy.call(`/v1/webhooks/${webhookId}/replay`, { body }) : busy.call('/v1/deliveries'),
    );
    const waiting = async () => (await service.sql(lockWaiters)).length;
    await until('as many wait as may', async () => (await waiting()) === 2);
    for (let n = 0; n < 20; n += 1) {
      await placeOrder(other);
      expect((await other.call(`/v1/webhooks/${webhookId}`)).httpStatus).toBe(404);
      expect(await waiting()).toBe(2);
    }
    await unlock();
    const responses = new Set((await Promise.all(dear)).map(({ httpStatus }) => httpStatus));
    expect([...responses].sort()).toEqual([200, 202]);
  });

  const send = (method: string, path: string, body?: object) => (account: Account, id: string) =>
    account.call(path.replace('ID', id), { method, ...(body && { body }) });
  test.each([
    ['pause a webhook', send('PATCH', '/v1/webhooks/ID', { status: 'PAUSED' })],
    ['change the ordering of a webhook', send('PATCH', '/v1/webhooks/ID', { ordering: 'NONE' })],
    ['end a secret', send('POST', '/v1/webhooks/ID/rotate-secret', { overlap: '0s' })],
    ['cancel a replay', send('POST', '/v1/replays/ID/cancel')],
    ['delete a webhook', send('DELETE', '/v1/webhooks/ID')],
  ])('that %s delay no other shipper while they wait until no send can start', async (_what, act) => {
    const ids: [Account, string][] = [];
    for (const account of [busy, third])
      for (let n = 0; n < 6; n += 1)
        ids.push([account, (await registerWebhook(account, 'http://127.0.0.1:9/')).webhookId]);
    // A replay with the id of its webhook, which no worker finishes.
    await service.sql(
      `insert into replays (replay_id, webhook_id, shipper_id, last_event_id, end_event_id, next_at)
       select webhook_id, webhook_id, shipper_id, uuid_floor(now()), uuid_floor(now()), 'infinity'
         from webhooks where deleted_at is null on conflict do nothing`,
    );
    let answered = false;
    const answers = ids.map(async ([account, id]) => {
      const { httpStatus } = await act(account, id);
      answered = true;
      return httpStatus;
    });
    let served = 0;
    for (; !answered; served += 1) expect((await other.call('/v1/egress')).httpStatus).toBe(200);
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    expect(served).toBeGreaterThan(10); // without a free slot, each waited for 300 ms
  });

  test('cost what their text may have, not what it has', async () => {
    const costOf = async (make: () => object) => {
      const costs: number[] = [];
      for (let n = 0; n < 9; n += 1) {
        const startedAt = performance.now();
        const { httpStatus } = await busy.call('/v1/webhooks', { body: make() });
        expect(httpStatus).toBe(400);
        costs.push(performance.now() - startedAt);
      }
      return Math.min(...costs);
    };
    const webhook = (host: string) => ({ interests: ['*'], targetAddress: `https://${host}.example.org/` });
    const short = await costOf(() => webhook('ü'.repeat(60)));
    const long = await costOf(() => webhook('ü'.repeat(1_990)));
    expect(long - short).toBeLessThan(1); // ms; to convert the long one takes several
    const fields = Array.from({ length: 100 }, (_, n) => [`targetAddresses${n}`, n]);
    const misspelt = await costOf(() => ({ ...webhook('ü'.repeat(60)), ...Object.fromEntries(fields) }));
    expect(misspelt - short).toBeLessThan(10);
  });

  test('count only with valid credentials: refused requests use none of the share', async () => {
    const { socket, send, responses } = pipeline({ ...busy, token: 'wrong' }, '/v1/deliveries');
    send(300);
    await until('all are refused', () => responses().filter((status) => status === '401').length === 300);
    socket.destroy();
    expect((await request(`${service.url}/healthz`)).httpStatus).toBe(200);
  });
});
