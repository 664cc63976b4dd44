import { afterEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { createServer, request as send, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import {
  memoryStore,
  ParcelhookError,
  receiver,
  type Client,
  type NotificationContext,
  type ReceiverOptions,
} from '../../../src/client/index.js';
import { receiver as receiverOnEdge } from '../../../src/client/web.js';
import type { FeedEvent } from '../../../src/client/api/types.js';
import { sign } from '../../../src/engine/send/headers.js';
import { newSecret } from '../../../src/engine/send/sealing.js';

const secret = newSecret();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

type Handled = { state: string } & NotificationContext;

/** A receiver by node:http that writes down what it handled. */
async function start(options: Partial<ReceiverOptions> = {}) {
  const handled: Handled[] = [];
  const errors: unknown[] = [];
  const handler = receiver({
    secret,
    store: memoryStore(),
    onNotification: ({ state }, context) => handled.push({ state, ...context }),
    onError: (error) => errors.push(error),
    ...options,
  });
  const url = await serve((request, response) => void handler(request, response));
  return { url, handler, handled, errors, states: () => handled.map(({ state }) => state) };
}

const bodyOf = (fields: object = {}) => JSON.stringify({ state: 'CREATED', tracking_id: 'PH1', ...fields });

interface Sent {
  id?: string;
  body?: string;
  sequence?: number;
  attempt?: number;
  signedWith?: string;
}

function headersOf({ id = 'e1', body = bodyOf(), sequence = 1, attempt = 1, signedWith = secret }: Sent) {
  const at = Math.floor(Date.now() / 1_000);
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': sign([signedWith], id, at, body),
    'parcelhook-sequence': String(sequence),
    'parcelhook-attempt': String(attempt),
  };
}

async function post(url: string, sent: Sent = {}): Promise<[status: number, text: string]> {
  const { body = bodyOf() } = sent;
  const response = await fetch(url, { method: 'POST', headers: headersOf(sent), body });
  return [response.status, await response.text()];
}

const feedEvent = (sequence: number, state: string, eventId = `e${sequence}`) =>
  ({ eventId, sequence, state, trackingId: 'PH1', notification: { state, tracking_id: 'PH1' } }) as FeedEvent;

/** An id as the service makes them, in order. */
const idOf = (sequence: number) => `0197a1b2-c3d4-7e5f-8a9b-${String(sequence).padStart(12, '0')}`;

/** A feed of one page. */
const feedOf = (...all: FeedEvent[]): Pick<Client, 'events'> => ({
  events: {
    list: ({ after } = {}) => Promise.resolve({ events: after === undefined ? all : [], nextCursor: 'end' }),
    follow: () => {
      throw new Error('not used');
    },
  },
});

describe('requests', () => {
  test('a notification is handled, a second copy only accepted', async () => {
    const { url, handled } = await start();
    expect(await post(url)).toEqual([204, '']);
    expect(await post(url)).toEqual([204, '']);
    expect(handled).toEqual([
      {
        state: 'CREATED',
        eventId: 'e1',
        sequence: 1,
        missing: null,
        source: 'REQUEST',
        transaction: undefined,
      },
    ]);
  });

  test('one with a wrong signature is refused with 400 and the reason', async () => {
    const { url, handled } = await start();
    const [status, text] = await post(url, { signedWith: newSecret() });
    expect([status, text]).toEqual([400, expect.stringContaining('no signature matches')]);
    expect(handled).toEqual([]);
  });

  test('a challenge is echoed, but a header alone makes no notification one', async () => {
    const { url, states } = await start();
    const challenged = async (body: string) => {
      const headers = { ...headersOf({ body }), 'webhook-challenge': 'echo-me' };
      const response = await fetch(url, { method: 'POST', headers, body });
      return [response.status, await response.text()];
    };
    expect(await challenged('{}')).toEqual([200, 'echo-me']);
    expect(states()).toEqual([]);
    expect(await challenged(bodyOf())).toEqual([204, '']);
    expect(states()).toEqual(['CREATED']);
  });

  test('other methods are refused with 405', async () => {
    const { url } = await start();
    const response = await fetch(url);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('a body over the limit is refused with 413', async () => {
    const { url, handled } = await start({ maxBodyBytes: 100 });
    expect((await post(url, { body: bodyOf({ label_id: 'x'.repeat(100) }) }))[0]).toBe(413);
    expect((await post(url))[0]).toBe(204);
    expect(handled).toHaveLength(1);
  });

  test('a body that does not arrive in time is refused with 408', async () => {
    const { url } = await start({ bodyTimeoutMs: 50 });
    const status = await new Promise((resolve, reject) => {
      const request = send(url, { method: 'POST', headers: { ...headersOf({}), 'content-length': 50 } });
      request.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject);
      request.write('{');
    });
    expect(status).toBe(408);
  });

  test('a sender that has gone is no error', async () => {
    const { url, errors, handler } = await start();
    let isOver: () => void;
    const over = new Promise<void>((resolve) => (isOver = resolve));
    const other = await serve((request, response) => void handler(request, response).then(isOver));
    const { port } = new URL(other);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{', () => socket.destroy());
    await over;
    expect(errors).toEqual([]);
    expect((await post(url))[0]).toBe(204);
  });

  test('behind a body parser it says so, behind express.raw() it works', async () => {
    const { handler, errors } = await start();
    const app = express();
    app.post('/hook', express.json(), handler);
    app.post('/raw', express.raw({ type: 'application/json' }), handler);
    const url = await serve(app);
    expect(await post(url)).toEqual([500, expect.stringContaining('before any body parser')]);
    expect(errors).toMatchObject([{ message: expect.stringContaining('body parser') }]);
    expect(await post(url.replace('hook', 'raw'))).toEqual([204, '']);
  });

  test.each<[string, (body: string) => object]>([
    ['rawBody, as in Cloud Functions, Firebase and NestJS', (body) => ({ rawBody: Buffer.from(body) })],
    ['rawBody as text, beside a parsed body', (body) => ({ rawBody: body, body: {} })],
    ['a body of text, as of express.text()', (body) => ({ body })],
    ['a body of bytes', (body) => ({ body: new TextEncoder().encode(body) })],
  ])('a body that was read before is taken from %s', async (_what, read) => {
    const { handler, handled } = await start();
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => void handler(Object.assign(request, read(body)), response));
    });
    expect((await post(url))[0]).toBe(204);
    expect(handled).toHaveLength(1);
  });

  test('a Request gets the Response that the server of Node would send', async () => {
    const handled: string[] = [];
    const handler = receiverOnEdge({
      ...{ secret, store: memoryStore(), maxBodyBytes: 100, bodyTimeoutMs: 50, onError: () => undefined },
      onNotification: ({ state }, { eventId }) => handled.push(`${state} ${eventId}`),
    });
    const url = 'https://example.com/hook';
    const call = async (sent: Sent, body: string | ReadableStream = sent.body ?? bodyOf()) => {
      const request = new Request(url, { method: 'POST', headers: headersOf(sent), body, duplex: 'half' });
      const response = await handler(request);
      return [response.status, (await response.text()).slice(0, 20)];
    };
    expect(await call({})).toEqual([204, '']);
    expect(await call({})).toEqual([204, '']);
    expect(await call({ id: 'e2', signedWith: newSecret() })).toEqual([400, 'no signature matches']);
    expect((await call({ body: bodyOf({ label_id: 'x'.repeat(100) }) }))[0]).toBe(413);
    expect((await call({}, new ReadableStream()))[0]).toBe(408);
    const get = await handler(new Request(url));
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    const used = new Request(url, { method: 'POST', body: bodyOf() });
    await used.text();
    expect((await handler(used)).status).toBe(500);
    expect(handled).toEqual(['CREATED e1']);
  });

  test.each([
    ['a secret', { secret: '' }],
    ['secrets', { secret: [] }],
    ['a function', { onNotification: undefined }],
  ])('without %s it does not start', async (_what, missing) => {
    await expect(start(missing as Partial<ReceiverOptions>)).rejects.toThrow(TypeError);
  });
});

