import { afterEach, describe, expect, test } from '@jest/globals';
import http from 'node:http';
import net from 'node:net';

import { inDenied, type DestinationPolicy } from '../../../../src/engine/send/destination.js';
import { createSender, type Sender, type SenderOptions } from '../../../../src/engine/send/sender.js';
import { good } from './certificates.js';
import { createLoopback } from './loopback.js';
import {
  corpusPolicy,
  developmentPolicy,
  noDns,
  stubDns,
  stubResolver,
} from '../../../support/ssrf-corpus.js';

const loopback = createLoopback();
const senders: Sender[] = [];

function open(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({ policy: developmentPolicy, dns: noDns, ...options });
  senders.push(sender);
  return sender;
}

function send(url: string, sender = open(), headers = ['Webhook-Id', 'e1']) {
  return sender.send({ url, shipperId: 's', headers, body: '{"secret":1}', timeoutMs: 2_000 });
}

afterEach(() => {
  for (const sender of senders.splice(0)) sender.close();
  loopback.closeAll();
});

const secureServer = loopback.secure;

describe('denied addresses', () => {
  test.each(['http', 'https'])(
    '%s: a hostname that resolves to one is not connected to, on any attempt',
    async (scheme) => {
      const { port, connections } = await loopback.listen(net.createServer());
      let lookups = 0;
      const stub = stubResolver('A 93.184.215.14, A 127.0.0.1');
      const sender = open({
        policy: { ...corpusPolicy, allowedPorts: [port] },
        dns: stubDns((hostname) => {
          lookups++;
          return stub(hostname);
        }),
      });
      for (let attempt = 1; attempt <= 3; attempt++) {
        const outcome = await send(`${scheme}://rebind.example.org:${port}/`, sender);
        expect(outcome).toMatchObject({ errorCode: 'DNS', errorDetail: null, statusCode: null });
        expect(lookups).toBe(attempt);
      }
      expect(connections()).toBe(0);
    },
  );

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]'])(
    'the literal %s, for which Node does no lookup, is not connected to',
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
    expect(await send(url, open(), ['X-A', 'a\r\nX-B: b'])).toMatchObject({ errorCode: 'PROTOCOL' });
    expect(connections()).toBe(0);
  });

  test.each(['NXDOMAIN', 'SERVFAIL', 'NODATA'])('%s is a DNS failure', async (dns) => {
    const sender = open({ policy: corpusPolicy, dns: stubDns(stubResolver(dns)) });
    expect(await send('https://nx.example.org/', sender)).toMatchObject({
      errorCode: 'DNS',
      statusCode: null,
    });
  });
});

describe('a policy that became tighter', () => {
  const elsewhere = new URL('https://parcelhook.example.org/');
  test.each<[string, string, Partial<DestinationPolicy>]>([
    ['http is off', 'http://shop.example.org/', { allowHttpTargets: false }],
    ['its port is no longer allowed', 'https://shop.example.org:8443/', { allowedPorts: [443] }],
    ['private targets are off', 'https://localhost/', {}],
    ['its network is denied', 'https://93.184.215.14/', { isDenied: inDenied(['93.184.0.0/16']) }],
    ['it is the service itself', 'https://parcelhook.example.org/v1', { publicUrl: elsewhere }],
    ['it is written as is no longer taken', 'https://shop.example.org:0443/', {}],
  ])('%s: earlier registrations are not called any more', async (_, url, change) => {
    const dns = stubDns(stubResolver('A 93.184.215.14'));
    const outcome = await send(url, open({ policy: { ...corpusPolicy, ...change }, dns }));
    expect(outcome).toMatchObject({ errorCode: 'ADDRESS_DENIED', statusCode: null });
  });

  test('its name leads to a denied network: it is as if there were no such name', async () => {
    const policy = { ...corpusPolicy, isDenied: inDenied(['93.184.215.14/32']) };
    const sending = (dns: string) =>
      send('https://shop.example.org/', open({ policy, dns: stubDns(stubResolver(dns)) }));
    const denied = await sending('A 93.184.215.14');
    expect(denied).toMatchObject({ errorCode: 'DNS', errorDetail: null, remoteAddress: null });
    const durationMs = expect.any(Number);
    expect({ ...(await sending('NXDOMAIN')), durationMs }).toEqual({ ...denied, durationMs });
  });
});

