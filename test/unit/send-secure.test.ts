import { afterEach, describe, expect, test } from '@jest/globals';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { createSender, type Sender, type SenderOptions } from '../../src/deliveries/send/sender.js';
import { expired, good, otherHost, type Pair } from './support/certificates.js';
import { createLoopback } from './support/loopback.js';
import { corpusPolicy, developmentPolicy, stubResolver } from './support/ssrf-corpus.js';

const loopback = createLoopback();
const senders: Sender[] = [];

function open(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({ policy: developmentPolicy, ...options });
  senders.push(sender);
  return sender;
}

function send(url: string, sender = open(), headers: Record<string, string> = { 'Webhook-Id': 'e1' }) {
  return sender.send({ url, headers, body: '{"secret":1}', timeoutMs: 2_000 });
}

afterEach(() => {
  for (const sender of senders.splice(0)) sender.close();
  loopback.closeAll();
});

/** An https server that counts the bytes it can decrypt. */
async function secureServer(pair: Pair, options: https.ServerOptions = {}) {
  let bytes = 0;
  const server = https.createServer({ ...pair, ...options }, (_, response) => response.end('OK'));
  server.on('secureConnection', (socket: TLSSocket) =>
    socket.on('data', (data: Buffer) => (bytes += data.length)),
  );
  const listening = await loopback.listen(server, 'https');
  return { ...listening, server, bytes: () => bytes };
}

describe('TLS', () => {
  test('a certificate that verifies is sent to, and its connection is kept', async () => {
    const { url, connections } = await secureServer(good);
    const sender = open({ certificateAuthority: good.cert });
    for (let i = 0; i < 3; i++)
      expect(await send(url, sender)).toMatchObject({ ok: true, responseBody: 'OK' });
    expect(connections()).toBe(1);
  });

  const versions = ['TLSv1.2', 'TLSv1.3'] as const;
  const bad: [string, Pair, string | undefined][] = [
    ['a certificate that signed itself', good, undefined],
    ["another host's certificate", otherHost, otherHost.cert],
    ['an expired certificate', expired, expired.cert],
  ];

  test.each(versions.flatMap((version) => bad.map((row) => [version, ...row] as const)))(
    '%s: not one byte is sent to %s',
    async (version, _, pair, certificateAuthority) => {
      const { url, bytes } = await secureServer(pair, { minVersion: version, maxVersion: version });
      const outcome = await send(url, open({ certificateAuthority }));
      expect(outcome).toMatchObject({ ok: false, errorCode: 'TLS', statusCode: null });
      await delay(30);
      expect(bytes()).toBe(0);
    },
  );

  test('NODE_TLS_REJECT_UNAUTHORIZED=0 does not switch verification off', async () => {
    const { url, bytes } = await secureServer(good);
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const outcome = await send(url).finally(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']);
    expect([outcome.errorCode, bytes()]).toEqual(['TLS', 0]);
  });

  test('a Host header does not change whose certificate is wanted', async () => {
    const { url, bytes } = await secureServer(otherHost);
    const sender = open({ certificateAuthority: otherHost.cert });
    expect((await send(url, sender, { Host: 'other.example.org' })).errorCode).toBe('TLS');
    expect(bytes()).toBe(0);
  });

  test.each(versions)('%s: a kept connection that the receiver closed is replaced', async (version) => {
    const { url, server, connections } = await secureServer(good, {
      minVersion: version,
      maxVersion: version,
    });
    const sender = open({ certificateAuthority: good.cert });
    let requests = 0;
    server
      .removeAllListeners('request')
      .on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
        if (++requests === 2) request.socket.end();
        else response.end('OK');
      });
    expect(await send(url, sender)).toMatchObject({ ok: true });
    expect(await send(url, sender)).toMatchObject({ ok: true });
    expect([connections(), requests]).toEqual([2, 3]);
  });

  test('a receiver that does not speak TLS is a TLS failure', async () => {
    const { port } = await loopback.raw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ errorCode: 'TLS' });
  });
});

