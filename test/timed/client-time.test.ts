import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import * as z from 'zod';
import { listen, type Listener } from '../../src/http/connections/listener.js';
import { createShares } from '../../src/http/request/shares.js';
import { createBodyBytes } from '../../src/http/request/body.js';
import { route } from '../../src/http/route.js';
import { createApp } from '../../src/http/server.js';
import { createMetrics, type Metrics } from '../../src/platform/telemetry/metrics.js';
import { until } from '../support/until.js';

const workMs = 700;
/** More than the socket buffers of both sides take. */
const largeBytes = 9 * 1024 * 1024;
/** Longer than what still counts as fast. */
const clientsMs = 1_500;

let listener: Listener;
let metrics: Metrics;
let working = 0;

const declared = (
  method: 'get' | 'post',
  path: string,
  answer: () => Promise<string>,
  cost: 'usual' | 'costly' = 'usual',
) =>
  route({
    cost,
    method,
    path,
    operationId: path,
    tag: 'Shipments',
    summary: path,
    responses: { 200: z.object({}) },
    body: z.any(),
    handle: async () => {
      working += 1;
      return { message: 'OK', data: await answer() } as never;
    },
  });
const work = () => sleep(workMs, 'done');
const large = () => Promise.resolve('x'.repeat(largeBytes));
const routes = [
  declared('post', '/v1/fast', () => Promise.resolve('done')),
  declared('post', '/v1/slow', work),
  declared('get', '/v1/slow', work),
  declared('get', '/v1/large', large),
  declared('get', '/v1/costly', () => sleep(clientsMs, 'done'), 'costly'),
];

const caller = { shipperId: 's', userId: 'u', operator: null, program: null, address: null };

beforeAll(async () => {
  const shares = (concurrency: number, concurrencyPerShipper: number) =>
    createShares({
      maxUnderWay: 20,
      concurrency,
      concurrencyPerShipper,
      maxUnread: 20,
      maxWaitMs: workMs,
      stalledAfterMs: Infinity,
      maxStalled: 20,
      maxOutside: 5,
      onRefused: () => undefined,
    });
  const authenticate = () => Promise.resolve({ ...caller });
  const appOf = (costlyAtOnce: number) =>
    createApp({
      api: {
        routes,
        authenticate: { shipper: authenticate, operator: authenticate },
        authorize: () => Promise.resolve(),
        limit: () => undefined,
        shares: { usual: shares(20, 20), costly: shares(costlyAtOnce, 1) },
        bodyBytes: createBodyBytes({ maxBytes: 2 ** 24, onRefused: () => undefined }),
      },
      pages: [],
      logger: pino({ enabled: false }),
      metrics,
      trustProxy: undefined,
    });
  metrics = createMetrics();
  listener = await listen(appOf(20), {
    port: 0,
    host: '127.0.0.1',
    limits: { maxConnections: 50, maxPerBlock: 50, isProxy: () => false, onDropped: () => undefined },
    maxResponseMs: 1_000,
  });
  renew = (costlyAtOnce = 20) => {
    metrics = createMetrics();
    listener.use(appOf(costlyAtOnce));
  };
});
let renew: (costlyAtOnce?: number) => void;
beforeEach(() => {
  caller.shipperId = 's';
  renew();
  working = 0;
});
afterAll(() => listener.close());

async function connected(): Promise<Socket> {
  const client = connect({ port: listener.port, host: '127.0.0.1' });
  client.on('error', () => undefined);
  await once(client, 'connect');
  return client;
}
const head = (method: string, path: string, length = 0) =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

