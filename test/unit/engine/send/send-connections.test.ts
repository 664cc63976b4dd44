import { describe, expect, test } from '@jest/globals';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { Answer } from '../../../../src/engine/send/dns/resolver.js';
import type { SenderOptions } from '../../../../src/engine/send/sender.js';
import { stubDns } from '../../../support/ssrf-corpus.js';
import { good } from './certificates.js';
import { loopback, open } from './loopback.js';

describe('connections', () => {
  const hanging = 600;
  const maxIdleSockets = 10;

  test('hundreds of hanging attempts delay no other on the same host', async () => {
    const sender = open();
    let arrived = 0;
    const server = http.createServer((request, response) => {
      if (request.url?.endsWith('/hangs')) arrived += 1;
      else response.end('OK');
    });
    const { url } = await loopback.listen(server);
    const send = (path: string) =>
      sender.send({ url: `${url}${path}`, shipperId: 's', headers: [], body: '{}', timeoutMs: 10_000 });
    for (let n = 0; n < hanging; n += 1) void send('/hangs');
    while (arrived < hanging) await new Promise(setImmediate);
    const outcome = await send('/answers');
    expect(outcome).toMatchObject({ ok: true, statusCode: 200 });
    expect(outcome.durationMs).toBeLessThan(1_000);
  });

  test('idle connections to ever new hosts are bounded in total; those of a host that is called stay', async () => {
    const bounded = open({ maxIdleSockets });
    const hosts = 5 * maxIdleSockets;
    let opened = 0;
    const receiverOf = async () => {
      const server = http.createServer((_request, response) => response.end('OK'));
      server.on('connection', (socket) => {
        opened += 1;
        socket.on('close', () => (opened -= 1));
      });
      return loopback.listen(server);
    };
    const send = ({ url }: { url: string }) =>
      bounded.send({ url, shipperId: 's', headers: [], body: '{}', timeoutMs: 10_000 });
    const called = await receiverOf();
    for (let n = 0; n < hosts; n += 1) {
      expect(await send(await receiverOf())).toMatchObject({ ok: true });
      expect(await send(called)).toMatchObject({ ok: true });
    }
    while (opened > maxIdleSockets) await new Promise(setImmediate);
    expect(called.connections()).toBe(1);
  });
});

