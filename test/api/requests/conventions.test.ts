import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  registerAccount,
  request,
  sampleOrder,
  parseResponse,
  sendRaw,
  type Account,
} from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { expectFailure, expectSuccess, expectWrong, uuidForm } from '../../support/expect.js';

let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startService();
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const anyId = '018f0000-0000-7000-8000-000000000000';

describe('responses', () => {
  test('every success is the envelope, with processId on order integration only', async () => {
    for (const path of ['/v1/webhooks', '/v1/deliveries']) {
      const response = await account.call(path);
      expectSuccess(response, 200);
      expect(response.body).not.toHaveProperty('processId');
    }
    const order = await account.call('/v1/shipments', { body: sampleOrder() });
    expectSuccess(order, 201);
    expect(Object.keys(order.body)).toEqual(['version', 'status', 'processId', 'timestamp', 'data']);
    expect(order.body.processId).toMatch(uuidForm);
  });

  test('a list is an object with nextCursor, null at the end', async () => {
    expect((await account.call('/v1/webhooks')).data).toEqual({ webhooks: [], nextCursor: null });
    expect((await account.call('/v1/deliveries?state=LOST')).data).toEqual({
      deliveries: [],
      nextCursor: null,
    });
  });

  test('no header reveals the software behind the service', async () => {
    const { headers } = await account.call('/v1/webhooks');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
  });

  test('API responses, including failures, are not cacheable; the document is', async () => {
    const paths = ['/v1/webhooks', '/v1/login', '/v1/nothing', '/v1/webhooks?limit=0', '/operator/v1/status'];
    for (const path of paths)
      for (const method of ['GET', 'PUT'])
        for (const response of [
          await account.call(path, { method }),
          await request(`${service.url}${path}`, { method }),
          await request(`${service.url}${path}`, { method, headers: { 'parcelhook-attempt': '1' } }),
        ])
          expect([path, method, response.headers.get('cache-control')]).toEqual([
            path,
            method,
            'private, no-store',
          ]);
    expect((await request(`${service.url}/openapi.json`)).headers.get('cache-control')).toMatch(/^public/);
  });

  test('HEAD returns the headers of GET, without a body', async () => {
    const response = await account.call('/v1/webhooks', { method: 'HEAD' });
    expect(response.httpStatus).toBe(200);
    expect(response.body).toEqual({ text: '' });
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect((await request(`${service.url}/v1/webhooks`, { method: 'HEAD' })).httpStatus).toBe(401);
  });
});

