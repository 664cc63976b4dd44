import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import * as z from 'zod';
import { listen, type Listener } from '../../../../src/http/connections/listener.js';
import { watchRequests } from '../../../../src/http/request/watch.js';
import { route } from '../../../../src/http/route.js';
import { createMetrics } from '../../../../src/platform/telemetry/metrics.js';
import { until } from '../../../support/until.js';

let listener: Listener | undefined;
afterEach(() => listener?.close());

const declared = (method: 'get' | 'post', path: string, slowByDesign = false) =>
  route({
    method,
    path,
    slowByDesign,
    operationId: path,
    tag: 'Shipments',
    summary: path,
    responses: { 200: z.object({}) },
    handle: () => Promise.resolve(null),
  });
const routes = [
  declared('post', '/v1/shipments'),
  declared('get', '/v1/webhooks/:webhookId'),
  declared('get', '/v1/login', true),
];

async function start() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const metrics = createMetrics();
  const { watch, onGivenUp } = watchRequests(logger, metrics, routes);
  const app = express().use(watch, (_request, response) => void response.send('well'));
  listener = await listen(Object.assign(app, { onGivenUp }), {
    port: 0,
    host: '127.0.0.1',
    limits: { maxConnections: 50, maxPerBlock: 50, isProxy: () => false, onDropped: () => undefined },
    maxResponseMs: 0,
  });
  const connected = async () => {
    const client = connect({ port: listener!.port, host: '127.0.0.1' });
    await once(client, 'connect');
    return client;
  };
  /** Three event-loop ticks' worth of requests of others come first; a client that leaves does so meanwhile. */
  const ask = async (method: string, target: string, leaves: boolean) => {
    const others = await Promise.all(Array.from({ length: 24 }, connected));
    const client = await connected();
    await until('all are accepted', () => Promise.resolve(listener!.connections() === others.length + 1));
    for (const other of others) other.write('GET /other HTTP/1.1\r\nHost: x\r\n\r\n');
    client.write(`${method} ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    if (leaves) client.destroy();
    await Promise.all((leaves ? others : [client, ...others]).map((socket) => once(socket, 'data')));
    for (const socket of [client, ...others]) socket.destroy();
    await until('all are gone', () => Promise.resolve(listener!.connections() === 0));
  };
  return { lines, metrics, ask };
}

test('a client that gives up before its turn is counted and logged as 499, for the route it asked for', async () => {
  const { lines, metrics, ask } = await start();
  await ask('POST', '/v1/shipments?key=secret', true);
  await ask('HEAD', '/v1/webhooks/0190?key=secret', true);
  await ask('GET', '/v1/login?key=secret', true);
  await ask('GET', '/nowhere', true);
  const left = lines.filter(({ status }) => status === 499);
  expect(left).toHaveLength(4);
  const text = await metrics.text();
  for (const labels of [
    'route="/v1/shipments",method="POST"',
    'route="/v1/webhooks/:webhookId",method="GET"',
    'route="/v1/login",method="GET"',
    'route="unmatched",method="GET"',
  ])
    expect(text).toContain(`parcelhook_http_requests_total{${labels},status="499"} 1`);
  expect(text).toContain(
    'parcelhook_http_request_duration_seconds_count{route="/v1/*",method="any",status="499"} 2',
  );
  expect(text).toContain('parcelhook_http_slow_by_design_duration_seconds_count{route="/v1/login"} 1');
  const order = left.find(({ method }) => method === 'POST');
  expect(order).toMatchObject({ route: '/v1/shipments', status: 499, aborted: true });
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('a client that waits gets its response, and is counted once', async () => {
  const { lines, metrics, ask } = await start();
  await ask('GET', '/nowhere?key=secret', false);
  expect(lines.map(({ status }) => status)).toEqual(Array(25).fill(200));
  expect(await metrics.text()).toContain(
    'parcelhook_http_requests_total{route="unmatched",method="GET",status="200"} 25',
  );
});