describe('through an egress proxy', () => {
  const publicAddress = 'A 93.184.215.14';

  /** All but those to the addresses in `refused`. */
  async function proxyTo(
    port: number,
    { records = publicAddress, refused = [] as string[], userInfo = '', policy = corpusPolicy } = {},
  ) {
    const seen: string[] = [];
    const credentials: (string | undefined)[] = [];
    const server = http.createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end('by proxy');
    });
    server.on('connect', (request: http.IncomingMessage, socket: net.Socket) => {
      seen.push(`CONNECT ${request.url}`);
      credentials.push(request.headers['proxy-authorization']);
      const isRefused = refused.some((address) => request.url!.startsWith(address));
      socket.write(`HTTP/1.1 ${isRefused ? 403 : 200} X\r\n\r\n`);
      if (isRefused) return void socket.end();
      const tunnel = net.connect(port, '127.0.0.1').on('error', () => {});
      socket.pipe(tunnel).pipe(socket);
    });
    const listening = await loopback.listen(server);
    const egressProxy = `http://${userInfo}127.0.0.1:${listening.port}`;
    const dns = stubDns(stubResolver(records));
    const sender = open({ egressProxy, certificateAuthority: good.cert, policy, dns });
    return { seen, credentials, sender };
  }

  test('http uses a tunnel to the checked address; its hostname stays in Host', async () => {
    const hosts: unknown[] = [];
    const receiver = await loopback.listen(
      http.createServer((request, response) => {
        hosts.push(request.headers.host, request.url);
        response.end('OK');
      }),
    );
    const { seen, sender } = await proxyTo(receiver.port);
    for (let i = 0; i < 2; i++)
      expect(await send('http://shop.example.org/a?b', sender)).toMatchObject({
        ok: true,
        responseBody: 'OK',
      });
    expect(hosts).toEqual(['shop.example.org', '/a?b', 'shop.example.org', '/a?b']);
    expect(seen).toEqual(['CONNECT 93.184.215.14:80']);
  });

  test("https uses a kept tunnel, and verifies the certificate of the receiver's hostname", async () => {
    const { port, bytes } = await secureServer(good);
    const { seen, sender } = await proxyTo(port);
    for (let i = 0; i < 2; i++)
      expect(await send('https://shop.example.org/', sender)).toMatchObject({ ok: true, requestSent: true });
    const sentBytes = bytes();
    expect(await send('https://elsewhere.example.org/', sender)).toMatchObject({ errorCode: 'TLS' });
    expect(seen).toEqual(['CONNECT 93.184.215.14:443', 'CONNECT 93.184.215.14:443']);
    expect(bytes()).toBe(sentBytes);
  });

  test("an attempt has the receiver's address, and a tunnel's phases are its own", async () => {
    const { port } = await secureServer(good);
    const { sender } = await proxyTo(port);
    const remoteAddress = '93.184.215.14';
    const ms = expect.any(Number);
    const url = 'https://shop.example.org/';
    const fresh = { ok: true, remoteAddress, dnsMs: ms, connectMs: ms, tlsMs: ms, firstByteMs: ms };
    expect(await send(url, sender)).toMatchObject(fresh);
    expect(await send(url, sender)).toMatchObject({ ...fresh, dnsMs: null, connectMs: null, tlsMs: null });
    const away = await proxyTo(port, { refused: [remoteAddress] });
    expect(await send(url, away.sender)).toMatchObject({
      errorCode: 'CONNECT',
      remoteAddress,
      dnsMs: ms,
      connectMs: null,
    });
  });

  test("the proxy's credentials come from its URL", async () => {
    const { port } = await secureServer(good);
    const { credentials, sender } = await proxyTo(port, { userInfo: 'parcel:h%40ok@' });
    expect(await send('https://shop.example.org/', sender)).toMatchObject({ ok: true });
    expect(credentials).toEqual([`Basic ${Buffer.from('parcel:h@ok').toString('base64')}`]);
  });

  test('an address that the proxy cannot reach is followed by the next one', async () => {
    const { port } = await secureServer(good);
    const dns = 'A 93.184.215.14, AAAA 2a00:1450:4001:800::200e';
    const { seen, sender } = await proxyTo(port, { records: dns, refused: ['93.184.215.14'] });
    expect(await send('https://shop.example.org/', sender)).toMatchObject({ ok: true });
    expect(seen).toEqual(['CONNECT 93.184.215.14:443', 'CONNECT [2a00:1450:4001:800::200e]:443']);
  });

  test('a tunnel refused by the proxy is a CONNECT failure', async () => {
    const { sender } = await proxyTo(0, { refused: ['93.184.215.14'] });
    expect(await send('https://shop.example.org/', sender)).toMatchObject({
      errorCode: 'CONNECT',
      statusCode: null,
    });
  });

  test.each(['A 127.0.0.1', 'A 93.184.215.14, AAAA ::1'])(
    'a hostname that resolves to %s does not reach the proxy, nor does a denied literal',
    async (dns) => {
      const { seen, sender } = await proxyTo(0, { records: dns });
      for (const url of ['http://shop.example.org/', 'https://shop.example.org/'])
        expect((await send(url, sender)).errorCode).toBe('DNS');
      for (const url of ['http://10.0.0.1/', 'https://[::1]/'])
        expect((await send(url, sender)).errorCode).toBe('ADDRESS_DENIED');
      expect(seen).toEqual([]);
    },
  );
});
