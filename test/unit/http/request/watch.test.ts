import { afterEach, expect, test, describe } from '@jest/globals';
import express from 'express';
import fc from 'fast-check';
import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { z } from 'zod';
import { type Listener, listen } from '../../../../src/http/connections/listener.js';
import { instantInBody, instantInQuery } from '../../../../src/http/request/fields.js';
import { watchRequests } from '../../../../src/http/request/watch.js';
import { route } from '../../../../src/http/route.js';
import { createMetrics } from '../../../../src/platform/telemetry/metrics.js';
import { until } from '../../../support/until.js';

describe('a watched request', () => {
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
    const logger = pino(
      {},
      { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    );
    const metrics = createMetrics();
    const { watch, onGivenUp } = watchRequests(logger, metrics, routes);
    const app = express()
      .use(watch)
      .get('/refused', (_request, response) => void response.status(404).send('refused'))
      .use((_request, response) => void response.send('well'));
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
    /** One after the other on one connection. Resolves with how long that took, in seconds. */
    const askTimes = async (path: string, count: number) => {
      const startedAt = performance.now();
      const client = await connected();
      let text = '';
      client.on('data', (chunk: Buffer) => (text += chunk.toString()));
      client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count));
      await until('the responses', () => Promise.resolve(text.split('HTTP/1.1 ').length > count));
      client.destroy();
      return (performance.now() - startedAt) / 1_000;
    };
    return { lines, metrics, ask, askTimes };
  }

  test('refused beyond ten a second is counted in one line, and so are others beyond a hundred without an account', async () => {
    const { lines, askTimes } = await start();
    for (const [path, status, message, ofOwn] of [
      ['/refused', 404, 'more requests refused', 10],
      ['/well', 200, 'more requests without an account', 100],
    ] as const) {
      const count = 300;
      const seconds = await askTimes(path, count);
      const own = () => lines.filter((line) => line.status === status).length;
      const counted = () =>
        lines.reduce((sum, { msg, statuses }) => {
          const ofStatus = (statuses as Record<number, number> | undefined)?.[status] ?? 0;
          return msg === message ? sum + ofStatus : sum;
        }, 0);
      await until('all are logged or counted', () => Promise.resolve(own() + counted() === count));
      expect(own()).toBeLessThanOrEqual(ofOwn * Math.ceil(seconds + 1));
    }
    expect(lines.find(({ msg }) => msg === 'more requests refused')).toMatchObject({
      count: expect.any(Number),
    });
  });

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
});

describe('times', () => {
  const inQuery = instantInQuery('When', '2026-11-21T12:00:00Z');
  const inBody = instantInBody('When', '2026-11-21T12:00:00Z');
  const at = (text: string) => inQuery.safeParse(text).data?.toISOString();

  test.each([
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T12:00Z', '2026-11-21T12:00:00.000Z'],
    ['2026-11-21T12:00:00.5+01:00', '2026-11-21T11:00:00.500Z'],
    ['2026-11-21T12:00:00 01:00', '2026-11-21T11:00:00.000Z'],
    ['2026-11-21T12:00:00.1234567Z', '2026-11-21T12:00:00.123Z'],
    ['2026-11-21t12:00:00.999999999z', '2026-11-21T12:00:00.999Z'],
    ['2026-11-21T12:00:00+0000', '2026-11-21T12:00:00.000Z'],
    ['2026-11-21T12:00:00+01', '2026-11-21T11:00:00.000Z'],
    ['2026-11-21T12:00:00-0100', '2026-11-21T13:00:00.000Z'],
    ['1795262400000', '2026-11-21T12:00:00.000Z'],
    ['0', '1970-01-01T00:00:00.000Z'],
    ['978307200000', '2001-01-01T00:00:00.000Z'],
    ['1912-06-23', '1970-01-01T00:00:00.000Z'],
    ['253402300799999', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, iso) => expect(at(text)).toBe(iso));

  test.each([
    '',
    ' ',
    'x',
    '2026-02-30',
    '2026-13-01',
    '2026-11-21T12:00:00',
    '2026-11-21T24:00Z',
    '-1',
    '1e3',
    '1.5',
    '1',
    '1795262400',
    '978307199999',
  ])('%s is not a valid time', (text) => expect(at(text)).toBeUndefined());

  test('everything that matches the documented pattern is a valid time', () => {
    const { pattern } = z.toJSONSchema(inQuery, { io: 'input' });
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(pattern!)), (text) => {
        for (const schema of [inQuery, inBody]) {
          const ms = schema.parse(text)!.getTime();
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(Date.parse('9999-12-31T23:59:59.999Z'));
        }
      }),
    );
  });

  test('in a body, a time may be a number of milliseconds, not of seconds', () => {
    expect(inBody.parse(978_307_200_000.5)).toEqual(new Date(978_307_200_000));
    for (const wrong of [-1, 1.5, 1_795_262_400, 978_307_199_999, 1e15, NaN, true, null, {}])
      expect(inBody.safeParse(wrong).success).toBe(false);
    for (const given of [1_795_262_400, '1795262400', 2.5e-323])
      expect(inBody.safeParse(given).error?.issues).toMatchObject([
        { message: expect.stringMatching(/looks like seconds$/) },
      ]);
  });
});