describe('denied addresses', () => {
  test.each(['http', 'https'])(
    '%s: a name that leads to one is not connected to, on any attempt',
    async (scheme) => {
      const { port, connections } = await loopback.listen(net.createServer());
      let lookups = 0;
      const stub = stubResolver('A 93.184.215.14, A 127.0.0.1');
      const sender = open({
        policy: corpusPolicy,
        lookup: (...call) => {
          lookups++;
          stub(...call);
        },
      });
      for (let attempt = 1; attempt <= 3; attempt++) {
        const outcome = await send(`${scheme}://rebind.example.org:${port}/`, sender);
        expect(outcome).toMatchObject({ errorCode: 'ADDRESS_DENIED', statusCode: null });
        expect(lookups).toBe(attempt);
      }
      expect(connections()).toBe(0);
    },
  );

  test('a resolver that answers at once is guarded too', async () => {
    const sender = open({
      policy: corpusPolicy,
      lookup: (_hostname, _options, callback) => callback(null, [{ address: '::1', family: 6 }]),
    });
    expect((await send('http://now.example.org/', sender)).errorCode).toBe('ADDRESS_DENIED');
  });

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]'])(
    'the literal %s, for which Node calls no lookup, is not connected to',
    async (host) => {
      const { port, connections } = await loopback.listen(net.createServer());
      for (const scheme of ['http', 'https']) {
        const outcome = await send(`${scheme}://${host}:${port}/`, open({ policy: corpusPolicy }));
        expect(outcome.errorCode).toBe('ADDRESS_DENIED');
      }
      expect(connections()).toBe(0);
    },
  );
});

describe('send never rejects', () => {
  test.each([
    '',
    'nonsense',
    'ftp://example.org/',
    'unix:/var/run/docker.sock:/x',
    'http://unix/var/run/x.sock:/x',
  ])('%j is a PROTOCOL failure', async (url) => {
    expect(await send(url)).toMatchObject({ ok: false, errorCode: 'PROTOCOL', statusCode: null });
  });

  test('a header that would inject another is a PROTOCOL failure, and nothing is sent', async () => {
    const { url, connections } = await loopback.listen(net.createServer());
    expect(await send(url, open(), { 'X-A': 'a\r\nX-B: b' })).toMatchObject({ errorCode: 'PROTOCOL' });
    expect(connections()).toBe(0);
  });

  test.each(['NXDOMAIN', 'SERVFAIL', 'NODATA'])('%s is a DNS failure', async (dns) => {
    const sender = open({ policy: corpusPolicy, lookup: stubResolver(dns) });
    expect(await send('https://nx.example.org/', sender)).toMatchObject({
      errorCode: 'DNS',
      statusCode: null,
    });
  });
});

describe('through an egress proxy', () => {
  /** Tunnels every CONNECT to `port`, answers everything else itself. */
  async function proxyTo(port: number, connectStatus = 200) {
    const seen: string[] = [];
    const server = http.createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.host}`);
      response.end('by proxy');
    });
    server.on('connect', (request: http.IncomingMessage, socket: net.Socket) => {
      seen.push(`CONNECT ${request.url}`);
      socket.write(`HTTP/1.1 ${connectStatus} X\r\n\r\n`);
      if (connectStatus !== 200) return void socket.end();
      const tunnel = net.connect(port, '127.0.0.1').on('error', () => {});
      socket.pipe(tunnel).pipe(socket);
    });
    const listening = await loopback.listen(server);
    const refuse = () => expect('a lookup of our own').toBe('left to the proxy');
    const egressProxy = `http://127.0.0.1:${listening.port}`;
    const sender = open({
      egressProxy,
      certificateAuthority: good.cert,
      policy: corpusPolicy,
      lookup: refuse,
    });
    return { seen, sender };
  }

  test('http goes to the proxy in absolute form', async () => {
    const { seen, sender } = await proxyTo(0);
    expect(await send('http://shop.example.org/a?b', sender)).toMatchObject({
      ok: true,
      responseBody: 'by proxy',
    });
    expect(seen).toEqual(['POST http://shop.example.org/a?b shop.example.org']);
  });

  test("https goes through a tunnel, kept open, that verifies the receiver's certificate", async () => {
    const { port, bytes } = await secureServer(good);
    const { seen, sender } = await proxyTo(port);
    for (let i = 0; i < 2; i++)
      expect(await send('https://shop.example.org/', sender)).toMatchObject({ ok: true });
    const sentBytes = bytes();
    expect(await send('https://elsewhere.example.org/', sender)).toMatchObject({ errorCode: 'TLS' });
    expect(seen).toEqual(['CONNECT shop.example.org:443', 'CONNECT elsewhere.example.org:443']);
    expect(bytes()).toBe(sentBytes);
  });

  test('a tunnel that the proxy refuses is a CONNECT failure', async () => {
    const { sender } = await proxyTo(0, 403);
    expect(await send('https://shop.example.org/', sender)).toMatchObject({
      errorCode: 'CONNECT',
      statusCode: null,
    });
  });

  test('a denied literal address does not reach the proxy', async () => {
    const { seen, sender } = await proxyTo(0);
    for (const url of ['http://10.0.0.1/', 'https://[::1]/']) {
      expect((await send(url, sender)).errorCode).toBe('ADDRESS_DENIED');
    }
    expect(seen).toEqual([]);
  });
});