describe('handling', () => {
  test('an error is answered with 500 without its text, reported, and the next copy is handled', async () => {
    let failures = 1;
    const handled: string[] = [];
    const { url, errors } = await start({
      onNotification({ state }) {
        if (failures-- > 0) throw new Error('Ana Torres');
        handled.push(state);
      },
    });
    expect(await post(url)).toEqual([500, 'The notification was not handled.']);
    expect(errors).toEqual([new Error('Ana Torres')]);
    expect(await post(url)).toEqual([204, '']);
    expect(handled).toEqual(['CREATED']);
  });

  test('one of two copies at once waits for the other', async () => {
    let running = 0;
    let most = 0;
    let calls = 0;
    const { url } = await start({
      async onNotification() {
        calls += 1;
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        if (calls === 1) throw new Error('The first one fails.');
      },
    });
    const statuses = (await Promise.all([post(url), post(url), post(url)])).map(([status]) => status);
    expect(statuses.sort()).toEqual([204, 204, 500]);
    expect({ calls, most }).toEqual({ calls: 2, most: 1 });
  });

  test('a state that was overtaken is dropped, a gap is reported', async () => {
    const { url, handled } = await start();
    await post(url, { id: idOf(3), sequence: 3, body: bodyOf({ state: 'IN_TRANSIT' }) });
    await post(url, { id: idOf(2), sequence: 2, body: bodyOf({ state: 'PICKED_UP' }) });
    expect(handled).toMatchObject([{ state: 'IN_TRANSIT', sequence: 3, missing: { from: 1, to: 2 } }]);
  });

  test('a sequence that somebody changed on the way drops no later state', async () => {
    const { url, states } = await start();
    for (const name of [idOf, (sequence: number) => `own-${sequence}`]) {
      const body = (state: string) => bodyOf({ state, tracking_id: name(0) });
      await post(url, { id: name(1), sequence: 999_999_999, body: body('CREATED') });
      await post(url, { id: name(2), sequence: 2, body: body('PICKED_UP') });
      await post(url, { id: name(1), sequence: 3, body: body('CREATED') });
      await post(url, { id: name(3), sequence: 3, body: body('IN_TRANSIT') });
      expect(states().splice(-3)).toEqual(['CREATED', 'PICKED_UP', 'IN_TRANSIT']);
    }
    expect(states()).toHaveLength(6);
  });

  test('tests and notices have functions of their own, a notice is handled once', async () => {
    const own: string[] = [];
    const { url, handled } = await start({
      onTest: ({ state }) => own.push(`test ${state}`),
      onNotice: ({ state }) => own.push(`notice ${state}`),
    });
    const notice = JSON.stringify({ state: 'WEBHOOK_DISABLED', webhook_id: 'w' });
    await post(url, { id: 't', body: bodyOf({ tracking_id: 'TEST' }) });
    await post(url, { id: 'n', body: notice });
    await post(url, { id: 'n', body: notice });
    expect(own).toEqual(['test CREATED', 'notice WEBHOOK_DISABLED']);
    expect(handled).toEqual([]);
  });

  test('a store in memory forgets the shipment that was quiet for longest', async () => {
    const { url, handled } = await start({ store: memoryStore({ maxShipments: 2 }) });
    const about = (trackingId: string) => ({ id: trackingId, body: bodyOf({ tracking_id: trackingId }) });
    for (const trackingId of ['A', 'B', 'C', 'B', 'A']) await post(url, about(trackingId));
    expect(handled.map(({ eventId }) => eventId)).toEqual(['A', 'B', 'C', 'A']);
  });
});

