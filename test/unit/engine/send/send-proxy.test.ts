import { expect, test } from '@jest/globals';
import http from 'node:http';
import net from 'node:net';
import type { Sender, SenderOptions } from '../../../../src/engine/send/sender.js';
import { good } from './certificates.js';
import { loopback, open } from './loopback.js';
import { corpusPolicy, stubDns, stubResolver } from '../../../support/ssrf-corpus.js';

const openPublic = (options: Partial<SenderOptions>): Sender =>
  open({ policy: corpusPolicy, dns: stubDns(stubResolver(publicAddress)), ...options });

const send = (url: string, sender: Sender) =>
  sender.send({ url, shipperId: 's', headers: [], body: '{"secret":1}', timeoutMs: 2_000 });

const secureServer = () => loopback.secure(good);

const publicAddress = 'A 93.184.215.14';

interface ProxyOptions {
  records?: string;
  refused?: string[];
  /** The proxy's response about an address comes after so many milliseconds; null: never. */
  waits?: Record<string, number | null>;
  status?: number;
  userInfo?: string;
}

/** All but those to the addresses in `refused`. */
async function proxyTo(
  port: number,
  { records = publicAddress, refused = [], waits = {}, status = 200, userInfo = '' }: ProxyOptions = {},
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
    const address = request.url!.replace(/:\d+$/, '');
    const waitMs = waits[address];
    if (waitMs !== null) setTimeout(respond, waitMs ?? 0, socket, refused.includes(address));
  });
  const respond = (socket: net.Socket, isRefused: boolean) => {
    socket.write(`HTTP/1.1 ${isRefused ? 403 : status} X\r\n\r\n`);
    if (isRefused) return void socket.end();
    const tunnel = net.connect(port, '127.0.0.1').on('error', () => {});
    socket.pipe(tunnel).pipe(socket);
  };
  const listening = await loopback.listen(server);
  const egressProxy = `http://${userInfo}127.0.0.1:${listening.port}`;
  const dns = stubDns(stubResolver(records));
  const sender = openPublic({ egressProxy, certificateAuthority: good.cert, dns });
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
  const { port, bytes } = await secureServer();
  const { seen, sender } = await proxyTo(port);
  for (let i = 0; i < 2; i++)
    expect(await send('https://shop.example.org/', sender)).toMatchObject({ ok: true, requestSent: true });
  const sentBytes = bytes();
  expect(await send('https://elsewhere.example.org/', sender)).toMatchObject({ errorCode: 'TLS' });
  expect(seen).toEqual(['CONNECT 93.184.215.14:443', 'CONNECT 93.184.215.14:443']);
  expect(bytes()).toBe(sentBytes);
});

test("an attempt has the receiver's address, and a tunnel's phases are its own", async () => {
  const { port } = await secureServer();
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
  const { port } = await secureServer();
  const { credentials, sender } = await proxyTo(port, { userInfo: 'parcel:h%40ok@' });
  expect(await send('https://shop.example.org/', sender)).toMatchObject({ ok: true });
  expect(credentials).toEqual([`Basic ${Buffer.from('parcel:h@ok').toString('base64')}`]);
});

test('an address that the proxy cannot reach is followed by the next one', async () => {
  const { port } = await secureServer();
  const dns = 'A 93.184.215.14, AAAA 2a00:1450:4001:800::200e';
  const { seen, sender } = await proxyTo(port, { records: dns, refused: ['93.184.215.14'] });
  expect(await send('https://shop.example.org/', sender)).toMatchObject({ ok: true });
  expect(seen).toEqual(['CONNECT 93.184.215.14:443', 'CONNECT [2a00:1450:4001:800::200e]:443']);
});

const [first, second] = ['93.184.215.14', '93.184.215.15'] as const;
const two = `A ${first}, A ${second}`;

test('an address about which the proxy is silent is joined by the next one', async () => {
  const { port } = await secureServer();
  const { seen, sender } = await proxyTo(port, { records: two, waits: { [first]: null } });
  const url = 'https://shop.example.org/';
  expect(await send(url, sender)).toMatchObject({ ok: true, remoteAddress: second });
  expect(seen).toEqual([`CONNECT ${first}:443`, `CONNECT ${second}:443`]);
});

test('an address that is only slow is not given up for the next one', async () => {
  const { port } = await secureServer();
  const { sender } = await proxyTo(port, { records: two, waits: { [first]: 900 }, refused: [second] });
  expect(await send('https://shop.example.org/', sender)).toMatchObject({ ok: true, remoteAddress: first });
});

test('at most four addresses of a name are tried', async () => {
  const addresses = Array.from({ length: 6 }, (_, n) => `93.184.215.${n + 1}`);
  const records = addresses.map((address) => `A ${address}`).join(', ');
  const { seen, sender } = await proxyTo(0, { records, refused: addresses });
  expect(await send('https://shop.example.org/', sender)).toMatchObject({ errorCode: 'CONNECT' });
  expect(seen).toHaveLength(4);
});

test.each([200, 201, 204, 299])('a response of %i to CONNECT opens the tunnel', async (status) => {
  const { port } = await secureServer();
  const { sender } = await proxyTo(port, { status });
  expect(await send('https://shop.example.org/', sender)).toMatchObject({ ok: true });
});

test('what fails between us and the proxy is CONNECT, and a gateway time-out TIMEOUT', async () => {
  const silent = await loopback.raw((socket) => void socket.end());
  const wordy = await loopback.raw((socket) => void socket.end('220 mail.example.org ESMTP\r\n'));
  const codes = [];
  for (const host of [`127.0.0.1:${silent.port}`, `127.0.0.1:${wordy.port}`, 'nowhere.invalid']) {
    const sender = openPublic({ egressProxy: `http://${host}` });
    codes.push((await send('https://shop.example.org/', sender)).errorCode);
  }
  const { sender } = await proxyTo(0, { status: 504 });
  codes.push((await send('https://shop.example.org/', sender)).errorCode);
  expect(codes).toEqual(['CONNECT', 'CONNECT', 'CONNECT', 'TIMEOUT']);
});

test('what the receiver says first, with the response to CONNECT, is not lost', async () => {
  const proxy = http.createServer();
  proxy.on('connect', (_request, socket: net.Socket) =>
    socket.write('HTTP/1.1 200 OK\r\n\r\n220 mail.example.org ESMTP\r\n'),
  );
  const { port } = await loopback.listen(proxy);
  const sender = openPublic({ egressProxy: `http://127.0.0.1:${port}` });
  const outcome = await send('https://shop.example.org/', sender);
  expect(outcome).toMatchObject({ errorCode: 'TLS', errorDetail: 'NOT_TLS' });
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
