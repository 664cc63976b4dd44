import { beforeEach, describe, expect, test } from '@jest/globals';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Sender } from '../../../../src/engine/send/sender.js';
import { loopback, open } from './loopback.js';
import { corpusRows, stubDns } from '../../../support/ssrf-corpus.js';

const TIMEOUT_MS = 400;
const PATIENT_MS = 10_000;
let sender: Sender;

function send(url: string, by = sender, timeoutMs = PATIENT_MS) {
  const headers = ['Content-Type', 'application/json'];
  return by.send({ url, shipperId: 's', headers, body: '{"state":"é"}', timeoutMs });
}

beforeEach(() => {
  sender = open();
});

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK';

describe('a sent request', () => {
  test('is a POST with exactly the given headers plus framing, and the body byte for byte', async () => {
    let received = '';
    const server = await loopback.raw((socket, _, data) => {
      received += data.toString();
      socket.end(ANSWER);
    });
    const headers = ['Webhook-Id', 'e1', 'user-agent', 'Parcelhook/1'];
    const url = `${server.url}/A%2f?x=1&y`;
    await sender.send({ url, shipperId: 's', headers, body: '{"é":1}', timeoutMs: PATIENT_MS });
    expect(received.split('\r\n')).toEqual([
      'POST /hook/A%2f?x=1&y HTTP/1.1',
      `Host: 127.0.0.1:${server.port}`,
      'Webhook-Id: e1',
      'user-agent: Parcelhook/1',
      'Content-Length: 8',
      'Connection: keep-alive',
      '',
      '{"é":1}',
    ]);
  });

  test('returns status, body, duration and the raw Retry-After', async () => {
    const { url } = await loopback.listen(
      http.createServer((_, response) => response.writeHead(503, { 'Retry-After': '30' }).end('a\0b\xff')),
    );
    const outcome = await send(url);
    expect(outcome).toMatchObject({ ok: false, statusCode: 503, errorCode: 'HTTP_STATUS', retryAfter: '30' });
    expect(outcome.responseBody).toBe('abÿ');
    expect(outcome.durationMs).toBeLessThan(PATIENT_MS);
  });

  test('1,000 requests share a few connections', async () => {
    const { url, connections } = await loopback.listen(
      http.createServer((_, response) => response.end('OK')),
    );
    let left = 1_000;
    const run = async () => {
      while (left-- > 0) expect((await send(url)).responseBody).toBe('OK');
    };
    await Promise.all(Array.from({ length: 20 }, run));
    expect(connections()).toBeLessThanOrEqual(20);
  });

  test('ignores proxies named in the environment', async () => {
    const proxy = await loopback.listen(net.createServer());
    const { url } = await loopback.listen(http.createServer((_, response) => response.end()));
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    const outcome = await send(url, open());
    for (const name of names) delete process.env[name];
    expect([outcome.ok, proxy.connections()]).toEqual([true, 0]);
  });
});

