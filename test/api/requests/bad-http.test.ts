import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startService, type Service } from '../../support/harness.js';
import { expectFailure, expectWrong } from '../../support/expect.js';
import { parseResponse, sendRaw } from '../../support/client.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

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
  expect(service.process.output()).not.toMatch(/unexpected error|unhandled|"status":5\d\d/i);
});
