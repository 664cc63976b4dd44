import { beforeAll, describe, expect, test } from '@jest/globals';
import { registerAccount, request, sampleOrder, parseResponse, sendRaw } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong, uuidForm } from '../../support/expect.js';
import type { OpenApiDocument } from '../../../src/http/openapi/schemas.js';
import { operationsOf, type Described } from '../../support/openapi.js';
import { bareCall } from '../documents/openapi-calls.js';
import { until } from '../../support/until.js';

const service = await sharedService();
const account = await registerAccount(service);

const anyId = '018f0000-0000-7000-8000-000000000000';
/** Sends a body that `fetch` would not send. */
const sendOrder = async (headers: string, body: string) =>
  parseResponse(
    await sendRaw(
      service.url,
      `POST /v1/shipments?key=${account.accountKey} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${account.token}\r\n${headers}\r\n\r\n${body}`,
    ),
  );

describe('responses', () => {
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
    const success = await account.call('/v1/webhooks', { headers });
    expect(success.headers.get('x-request-id')).toBe(id);
    const failure = await request(`${service.url}/v1/nothing`, { headers });
    expectFailure(failure, 404);
    expect(failure.body.error.requestId).toBe(id);
    const isLogged = (status: number) =>
      new RegExp(`"requestId":"${id}"[^\\n]*"status":${status}`).test(service.log());
    await until('the success is logged', () => isLogged(200));
    // Beyond ten refused requests a second, lines are only counted.
    await until('a failure is logged', async () => {
      await request(`${service.url}/v1/nothing`, { headers });
      return isLogged(404);
    });
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

  test('each path refuses a method that it does not have with 405 and those it has, with or without a token', async () => {
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
    for (const [index, [path, item]] of Object.entries(paths).entries()) {
      const methods = Object.keys(item).map((name) => name.toUpperCase());
      const others = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((name) => !methods.includes(name));
      const url = `${service.url}${path.replace(/\{\w+\}/g, anyId)}?key=${account.accountKey}`;
      for (const headers of [{}, { authorization: `Bearer ${account.token}` }]) {
        const response = await request(url, { method: others[index % others.length]!, headers });
        expectFailure(response, 405);
        const allowed = new Set(response.headers.get('allow')!.split(', '));
        allowed.delete('HEAD');
        expect([path, allowed]).toEqual([path, new Set(methods)]);
      }
    }
  });
});