describe('an attempt ends in time', () => {
  const drip = (socket: net.Socket, head: string) => {
    socket.write(head);
    const timer = setInterval(() => socket.write('a'), 50);
    socket.on('close', () => clearInterval(timer));
  };

  test.each<[string, (socket: net.Socket) => void]>([
    ['hangs', () => {}],
    ['drips its header', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX-A: ')],
  ])('a receiver that %s is a TIMEOUT, at most 0.5 s late', async (_, response) => {
    const { url } = await loopback.raw(response);
    const outcome = await send(url, sender, TIMEOUT_MS);
    expect(outcome).toMatchObject({ ok: false, statusCode: null, errorCode: 'TIMEOUT', requestSent: true });
    expect(outcome.responseBody).toBeNull();
    expect(outcome.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 5);
    expect(outcome.durationMs).toBeLessThan(TIMEOUT_MS + 500);
  });

  test.each([
    [200, true, null],
    [500, false, 'HTTP_STATUS'],
  ])('a body that drips past the deadline does not change status %s', async (status, ok, errorCode) => {
    const { url } = await loopback.raw((socket) =>
      drip(socket, `HTTP/1.1 ${status} X\r\nContent-Length: 99\r\n\r\n`),
    );
    const outcome = await send(url, sender, TIMEOUT_MS);
    expect(outcome).toMatchObject({ ok, statusCode: status, errorCode });
    expect(outcome.responseBody).toMatch(/^a+$/);
    expect(outcome.durationMs).toBeLessThan(TIMEOUT_MS + 500);
  });

  test('DNS time counts', async () => {
    const never = stubDns(() => new Promise(() => {}));
    const outcome = await send('http://slow.example.org/', open({ dns: never }), TIMEOUT_MS);
    expect(outcome).toMatchObject({ errorCode: 'TIMEOUT', statusCode: null });
  });

  test('TLS time counts', async () => {
    const { port } = await loopback.listen(net.createServer());
    expect(await send(`https://127.0.0.1:${port}/`, sender, TIMEOUT_MS)).toMatchObject({
      errorCode: 'TIMEOUT',
    });
  });
});

describe('a hostile receiver', () => {
  test('with an endless body is read to 8 KiB, 4 KiB are stored, and the connection is closed', async () => {
    let closed = false;
    const { url } = await loopback.raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const pump = () => {
        while (socket.writable && socket.write('é'.repeat(10_000)));
      };
      socket.on('drain', pump).on('close', () => (closed = true));
      pump();
    });
    const before = process.memoryUsage().rss;
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => send(url)));
    for (const { ok, responseBody } of outcomes) expect([ok, responseBody]).toEqual([true, 'é'.repeat(2048)]);
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
    expect(Math.max(...outcomes.map(({ durationMs }) => durationMs))).toBeLessThan(PATIENT_MS);
    await delay(50);
    expect(closed).toBe(true);
  });

  test('causes no decompression, whatever encodings it declares', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const encodings = Array<string>(1_000).fill('gzip').join(', ');
    const server = http.createServer((_, r) => r.writeHead(200, { 'Content-Encoding': encodings }).end(bomb));
    const outcome = await send((await loopback.listen(server)).url);
    expect(outcome.ok).toBe(true);
    expect(outcome.responseBody!.length).toBeLessThanOrEqual(4096);
  });

  test.each([
    ['garbage', '\x16\x03\x01\x02hello\r\n\r\n'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['101 Switching Protocols', 'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    [
      '101 with a header that is not valid',
      'HTTP/1.1 101 X\r\nA B: c\r\nUpgrade: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    ],
    [
      'a length, then chunks,',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    ],
    [
      'chunks, then a length,',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n1\r\na\r\n0\r\n\r\n',
    ],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status without a version', '200 OK\r\n\r\n'],
  ])('%s is a PROTOCOL failure', async (_, response) => {
    const { url } = await loopback.raw((socket) => socket.write(response));
    const outcome = await send(url);
    expect(outcome).toMatchObject({ ok: false, errorCode: 'PROTOCOL', statusCode: null });
    expect(outcome.durationMs).toBeLessThan(PATIENT_MS);
  });

  test.each([100, 102, 103])('with a flood of %s is a PROTOCOL failure and ends at once', async (status) => {
    const { url } = await loopback.raw((socket) => {
      const timer = setInterval(() => socket.write(`HTTP/1.1 ${status} X\r\n\r\n`.repeat(100)), 1);
      socket.on('close', () => clearInterval(timer));
    });
    const outcome = await send(url);
    expect(outcome).toMatchObject({ ok: false, errorCode: 'PROTOCOL' });
    expect(outcome.durationMs).toBeLessThan(PATIENT_MS);
  });

  test('may send a few informational responses', async () => {
    const { url } = await loopback.raw((socket) => socket.end(`HTTP/1.1 103 X\r\nLink: a\r\n\r\n${ANSWER}`));
    expect(await send(url)).toMatchObject({ ok: true, statusCode: 200 });
  });

  test('that breaks off the body after a 2xx is a success', async () => {
    const { url } = await loopback.raw((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'),
    );
    expect(await send(url)).toMatchObject({ ok: true, responseBody: 'abc' });
  });
});

describe('redirects', () => {
  const rows = corpusRows('DENY_REDIRECT').map((row) => ({ ...row, status: Number.parseInt(row.url) }));

  test.each([...rows, { url: '308 -> back', status: 308 }])(
    '$url is not followed',
    async ({ status, url: row }) => {
      const target = await loopback.listen(http.createServer((_, response) => response.end()));
      const headers = row.includes('Refresh') ? { Refresh: `0;url=${target.url}` } : { Location: target.url };
      const server = http.createServer((_, response) => response.writeHead(status, headers).end());
      const { url, connections } = await loopback.listen(server);
      const ok = status < 300;
      expect(await send(url)).toMatchObject({ ok, statusCode: status, errorCode: ok ? null : 'HTTP_STATUS' });
      expect([connections(), target.connections()]).toEqual([1, 0]);
    },
  );
});

describe('connections that break', () => {
  const resets = (socket: net.Socket) => void socket.resetAndDestroy();
  const ends = (socket: net.Socket) => void socket.end();

  test.each([
    ['resets', resets],
    ['closes', ends],
  ] as const)(
    'a receiver that %s a kept connection gets the request once more, on a fresh one',
    async (_, leave) => {
      const { url, connections } = await loopback.raw((socket, n) =>
        n === 2 ? leave(socket) : socket.write(ANSWER),
      );
      expect(await send(url)).toMatchObject({ ok: true });
      expect(await send(url)).toMatchObject({ ok: true, errorCode: null });
      expect(connections()).toBe(2);
    },
  );

  test.each([
    ['first', resets, 1],
    ['fresh', ends, 1],
  ] as const)('a reset of a %s connection is a RESET, and not sent again', async (_, leave, expected) => {
    const { url, connections } = await loopback.raw(leave);
    expect(await send(url)).toMatchObject({ ok: false, errorCode: 'RESET', statusCode: null });
    expect(connections()).toBe(expected);
  });

  test('once only: a receiver that resets the second connection too is a RESET', async () => {
    const { url, connections } = await loopback.raw((socket, n) =>
      n > 1 ? resets(socket) : socket.write(ANSWER),
    );
    await send(url);
    expect(await send(url)).toMatchObject({ ok: false, errorCode: 'RESET' });
    expect(connections()).toBe(2);
  });

  test('nothing is resent after the first byte of a response', async () => {
    const { url, connections } = await loopback.raw((socket, n) =>
      n === 1 ? socket.write(ANSWER) : socket.write('HTTP/1.1 20', () => setTimeout(() => socket.end(), 20)),
    );
    await send(url);
    expect(await send(url)).toMatchObject({ ok: false, statusCode: null });
    expect(connections()).toBe(1);
  });

  test('no false failure while a receiver closes every connection after a few responses', async () => {
    const server = http
      .createServer((_, response) => response.end('OK'))
      .on('connection', (socket: net.Socket) => {
        let responses = 0;
        socket.on('data', () => ++responses > 5 && socket.destroy());
      });
    const { url } = await loopback.listen(server);
    for (let i = 0; i < 100; i++) expect(await send(url)).toMatchObject({ ok: true });
  });

  test('a closed port is a CONNECT failure', async () => {
    const { url } = await loopback.listen(net.createServer());
    loopback.closeAll();
    expect(await send(url)).toMatchObject({ errorCode: 'CONNECT', requestSent: false });
  });
});