describe('a kept connection', () => {
  const sending = (options: Partial<SenderOptions>) => {
    const sender = open(options);
    return (url: string) => sender.send({ url, shipperId: 's', headers: [], body: '{}', timeoutMs: 10_000 });
  };

  const ok: http.RequestListener = (_request, response) => response.end('OK');

  /** Receivers at two addresses with the same port, and a name that leads to one of them. */
  async function movingName() {
    const [before, after] = ['127.0.0.1', '127.0.0.2'] as const;
    const { port, connections } = await loopback.listen(http.createServer(ok));
    await loopback.listen(http.createServer(ok), 'http', port, after);
    const name = {
      address: before as string,
      family: 4,
      url: `http://shop.example.org:${port}/`,
      connections,
    };
    return { name, before, after };
  }

  test('is closed at its greatest age, even if it is idle', async () => {
    const server = http.createServer(ok);
    const closed = new Promise((resolve) =>
      server.on('connection', (socket: net.Socket) => socket.on('close', resolve)),
    );
    const { url, connections } = await loopback.listen(server);
    const send = sending({ maxAgeMs: 300 });
    expect(await send(url)).toMatchObject({ ok: true });
    expect(await send(url)).toMatchObject({ ok: true });
    expect(connections()).toBe(1);
    await closed;
    expect(await send(url)).toMatchObject({ ok: true });
    expect(connections()).toBe(2);
  });

  test('that is busy at its greatest age is closed when its request has ended', async () => {
    let sockets: net.Socket[] = [];
    const server = http.createServer((request, response) => {
      sockets = [...new Set([...sockets, request.socket])];
      if (sockets.length === 1) setTimeout(() => response.end('late'), 400);
      else response.end('OK');
    });
    const { url } = await loopback.listen(server);
    const send = sending({ maxAgeMs: 200 });
    expect(await send(url)).toMatchObject({ ok: true, responseBody: 'late' });
    expect(await send(url)).toMatchObject({ ok: true, responseBody: 'OK' });
    expect(sockets).toHaveLength(2);
  });

  test('is soon closed by what nobody has asked for', async () => {
    const closed: Promise<unknown>[] = [];
    const { url, connections } = await loopback.raw((socket, n) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      if (n > 1) return;
      const pump = () => {
        while (socket.writable && socket.write('a'.repeat(65_536)));
      };
      socket.on('drain', pump);
      setTimeout(pump, 50);
      closed.push(new Promise((resolve) => socket.on('close', resolve)));
    });
    const send = sending({});
    expect(await send(url)).toMatchObject({ ok: true });
    const since = performance.now();
    await closed[0];
    expect(performance.now() - since).toBeLessThan(10_000); // an idle one is closed after 50 s
    expect(await send(url)).toMatchObject({ ok: true });
    expect(connections()).toBe(2);
  });

  test('to an address that its name has left is not used again', async () => {
    const { name, before, after } = await movingName();
    const send = sending({ dns: stubDns(() => Promise.resolve([name])) });
    expect(await send(name.url)).toMatchObject({ ok: true, remoteAddress: before });
    name.address = after;
    expect(await send(name.url)).toMatchObject({ ok: true, remoteAddress: after });
  });

  test('stays in use while its name cannot be looked up, and waits only shortly for a slow response', async () => {
    const { name, before, after } = await movingName();
    const lookups = [
      () => Promise.resolve([name]),
      () => Promise.reject(new Error('no name server responds')),
      () => new Promise<never>(() => {}),
    ];
    const send = sending({ dns: stubDns(() => lookups.shift()!()) });
    const startedAt = performance.now();
    expect(await send(name.url)).toMatchObject({ ok: true, remoteAddress: before });
    name.address = after;
    while (lookups.length > 0)
      expect(await send(name.url)).toMatchObject({ ok: true, remoteAddress: before });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(name.connections()).toBe(1);
  });
});

describe('a name whose second address family is told later', () => {
  const ipv6 = { address: '::1', family: 6 };
  const ipv4 = { address: '127.0.0.1', family: 4 };

  /** Nothing listens on IPv6. */
  async function sendWith(rest: Promise<Answer>) {
    const { port, connections } = await loopback.listen(http.createServer((_, response) => response.end()));
    rest.catch(() => undefined);
    const dns = { resolve: () => Promise.resolve({ addresses: [ipv6], rest }), close: () => undefined };
    const sender = open({ dns });
    const request = { url: `http://shop.example.org:${port}/`, shipperId: 's', headers: [], body: '{}' };
    return { outcome: await sender.send({ ...request, timeoutMs: 3_000 }), connections };
  }

  test('its addresses are tried when they are known', async () => {
    const { outcome } = await sendWith(delay(300, { addresses: [ipv4, ipv6], rest: null }));
    expect(outcome).toMatchObject({ ok: true, remoteAddress: ipv4.address });
  });

  test('the attempt fails as the first family did if the other remains unknown', async () => {
    const { outcome } = await sendWith(delay(100).then(() => Promise.reject(new Error('no response'))));
    expect(outcome).toMatchObject({ errorCode: 'CONNECT', remoteAddress: ipv6.address });
  });

  test('a denied address that is told later denies the name', async () => {
    const denied = Object.assign(new Error('denied'), { code: 'ADDRESS_DENIED' });
    const { outcome, connections } = await sendWith(delay(100).then(() => Promise.reject(denied)));
    expect([outcome.errorCode, connections()]).toEqual(['ADDRESS_DENIED', 0]);
  });
});

