import { afterEach, describe, expect, test } from '@jest/globals';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';

import { inDenied, type DestinationPolicy } from '../../../../src/engine/send/destination.js';
import { isHeavy } from '../../../../src/engine/send/handshakes.js';
import { createSender, type Sender, type SenderOptions } from '../../../../src/engine/send/sender.js';
import { expired, good, otherHost, rsa, type Pair } from './certificates.js';
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

/** Counts the bytes it can decrypt. */
async function secureServer(pair: Pair, options: https.ServerOptions = {}) {
  let bytes = 0;
  const server = https.createServer({ ...pair, ...options }, (_, response) => response.end('OK'));
  server.on('secureConnection', (socket: TLSSocket) =>
    socket.on('data', (data: Buffer) => (bytes += data.length)),
  );
  const listening = await loopback.listen(server, 'https');
  return { ...listening, server, bytes: () => bytes };
}

describe('handshakes', () => {
  test('of one shipper begin eight at a time, and those that hang make way; those of another go between them', async () => {
    let came = 0;
    const hanging = await loopback.listen(
      net.createServer((socket) => {
        came += 1;
        socket.on('error', () => undefined).resume();
      }),
      'https',
    );
    const { url } = await secureServer(good);
    const sender = open({ certificateAuthority: good.cert });
    const startedAt = performance.now();
    const all = Array.from({ length: 20 }, () => send(hanging.url, sender));
    const request = { url, shipperId: 'other', headers: [], body: '{}', timeoutMs: 2_000 };
    expect(await sender.send(request)).toMatchObject({ ok: true });
    if (performance.now() - startedAt < 200) expect(came).toBeLessThanOrEqual(8); // a busy machine takes longer
    expect(await Promise.all(all)).toEqual(all.map(() => expect.objectContaining({ errorCode: 'TIMEOUT' })));
    expect(came).toBe(20);
  });

  test('are heavy if they last longer than two more round trips', () => {
    expect(isHeavy({ connectMs: 200, tlsMs: 450 })).toBe(false);
    expect(isHeavy({ connectMs: 5, tlsMs: 120 })).toBe(true);
    expect(isHeavy({ connectMs: null, tlsMs: null })).toBe(false);
  });
});

describe('TLS', () => {
  test('a receiver with a valid certificate gets the request, and its connection stays open', async () => {
    const { url, connections } = await secureServer(good);
    const sender = open({ certificateAuthority: good.cert });
    for (let i = 0; i < 3; i++)
      expect(await send(url, sender)).toMatchObject({ ok: true, requestSent: true, responseBody: 'OK' });
    expect(connections()).toBe(1);
  });

  test('the ends of its phases are reported in order, for a connection that is used again only what comes after it', async () => {
    const { url } = await secureServer(good);
    const sender = open({
      certificateAuthority: good.cert,
      dns: stubDns(() => delay(5, [{ address: '127.0.0.1', family: 4 }])),
    });
    const phasesOf = async () => {
      const phases: string[] = [];
      const onPhase = (phase: string) => void phases.push(phase);
      const request = {
        url: url.replace('127.0.0.1', 'shop.example.org'),
        shipperId: 's',
        headers: [],
        body: '{}',
      };
      await sender.send({ ...request, timeoutMs: 2_000, onPhase });
      return phases;
    };
    expect(await phasesOf()).toEqual(['dns', 'connect', 'tls', 'request', 'first byte']);
    expect(await phasesOf()).toEqual(['request', 'first byte']);
  });

  const versions = ['TLSv1.2', 'TLSv1.3'] as const;
  const bad: [string, Pair, string | undefined, string][] = [
    ['a certificate that signed itself', good, undefined, 'SELF_SIGNED'],
    ["another host's certificate", otherHost, otherHost.cert, 'WRONG_HOST'],
    ['an expired certificate', expired, expired.cert, 'EXPIRED'],
  ];

  test.each(versions.flatMap((version) => bad.map((row) => [version, ...row] as const)))(
    '%s: not one byte is sent to %s, and the cause is named',
    async (version, _, pair, certificateAuthority, errorDetail) => {
      const { url, bytes } = await secureServer(pair, { minVersion: version, maxVersion: version });
      const outcome = await send(url, open({ certificateAuthority }));
      expect(outcome).toMatchObject({ ok: false, errorCode: 'TLS', errorDetail, requestSent: false });
      await delay(30);
      expect(bytes()).toBe(0);
    },
  );

  test('NODE_TLS_REJECT_UNAUTHORIZED=0 does not disable verification', async () => {
    const { url, bytes } = await secureServer(good);
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const outcome = await send(url).finally(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']);
    expect([outcome.errorCode, bytes()]).toEqual(['TLS', 0]);
  });

  test.each([
    ['TLS 1.2 over fields', { maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256' }],
    ['TLS 1.3 over fields', { ecdhCurve: 'ffdhe2048:ffdhe8192' }],
    ['a curve that is not named', { ecdhCurve: 'secp521r1' }],
  ] as const)(
    'no key is agreed on by Diffie-Hellman of %s, which the receiver could make expensive',
    async (_, how) => {
      const { url, bytes } = await secureServer(rsa, { ...how, dhparam: 'auto' });
      const outcome = await send(url, open({ certificateAuthority: rsa.cert }));
      expect([outcome.errorCode, bytes()]).toEqual(['TLS', 0]);
    },
  );

  test.each([
    { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' },
    { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA256' },
    { ecdhCurve: 'X25519' },
    { ecdhCurve: 'prime256v1' },
    { ecdhCurve: 'secp384r1' },
  ] as const)('a receiver that knows only %j gets the request', async (how) => {
    const { url } = await secureServer(rsa, how);
    expect(await send(url, open({ certificateAuthority: rsa.cert }))).toMatchObject({ ok: true });
  });

  test('a Host header does not change which certificate is valid', async () => {
    const { url, bytes } = await secureServer(otherHost);
    const sender = open({ certificateAuthority: otherHost.cert });
    expect((await send(url, sender, ['Host', 'other.example.org'])).errorCode).toBe('TLS');
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

  test.each(['HTTP/1.1 400 Bad Request\r\n\r\n', '220 mail.example.org ESMTP\r\n'])(
    'a receiver without TLS, which sends %j, is a TLS failure and NOT_TLS',
    async (bytes) => {
      const { port } = await loopback.raw((socket) => socket.end(bytes));
      const failure = { errorCode: 'TLS', errorDetail: 'NOT_TLS' };
      expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject(failure);
    },
  );
});

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
        expect(outcome).toMatchObject({ errorCode: 'ADDRESS_DENIED', statusCode: null });
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
    [
      'its name leads to a denied network',
      'https://shop.example.org/',
      { isDenied: inDenied(['93.184.215.14/32']) },
    ],
    ['it is the service itself', 'https://parcelhook.example.org/v1', { publicUrl: elsewhere }],
    ['it is written as is no longer taken', 'https://shop.example.org:0443/', {}],
  ])('%s: ADDRESS_DENIED for earlier registrations', async (_, url, change) => {
    const dns = stubDns(stubResolver('A 93.184.215.14'));
    const outcome = await send(url, open({ policy: { ...corpusPolicy, ...change }, dns }));
    expect(outcome).toMatchObject({ errorCode: 'ADDRESS_DENIED', statusCode: null });
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
      const names = ['http://shop.example.org/', 'https://shop.example.org/'];
      for (const url of [...names, 'http://10.0.0.1/', 'https://[::1]/'])
        expect((await send(url, sender)).errorCode).toBe('ADDRESS_DENIED');
      expect(seen).toEqual([]);
    },
  );
});
