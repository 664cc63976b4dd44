import { afterEach, describe, expect, test } from '@jest/globals';
import { createCipheriv, createHmac } from 'node:crypto';
import type http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';

import { inDenied, type DestinationPolicy } from '../../../../src/engine/send/destination.js';
import { isHeavy } from '../../../../src/engine/send/handshakes.js';
import { createSender, type Sender, type SenderOptions } from '../../../../src/engine/send/sender.js';
import { chain, expired, good, otherHost, rsa, type Pair } from './certificates.js';
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

const uint16 = (value: number) => [value >> 8, value & 255];

/** RFC 8446, 4.6.1: a NewSessionTicket of 12,000 bytes. */
const ticket = (() => {
  const body = Buffer.concat([
    Buffer.from([0, 0, 14, 16, 1, 2, 3, 4, 1, 7, ...uint16(12_000)]),
    Buffer.alloc(12_002),
  ]);
  return Buffer.concat([Buffer.from([4, 0, ...uint16(body.length)]), body]);
})();

/** Makes the server's records (RFC 8446, 5.2), from the one with the number `sequence` on. */
function sealer(secret: Buffer, sequence: number) {
  const derived = (name: string, length: number) => {
    const label = `tls13 ${name}`;
    const info = [Buffer.from([...uint16(length), label.length]), Buffer.from(label), Buffer.from([0, 1])];
    return createHmac('sha256', secret).update(Buffer.concat(info)).digest().subarray(0, length);
  };
  const [key, iv] = [derived('key', 16), derived('iv', 12)];
  return (type: number, content: Buffer): Buffer => {
    const header = Buffer.from([23, 3, 3, ...uint16(content.length + 17)]);
    const nonce = Buffer.from(iv);
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ sequence++) >>> 0, 8);
    const cipher = createCipheriv('aes-128-gcm', key, nonce).setAAD(header);
    const sealed = [cipher.update(content), cipher.update(Buffer.from([type])), cipher.final()];
    return Buffer.concat([header, ...sealed, cipher.getAuthTag()]);
  };
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
  const of = (cert: string): Pair => ({ key: good.key, cert });
  const bad: [string, Pair, string | undefined, string][] = [
    ['a certificate that signed itself', good, undefined, 'SELF_SIGNED'],
    ["another host's certificate", otherHost, otherHost.cert, 'WRONG_HOST'],
    ['an expired certificate', expired, expired.cert, 'EXPIRED'],
    ['a certificate without its intermediate', of(chain.leaf), chain.root, 'INCOMPLETE_CHAIN'],
    ['a chain of an unknown authority', of(chain.leaf + chain.intermediate), undefined, 'UNKNOWN_CA'],
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

  const demanding = { requestCert: true, rejectUnauthorized: true };
  const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const ours = { ca: rsa.cert };
  const demands: [string, https.ServerOptions, string | null][] = [
    ['a client certificate', { ...demanding, ...ours }, 'CLIENT_CERTIFICATE_REQUIRED'],
    ['one by TLS 1.2', { ...demanding, ...ours, maxVersion: 'TLSv1.2' }, 'CLIENT_CERTIFICATE_REQUIRED'],
    ['TLS 1.1', { ...old, maxVersion: 'TLSv1.1' }, 'OLD_TLS'],
    ['TLS 1.0', { ...old, maxVersion: 'TLSv1' }, 'OLD_TLS'],
    ['a cipher that we do not have', { maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256' }, null],
  ];

  test.each(demands)('what a receiver wants that demands %s is named', async (_, options, errorDetail) => {
    const { url } = await secureServer(rsa, options);
    const outcome = await send(url, open({ certificateAuthority: rsa.cert }));
    expect(outcome).toMatchObject({ ok: false, errorCode: 'TLS', errorDetail });
  });

  test('a receiver that answers in TLS 1.1 has OLD_TLS', async () => {
    const hello = Buffer.from(`0302${'00'.repeat(32)}00c01300`, 'hex');
    const handshake = Buffer.concat([Buffer.from([2, 0, 0, hello.length]), hello]);
    const record = Buffer.concat([Buffer.from([22, 3, 2, 0, handshake.length]), handshake]);
    const { port } = await loopback.raw((socket) => socket.write(record));
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({
      errorCode: 'TLS',
      errorDetail: 'OLD_TLS',
    });
  });

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

describe('an attempt over TLS ends once 64 KiB are read', () => {
  test.each([
    ['line ends', '\r\n', null],
    ['spaces in a header', 'HTTP/1.1 200 OK\r\nX-A:' + ' '.repeat(60_000), 200],
  ] as const)('also if they are %s', async (_, bytes, statusCode) => {
    const { url, server } = await secureServer(good);
    server.removeAllListeners('request').on('request', ({ socket }: http.IncomingMessage) => {
      const pump = () => {
        while (socket.writable && socket.write(bytes.slice(-1).repeat(65_536)));
      };
      socket.on('error', () => {}).on('drain', pump);
      socket.write(bytes);
      pump();
    });
    const outcome = await send(url, open({ certificateAuthority: good.cert }));
    expect(outcome).toMatchObject({ statusCode, errorDetail: 'RESPONSE_TOO_LARGE' });
  });

  test('also if they carry nothing: tickets for sessions without end', async () => {
    const { url, server } = await secureServer(good, {
      ciphers: 'TLS_AES_128_GCM_SHA256',
      minVersion: 'TLSv1.3',
    });
    let wire: net.Socket;
    let secret: Buffer;
    server.on('connection', (socket: net.Socket) => (wire = socket));
    server.on('keylog', (line: Buffer) => {
      const [, hex] = /^SERVER_TRAFFIC_SECRET_0 \w+ (\w+)/.exec(line.toString()) ?? [];
      if (hex) secret = Buffer.from(hex, 'hex');
    });
    server.removeAllListeners('request').on('request', () => {
      const seal = sealer(secret, 2); // the server itself has sent two
      const pump = () => {
        while (wire.writable && wire.write(seal(22, ticket)));
      };
      wire.on('drain', pump);
      setTimeout(pump, 20); // those are still on their way
    });
    const outcome = await send(url, open({ certificateAuthority: good.cert }));
    const tooLarge = {
      ok: false,
      statusCode: null,
      errorCode: 'PROTOCOL',
      errorDetail: 'RESPONSE_TOO_LARGE',
    };
    expect(outcome).toMatchObject({ ...tooLarge, requestSent: true });
  });
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
    const { durationMs: _, ...denied } = await sending('A 93.184.215.14');
    expect(denied).toMatchObject({ errorCode: 'DNS', errorDetail: null, remoteAddress: null });
    expect(await sending('NXDOMAIN')).toMatchObject(denied);
  });
});