describe('starts', () => {
  function sendWith(options: Partial<SenderOptions> = {}) {
    const sender = open(options);
    return (url: string, mayStart: () => true | Promise<boolean>, timeoutMs = 10_000) =>
      sender.send({ url, shipperId: 's', headers: [], body: '{"secret":1}', timeoutMs, mayStart });
  }

  async function counting() {
    let bytes = 0;
    const server = http.createServer((_, response) => response.end('OK'));
    server.on('connection', (socket: net.Socket) => socket.on('data', (data) => (bytes += data.length)));
    return { ...(await loopback.listen(server)), bytes: () => bytes };
  }

  const deferred = () => {
    let resolve = () => {};
    const promise = new Promise<void>((done) => (resolve = done));
    return { promise, resolve };
  };

  const refuse = () => Promise.resolve(false);
  const allow = () => Promise.resolve(true);

  describe('whether a request may start', () => {
    test('is checked after lookup and connect; if not, no byte goes out', async () => {
      const { port, connections, bytes } = await counting();
      const lookup = deferred();
      const dns = stubDns(() => lookup.promise.then(() => [{ address: '127.0.0.1', family: 4 }]));
      let asked = 0;
      const sending = sendWith({ dns })(`http://late.example.org:${port}/`, () => {
        asked += 1;
        return refuse();
      });
      await new Promise(setImmediate);
      expect(asked).toBe(0);
      lookup.resolve();
      expect(await sending).toMatchObject({ ok: false, withheld: true, statusCode: null, errorCode: null });
      expect([asked, connections(), bytes()]).toEqual([1, 1, 0]);
    });

    test('is checked after the TLS handshake; if not, no byte goes out', async () => {
      let bytes = 0;
      const secure = https.createServer(good, (_, response) => response.end('OK'));
      secure.on('secureConnection', (socket: TLSSocket) =>
        socket.on('data', (data) => (bytes += data.length)),
      );
      const handshake = deferred();
      const connected = deferred();
      const { port } = await loopback.listen(
        net.createServer((socket) => {
          connected.resolve();
          void handshake.promise.then(() => secure.emit('connection', socket));
        }),
      );
      let asked = 0;
      const send = sendWith({ certificateAuthority: good.cert });
      const url = `https://127.0.0.1:${port}/`;
      const sending = send(url, () => {
        asked += 1;
        return refuse();
      });
      await connected.promise;
      await new Promise(setImmediate);
      expect(asked).toBe(0);
      handshake.resolve();
      expect(await sending).toMatchObject({ withheld: true });
      expect([asked, bytes]).toEqual([1, 0]);
      expect(await send(url, allow)).toMatchObject({ ok: true, withheld: false });
      expect(await send(url, () => true)).toMatchObject({ ok: true, withheld: false }); // on the same connection
    });

    test('is checked again for each request on a kept connection, and for a resent one', async () => {
      const { url, connections } = await loopback.raw((socket, n) =>
        n === 2 ? void socket.end() : void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
      );
      const send = sendWith();
      expect(await send(url, () => true)).toMatchObject({ ok: true });
      let asked = 0;
      const outcome = await send(url, () => (++asked === 1 ? true : refuse()));
      expect(outcome).toMatchObject({ ok: false, withheld: true });
      expect([asked, connections()]).toEqual([2, 2]);
    });

    test('a check that ends after the deadline sends nothing', async () => {
      const { url, bytes } = await counting();
      const response = deferred();
      const outcome = await sendWith()(url, () => response.promise.then(() => true), 50);
      expect(outcome).toMatchObject({ errorCode: 'TIMEOUT', withheld: false });
      response.resolve();
      await sendWith()(url, () => true); // proves that the server works
      const ofOne = bytes();
      await sendWith()(url, allow);
      expect(bytes()).toBe(2 * ofOne);
    });
  });
});