describe('request ids', () => {
  test("the caller's own id is returned, also in a failure and in the log line", async () => {
    const id = 'my-request_1.2';
    const headers = { 'x-request-id': id };
    const authorization = `Bearer ${account.token}`;
    expect(
      (await account.call('/v1/webhooks', { headers: { ...headers, authorization } })).headers.get(
        'x-request-id',
      ),
    ).toBe(id);
    const failure = await request(`${service.url}/v1/nothing`, { headers });
    expectFailure(failure, 404);
    expect(failure.body.error.requestId).toBe(id);
    const lines = () => service.process.output().split(`"requestId":"${id}"`).length - 1;
    const until = Date.now() + 5_000;
    while (lines() < 2 && Date.now() < until) await sleep(10);
    expect(lines()).toBe(2);
  });

  test.each([
    ['with a space', 'a b'],
    ['with quotes', 'a"b'],
    ['too long', 'a'.repeat(129)],
    ['empty', ''],
    ['beyond ASCII', 'é'],
  ])('a malformed id (%s) is replaced', async (_, id) => {
    const { headers } = await request(`${service.url}/v1/login`, { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toMatch(uuidForm);
  });

  test('without one every response has its own', async () => {
    const ids = await Promise.all(
      ['/v1/webhooks', '/v1/nothing', '/healthz', '/set-password'].map(async (path) =>
        (await request(`${service.url}${path}`)).headers.get('x-request-id'),
      ),
    );
    for (const id of ids) expect(id).toMatch(uuidForm);
    expect(new Set(ids).size).toBe(4);
  });
});

describe('routes and methods', () => {
  test.each(['/v1', '/v1/nothing', '/v2/webhooks', '/V1/webhooks', '/v1/webhooks/a/b/c', '/operator'])(
    'GET %s returns 404',
    async (path) => expectFailure(await request(`${service.url}${path}`), 404),
  );

  test.each<[string, string, string[]]>([
    ['POST', '/v1/login', ['GET']],
    ['PUT', '/v1/webhooks', ['GET', 'POST']],
    ['DELETE', '/v1/webhooks', ['GET', 'POST']],
    ['PUT', `/v1/webhooks/${anyId}`, ['GET', 'PATCH', 'DELETE']],
    ['POST', `/v1/webhooks/${anyId}`, ['GET', 'PATCH', 'DELETE']],
    ['PUT', '/v1/shipments', ['GET', 'POST']],
    ['POST', '/v1/shipment-tracking/PH1', ['GET']],
    ['POST', '/v1/deliveries', ['GET']],
    ['DELETE', `/v1/deliveries/${anyId}`, ['GET']],
    ['OPTIONS', '/v1/shipments', ['GET', 'POST']],
    ['PUT', '/operator/v1/shippers', ['GET', 'POST']],
    ['GET', '/operator/v1/events', ['POST']],
    ['POST', '/operator/v1/status', ['GET']],
    ['POST', '/healthz', ['GET']],
    ['DELETE', '/readyz', ['GET']],
    ['OPTIONS', '/metrics', ['GET']],
    ['POST', '/openapi.json', ['GET']],
    ['POST', '/docs/search', ['GET']],
    ['PUT', '/docs', ['GET']],
    ['PUT', '/docs/runbook', ['GET']],
    ['DELETE', '/set-password', ['GET', 'POST']],
  ])('%s %s returns 405 allowing %j, with or without a token', async (method, path, methods) => {
    for (const headers of [{}, { authorization: `Bearer ${account.token}` }]) {
      const url = `${service.url}${path}?key=${account.accountKey}`;
      const response = await request(url, { method, headers });
      expectFailure(response, 405);
      const allowed = response.headers
        .get('allow')!
        .split(', ')
        .filter((name) => name !== 'HEAD');
      expect(allowed.sort()).toEqual([...methods].sort());
    }
  });
});

describe('bodies', () => {
  const post = (raw: string | Buffer, headers: Record<string, string> = {}) =>
    account.call('/v1/shipments', {
      raw,
      headers: { authorization: `Bearer ${account.token}`, ...headers },
    });
  const padded = (bytes: number) => {
    const text = JSON.stringify({ ...sampleOrder(), padding: '' });
    return text.replace('"padding":""', `"padding":"${'x'.repeat(bytes - text.length)}"`);
  };

  test('256 KiB are accepted, one byte more returns 413', async () => {
    expect(padded(262_144)).toHaveLength(262_144);
    expectSuccess(await post(padded(262_144)), 201, ['padding']);
    expectFailure(await post(padded(262_145)), 413);
    expectFailure(await post(padded(3_000_000)), 413);
  });

  test('the limit counts bytes, even without an announced length', async () => {
    const chunk = `40000\r\n${'x'.repeat(0x40000)}\r\n1\r\nx\r\n0\r\n\r\n`;
    const head = [
      `POST /v1/shipments?key=${account.accountKey} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${account.token}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      'Connection: close',
    ];
    expectFailure(parseResponse(await sendRaw(service.url, `${head.join('\r\n')}\r\n\r\n${chunk}`)), 413);
  });

  test.each([
    ['announced', 'Content-Length: 3000000', 'x'],
    [
      'of a length that is not announced',
      'Transfer-Encoding: chunked',
      `50000\r\n${'x'.repeat(0x50000)}\r\n`,
    ],
  ])('a body that is too large, %s, is refused before its end arrives', async (_what, header, part) => {
    const head = [
      `POST /v1/shipments?key=${account.accountKey} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${account.token}`,
      'Content-Type: application/json',
      header,
    ];
    // The service closes the connection although the client does not.
    expectFailure(parseResponse(await sendRaw(service.url, `${head.join('\r\n')}\r\n\r\n${part}`)), 413);
  });

  test('a byte order mark before the JSON is accepted, and an empty body is an empty object', async () => {
    expectSuccess(await post(`\ufeff${JSON.stringify(sampleOrder())}`), 201);
    expectFailure(await post(''), 400);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'nonsense',
  ])('a body of type %s returns 415', async (type) => {
    expectFailure(await post(JSON.stringify(sampleOrder()), { 'content-type': type }), 415);
  });

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'a body of type %s is accepted',
    async (type) => {
      expectSuccess(await post(JSON.stringify(sampleOrder()), { 'content-type': type }), 201);
    },
  );

  test('a body without a type returns 415', async () => {
    const body = JSON.stringify(sampleOrder());
    const head = [
      `POST /v1/shipments?key=${account.accountKey} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${account.token}`,
      `Content-Length: ${body.length}`,
      'Connection: close',
    ];
    expectFailure(parseResponse(await sendRaw(service.url, `${head.join('\r\n')}\r\n\r\n${body}`)), 415);
  });

  test('no body at all returns 400', async () => {
    for (const path of ['/v1/shipments', '/v1/webhooks'])
      expectFailure(await account.call(path, { method: 'POST' }), 400);
  });

  test('unknown fields are ignored', async () => {
    const order = sampleOrder();
    const response = await account.call('/v1/shipments', {
      body: { ...order, extra: 1, package: { ...order.package, extra: { deep: [null] } } },
    });
    expectSuccess(response, 201, ['package.extra', 'extra']);
    expect(JSON.stringify(response.data)).not.toContain('extra');
  });
});

describe('limit and cursor', () => {
  test.each(['0', '251', '-1', '1.5', 'x', '', '1e1', '0x10', '%201', '1&limit=2'])(
    'limit=%s returns 400 naming it, on every list',
    async (limit) => {
      for (const path of ['/v1/webhooks', '/v1/deliveries'])
        expectWrong(await account.call(`${path}?limit=${limit}`), ['limit']);
    },
  );

  test.each(['1', '50', '250'])('limit=%s is accepted', async (limit) => {
    for (const path of ['/v1/webhooks', '/v1/deliveries'])
      expectSuccess(await account.call(`${path}?limit=${limit}`), 200);
  });

  test.each(['x', '%00', 'MTIz', '*'.repeat(300), "'; drop table webhooks; --"])(
    'a cursor the service never issued (%s) returns 400 naming it',
    async (cursor) => {
      for (const path of ['/v1/webhooks', '/v1/deliveries'])
        expectWrong(await account.call(`${path}?cursor=${cursor}`), ['cursor']);
    },
  );

  test('all wrong parameters are named at once', async () => {
    const response = await account.call('/v1/deliveries?limit=0&cursor=x&status=NO&webhookId=1&from=x&to=y');
    expectWrong(response, ['limit', 'cursor', 'status', 'webhookId', 'from', 'to']);
  });
});