describe('with a feed', () => {
  const third = { id: 'e3', sequence: 3, body: bodyOf({ state: 'IN_TRANSIT' }) };
  const all = [feedEvent(1, 'CREATED'), feedEvent(2, 'PICKED_UP'), feedEvent(3, 'IN_TRANSIT')];

  test('what is missing is handled first', async () => {
    const { url, handled } = await start({ client: feedOf(...all, feedEvent(4, 'DELIVERED')) });
    await post(url, third);
    expect(handled.map(({ state, source, missing }) => [state, source, missing])).toEqual([
      ['CREATED', 'FEED', null],
      ['PICKED_UP', 'FEED', null],
      ['IN_TRANSIT', 'REQUEST', null],
    ]);
  });

  test('states without interest are left out, and are no gap', async () => {
    const { url, handled } = await start({ client: feedOf(...all), interests: ['CREATED', 'IN_TRANSIT'] });
    await post(url, third);
    expect(handled).toMatchObject([
      { state: 'CREATED', missing: null },
      { state: 'IN_TRANSIT', missing: null },
    ]);
  });

  test('a sequence that is not that of the feed does not count', async () => {
    const { url, states } = await start({ client: feedOf(...all) });
    await post(url, { ...third, sequence: 900 });
    await post(url, { id: 'e4', sequence: 4, body: bodyOf({ state: 'DELIVERED' }) });
    expect(states()).toEqual(['CREATED', 'PICKED_UP', 'IN_TRANSIT', 'DELIVERED']);
  });

  test('one that is said to be overtaken is handled, unless the feed has a later one that was', async () => {
    const own = [
      feedEvent(1, 'CREATED', 'a'),
      feedEvent(2, 'PICKED_UP', 'b'),
      feedEvent(3, 'IN_TRANSIT', 'c'),
    ];
    const { url, states, handler } = await start({ client: feedOf(...own, feedEvent(4, 'DELIVERED', 'd')) });
    await post(url, { id: 'a', sequence: 1 });
    await post(url, { id: 'c', sequence: 2, body: bodyOf({ state: 'IN_TRANSIT' }) }); // it hides a gap
    await post(url, { id: 'b', sequence: 2, body: bodyOf({ state: 'PICKED_UP' }) });
    await post(url, { id: 'd', sequence: 1, body: bodyOf({ state: 'DELIVERED' }) });
    expect(states()).toEqual(['CREATED', 'IN_TRANSIT', 'DELIVERED']);
    expect(await handler.reconcile(new Date(0))).toBe(0);
  });

  test('an event that is not in it yet is awaited for two attempts', async () => {
    const { url, handled, errors } = await start({ client: feedOf() });
    expect((await post(url, third))[0]).toBe(500);
    expect((await post(url, { ...third, attempt: 2 }))[0]).toBe(500);
    expect((await post(url, { ...third, attempt: 3 }))[0]).toBe(204);
    expect(handled).toMatchObject([{ state: 'IN_TRANSIT', missing: { from: 1, to: 2 } }]);
    expect(errors).toHaveLength(3);
  });

  test.each([
    ['is down for now, the notification comes again', 'UNREACHABLE', 500],
    ['refuses for good, the notification is handled', 'FORBIDDEN', 204],
  ] as const)('if it %s', async (_what, code, status) => {
    const client = feedOf();
    client.events.list = () => Promise.reject(new ParcelhookError('No.', { code }));
    const { url, handled, errors } = await start({ client });
    expect((await post(url, third))[0]).toBe(status);
    expect(handled).toHaveLength(status === 204 ? 1 : 0);
    expect(errors).toMatchObject([{ code }]);
  });
});