describe('bodies', () => {
  const post = (raw: string | Buffer, headers: Record<string, string> = {}) =>
    account.call('/v1/shipments', { raw, headers });
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
    const headers = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close';
    expectFailure(await sendOrder(headers, `40000\r\n${'x'.repeat(0x40000)}\r\n1\r\nx\r\n0\r\n\r\n`), 413);
  });

  test.each([
    ['announced', 'Content-Length: 3000000', 'x'],
    [
      'of a length that is not announced',
      'Transfer-Encoding: chunked',
      `50000\r\n${'x'.repeat(0x50000)}\r\n`,
    ],
  ])('a body that is too large, %s, is refused before its end arrives', async (_what, header, part) => {
    // The service closes the connection although the client does not.
    expectFailure(await sendOrder(`Content-Type: application/json\r\n${header}`, part), 413);
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

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json; charset=utf8',
    'application/json;charset=US-ASCII; x=y',
    'application/json; charset=ascii',
  ])('a body of type %s is accepted', async (type) => {
    expectSuccess(await post(JSON.stringify(sampleOrder()), { 'content-type': type }), 201);
  });

  test('a body without a type returns 415', async () => {
    const body = JSON.stringify(sampleOrder());
    expectFailure(await sendOrder(`Content-Length: ${body.length}\r\nConnection: close`, body), 415);
  });

  test('no body at all returns 400', async () => {
    for (const path of ['/v1/shipments', '/v1/webhooks'])
      expectFailure(await account.call(path, { method: 'POST' }), 400);
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

describe('query parameters', () => {
  let operations: Described[];
  beforeAll(async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
    operations = [...operationsOf(document).values()].filter(({ path }) => /^\/(operator\/)?v1\//.test(path));
  });

  test('an unknown query parameter returns 400 on every endpoint, and the response lists the known ones', async () => {
    expect(operations.length).toBeGreaterThan(20);
    for (const described of operations) {
      const response = await bareCall(service, account, described, 'lmit=1');
      expectFailure(response, 400);
      const detail = response.body.error.details?.find(({ path }) => path === 'lmit');
      const declared = (described.operation.parameters ?? []).filter(({ in: place }) => place === 'query');
      const named = [...new Set(['key', ...declared.map(({ name }) => name)])].join(', ');
      expect(detail?.message.replace(/; did you mean \w+\?$/, '')).toBe(
        `is not a parameter of this endpoint; it takes ${named}`,
      );
    }
  });

  test('a query parameter that is given more than once returns 400 that says so, on every endpoint', async () => {
    for (const described of operations)
      for (const { name, in: place } of described.operation.parameters ?? []) {
        if (place !== 'query' || name === 'key') continue; // without one key, 401
        const response = await bareCall(service, account, described, `${name}=1&${name}=1`);
        expectFailure(response, 400);
        const details = response.body.error.details!.filter(({ path }) => path === name);
        expect(details).toEqual([{ path: name, message: 'is given more than once' }]);
      }
  });

  test.each(['__proto__=1', 'constructor=1', 'limit[]=1', '=', 'KEY=1', '%00', `${'n'.repeat(200)}=1`])(
    'the unknown query parameter %s returns 400',
    async (query) => {
      const response = await account.call(`/v1/webhooks?${query}`);
      expectFailure(response, 400);
      expect(response.body.error.details).toHaveLength(1);
    },
  );

  test('an unknown query parameter is named with other errors', async () => {
    const response = await account.call('/v1/deliveries?limit=0&satus=FAILED&webhookid=x');
    expect(response.body.error.details?.map(({ path }) => path)).toEqual(['limit', 'satus', 'webhookid']);
  });
});

describe('what HTTP/1.1 forbids gets the usual failure response', () => {
  test.each([
    ['an expectation nobody knows', 'Host: a\r\nExpect: foo\r\n', ['Expect']],
    ['no host', '', ['Host']],
    ['neither', 'Expect: foo\r\n', ['Expect', 'Host']],
  ])('%s', async (_, headers, paths) => {
    const head = `POST /v1/shipments HTTP/1.1\r\nX-Request-Id: mine\r\nConnection: close\r\n${headers}`;
    const response = parseResponse(await sendRaw(service.url, `${head}\r\n`));
    expectWrong(response, paths);
    expect(response.headers.get('x-request-id')).toBe('mine');
    expect(response.headers.get('cache-control')).toBe('private, no-store');
  });

  test('HTTP/1.0 requires neither', async () => {
    const head = 'GET /v1/webhooks HTTP/1.0\r\nExpect: foo\r\n\r\n';
    expectFailure(parseResponse(await sendRaw(service.url, head)), 401);
  });

  test('the connection stays open after a refusal', async () => {
    const bytes =
      'GET /v1/login HTTP/1.1\r\nHost: a\r\nExpect: foo\r\n\r\nGET /v1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const text = await sendRaw(service.url, bytes);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 404']);
  });
});

describe('invalid HTTP gets the usual failure response', () => {
  test.each([
    ['no request line', 'hello\r\n\r\n', 400],
    ['a line break in a header', 'GET /v1/login HTTP/1.1\r\nHost: a\r\nX-A: b\rc\r\n\r\n', 400],
    ['U+0000 in a header', 'GET /v1/login HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\n\r\n', 400],
    [
      'two lengths',
      'POST /v1/shipments HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
    [
      'a length and chunks',
      'POST /v1/shipments HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      '20,000 bytes of header',
      `GET /v1/login HTTP/1.1\r\nHost: a\r\nX-A: ${'b'.repeat(20_000)}\r\n\r\n`,
      431,
    ],
  ])('%s', async (_, bytes, httpStatus) => {
    expectFailure(parseResponse(await sendRaw(service.url, bytes)), httpStatus);
  });
});

test('afterwards the service runs, without a single unexpected error', async () => {
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  expect(service.log()).not.toMatch(/unexpected error|unhandled|"status":5\d\d/i);
});
