import { describe, expect, test } from '@jest/globals';
import { createCipheriv, createHmac, X509Certificate } from 'node:crypto';
import type http from 'node:http';
import type https from 'node:https';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_CIPHERS } from 'node:tls';
import { errorDetailOf } from '../../../../src/engine/send/errors.js';
import { isHeavy } from '../../../../src/engine/send/connection.js';
import { chain, expired, good, otherHost, rsa, unusable, type Pair } from './certificates.js';
import { loopback, open } from './loopback.js';
import { stubDns } from '../../../support/ssrf-corpus.js';

function send(url: string, sender = open(), headers = ['Webhook-Id', 'e1']) {
  return sender.send({ url, shipperId: 's', headers, body: '{"secret":1}', timeoutMs: 2_000 });
}

const secureServer = loopback.secure;

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
    ['a certificate that is not valid yet', of(unusable.early), good.cert, 'BAD_CERTIFICATE'],
    ["a client's certificate", of(unusable.client), good.cert, 'BAD_CERTIFICATE'],
    ['a certificate signed with SHA-1', of(unusable.weak), good.cert, 'BAD_CERTIFICATE'],
  ];

  test.each(versions.flatMap((version) => bad.map((row) => [version, ...row] as const)))(
    '%s: not one byte is sent to %s, and the cause is named',
    async (version, _, pair, certificateAuthority, errorDetail) => {
      const ciphers = `${DEFAULT_CIPHERS}:@SECLEVEL=0`; // a server may have a weak certificate
      const { url, bytes } = await secureServer(pair, { minVersion: version, maxVersion: version, ciphers });
      const outcome = await send(url, open({ certificateAuthority }));
      expect(outcome).toMatchObject({ ok: false, errorCode: 'TLS', errorDetail, requestSent: false });
      await delay(30);
      expect(bytes()).toBe(0);
    },
  );

  const demanding = { requestCert: true, rejectUnauthorized: true };
  const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const ours = { ca: rsa.cert };
  const demands: [string, https.ServerOptions, string][] = [
    ['a client certificate', { ...demanding, ...ours }, 'CLIENT_CERTIFICATE_REQUIRED'],
    ['one by TLS 1.2', { ...demanding, ...ours, maxVersion: 'TLSv1.2' }, 'CLIENT_CERTIFICATE_REQUIRED'],
    ['TLS 1.1', { ...old, maxVersion: 'TLSv1.1' }, 'OLD_TLS'],
    ['TLS 1.0', { ...old, maxVersion: 'TLSv1' }, 'OLD_TLS'],
    [
      'a cipher that we do not have',
      { maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256' },
      'NO_COMMON_CIPHER',
    ],
    ['a curve that we do not have', { ecdhCurve: 'secp521r1' }, 'NO_COMMON_CIPHER'],
  ];

  test.each(demands)('what a receiver wants that demands %s is named', async (_, options, errorDetail) => {
    const { url } = await secureServer(rsa, options);
    const outcome = await send(url, open({ certificateAuthority: rsa.cert }));
    expect(outcome).toMatchObject({ ok: false, errorCode: 'TLS', errorDetail });
  });

  test.each(versions)(
    'a receiver that demands a certificate by %s is shown ours, once a connection',
    async (version) => {
      const demands = { ...demanding, ca: good.cert, minVersion: version, maxVersion: version };
      const { url, server, connections } = await secureServer(rsa, demands);
      const shown: string[] = [];
      server.on('secureConnection', (socket) => shown.push(socket.getPeerCertificate().fingerprint256));
      const sender = open({ certificateAuthority: rsa.cert, clientCertificate: good });
      for (let requests = 1; requests <= 3; requests += 1)
        expect(await send(url, sender)).toMatchObject({ ok: true });
      expect(connections()).toBe(1);
      expect(shown).toEqual([new X509Certificate(good.cert).fingerprint256]);
      const other = await secureServer(otherHost, demands);
      expect(
        await send(other.url, open({ certificateAuthority: otherHost.cert, clientCertificate: good })),
      ).toMatchObject({
        errorDetail: 'WRONG_HOST',
      });
    },
  );

  test('a receiver that asks for no certificate is shown none', async () => {
    const { url, server } = await secureServer(good);
    const shown: object[] = [];
    server.on('secureConnection', (socket) => shown.push(socket.getPeerCertificate()));
    const sender = open({ certificateAuthority: good.cert, clientCertificate: good });
    expect(await send(url, sender)).toMatchObject({ ok: true });
    expect(shown).toEqual([{}]);
  });

  test.each([
    'tlsv13 alert certificate required',
    'tlsv1 alert unknown ca',
    'ssl/tls alert bad certificate',
    'sslv3 alert certificate expired',
    'sslv3 alert certificate unknown',
  ])('that a receiver refuses our certificate is named: %s', (reason) => {
    const error = { code: 'EPROTO', message: `C0:error:0A000418:SSL routines:ssl3_read_bytes:${reason}:` };
    expect(errorDetailOf(error, 2_000)).toBe('CLIENT_CERTIFICATE_REQUIRED');
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

  /** Sends tickets for sessions, which carry nothing, until the connection is closed. */
  async function ticketServer(alreadySent: number, respond: http.RequestListener) {
    const { url, server } = await secureServer(good, {
      ciphers: 'TLS_AES_128_GCM_SHA256',
      minVersion: 'TLSv1.3',
      keepAliveTimeout: 0, // the server does not close it either
    });
    let wire: net.Socket;
    let secret: Buffer;
    const closed = new Promise((resolve) =>
      server.on('connection', (socket: net.Socket) => socket.on('close', resolve)),
    );
    server.on('connection', (socket: net.Socket) => (wire = socket));
    server.on('keylog', (line: Buffer) => {
      const [, hex] = /^SERVER_TRAFFIC_SECRET_0 \w+ (\w+)/.exec(line.toString()) ?? [];
      if (hex) secret = Buffer.from(hex, 'hex');
    });
    server.removeAllListeners('request').on('request', ((request, response) => {
      respond(request, response);
      const seal = sealer(secret, alreadySent);
      const pump = () => {
        while (wire.writable && wire.write(seal(22, ticket)));
      };
      wire.on('drain', pump);
      setTimeout(pump, 20); // what the server itself has sent is still on its way
    }) as http.RequestListener);
    return { url, closed };
  }

  test('also if they carry nothing: tickets for sessions without end', async () => {
    const { url } = await ticketServer(2, () => undefined);
    const outcome = await send(url, open({ certificateAuthority: good.cert }));
    const tooLarge = {
      ok: false,
      statusCode: null,
      errorCode: 'PROTOCOL',
      errorDetail: 'RESPONSE_TOO_LARGE',
    };
    expect(outcome).toMatchObject({ ...tooLarge, requestSent: true });
  });

  test('and so does the kept connection on which they come after the response', async () => {
    const { url, closed } = await ticketServer(3, (_request, response) => response.end('OK'));
    expect(await send(url, open({ certificateAuthority: good.cert }))).toMatchObject({ ok: true });
    const since = performance.now();
    await closed;
    expect(performance.now() - since).toBeLessThan(10_000); // an idle one is closed after 50 s
  });
});

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
    const sent = { dnsMs: 50, connectMs: 5, tlsMs: 120, errorCode: null, durationMs: 400 };
    expect(isHeavy(sent)).toBe(true);
    expect(isHeavy({ ...sent, connectMs: 200, tlsMs: 450 })).toBe(false);
    expect(isHeavy({ ...sent, connectMs: null, tlsMs: null })).toBe(false);
    const refused = { ...sent, tlsMs: null, errorCode: 'TLS' } as const;
    expect(isHeavy(refused)).toBe(true);
    expect(isHeavy({ ...refused, durationMs: 120 })).toBe(false);
    expect(isHeavy({ ...refused, errorCode: 'CONNECT' })).toBe(false);
  });
});