/** How many requests with this status the objectives count, and how many of them as fast. */
async function counted(status = ''): Promise<{ all: number; fast: number }> {
  const text = await metrics.text();
  const sum = (pattern: RegExp) =>
    [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  const labels = `[^}]*status="${status || '[^"]*'}"`;
  const name = 'parcelhook_http_request_duration_seconds';
  return {
    all: sum(new RegExp(`^${name}_count\\{${labels}[^}]*\\} (.+)$`, 'gm')),
    fast: sum(new RegExp(`^${name}_bucket\\{le="0.5",${labels}[^}]*\\} (.+)$`, 'gm')),
  };
}
async function oneCounted(status = ''): Promise<'fast' | 'slow'> {
  await until('the request is counted', async () => (await counted(status)).all > 0);
  const { all, fast } = await counted(status);
  expect(all).toBe(1);
  return fast === 1 ? 'fast' : 'slow';
}

test('a client that closes a slow upload did not wait for us', async () => {
  const client = await connected();
  client.write(`${head('POST', '/v1/fast', 10)}{`);
  await sleep(clientsMs); // the upload
  client.destroy();
  expect(await oneCounted('499')).toBe('fast');
});

test('a slow upload does not make a fast answer slow', async () => {
  const client = await connected();
  client.write(`${head('POST', '/v1/fast', 2)}{`);
  await sleep(clientsMs); // the upload
  client.write('}');
  await once(client, 'data');
  client.destroy();
  expect(await oneCounted('200')).toBe('fast');
});

test('a client that never reads its answer did not wait for us', async () => {
  const client = await connected();
  client.pause();
  client.write(head('GET', '/v1/large'));
  await until('it is answered', () => Promise.resolve(working === 1));
  await sleep(clientsMs); // not read
  client.destroy();
  expect(await oneCounted()).toBe('fast');
});

test('a client that reads its answer slowly does not make it slow', async () => {
  const client = await connected();
  client.pause();
  client.write(head('GET', '/v1/large'));
  await until('it is answered', () => Promise.resolve(working === 1));
  await sleep(clientsMs); // not read
  client.resume();
  expect(await oneCounted('200')).toBe('fast');
  client.destroy();
});

test('requests behind an answer that their client does not read do not wait for us', async () => {
  const client = await connected();
  client.pause();
  client.write(head('GET', '/v1/large') + head('GET', '/v1/large') + head('POST', '/v1/fast'));
  await until('the first is answered', () => Promise.resolve(working > 0));
  await sleep(clientsMs); // not read
  client.destroy();
  await until('all are counted', async () => (await counted()).all === 3);
  expect((await counted()).fast).toBe(3);
});

test('a client that gives up while we work waited for us', async () => {
  const client = await connected();
  client.write(`${head('POST', '/v1/slow', 2)}{}`);
  await until('we work', () => Promise.resolve(working === 1));
  await sleep(workMs - 50); // of our work
  client.destroy();
  expect(await oneCounted('499')).toBe('slow');
});

test('an answer that takes us long is slow', async () => {
  const client = await connected();
  client.write(head('GET', '/v1/slow'));
  await once(client, 'data');
  client.destroy();
  expect(await oneCounted('200')).toBe('slow');
});

/** The second of two requests, while the first is at work. */
async function second(shipperId = 's'): Promise<{ first: Socket; client: Socket }> {
  const [first, client] = [await connected(), await connected()];
  first.write(head('GET', '/v1/costly'));
  await until('the first is at work', () => Promise.resolve(working === 1));
  caller.shipperId = shipperId;
  client.write(head('GET', '/v1/costly'));
  return { first, client };
}

test("a client that gives up behind its shipper's own requests did not wait for us", async () => {
  const { first, client } = await second();
  await sleep(workMs - 100); // behind the first
  client.destroy();
  expect(await oneCounted('499')).toBe('fast');
  first.destroy();
});

test("a refusal after a wait behind the shipper's own requests was not late", async () => {
  const { first, client } = await second();
  await once(client, 'data');
  expect(await oneCounted('4xx')).toBe('fast');
  first.destroy();
  client.destroy();
});

test('a client that gives up behind the requests of other shippers waited for us', async () => {
  renew(1);
  const { first, client } = await second('other');
  await sleep(workMs - 100); // behind the first
  client.destroy();
  expect(await oneCounted('499')).toBe('slow');
  first.destroy();
});
