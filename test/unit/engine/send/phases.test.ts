import { describe, expect, test } from '@jest/globals';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { SendRequest, SenderOptions } from '../../../../src/engine/send/sender.js';
import { good } from './certificates.js';
import { loopback, open } from './loopback.js';
import { corpusPolicy, stubDns } from '../../../support/ssrf-corpus.js';

function sending(options: Partial<SenderOptions> = {}) {
  const sender = open({ certificateAuthority: good.cert, ...options });
  return async (url: string, more: Partial<SendRequest> = {}) => {
    const request = { url, shipperId: 's', headers: [], body: '{}', timeoutMs: 5_000, ...more };
    const outcome = await sender.send(request);
    const { durationMs, dnsMs, connectMs, tlsMs, firstByteMs, remoteAddress, errorCode } = outcome;
    const phases = { dnsMs, connectMs, tlsMs, firstByteMs };
    const known = Object.values(phases).flatMap((ms) => ms ?? []);
    expect(known.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(durationMs);
    expect(known.every((ms) => Number.isInteger(ms) && ms >= 0)).toBe(true);
    return { ...phases, remoteAddress, errorCode };
  };
}

const ok = (_: unknown, response: http.ServerResponse) => response.end('OK');
const named = (url: string) => url.replace('127.0.0.1', 'shop.example.org');
const local = { address: '127.0.0.1', family: 4 };
const dnsOf = (waitMs: number, addresses = [local]) => stubDns(() => delay(waitMs, addresses));
const at = (url: string) => Number(new URL(url).port);
/** A port on which nothing listens. */
async function freePort() {
  const server = net.createServer();
  const { url } = await loopback.listen(server);
  await new Promise((resolve) => server.close(resolve));
  return at(url);
}

describe('each phase has its own duration', () => {
  test('a new connection to a name over TLS has all of them, a kept one only the first byte', async () => {
    const { url } = await loopback.listen(https.createServer(good, ok), 'https');
    const send = sending({ dns: dnsOf(40) });
    const first = await send(named(url));
    expect(first).toEqual({
      dnsMs: expect.any(Number),
      connectMs: expect.any(Number),
      tlsMs: expect.any(Number),
      firstByteMs: expect.any(Number),
      remoteAddress: '127.0.0.1',
      errorCode: null,
    });
    expect(first.dnsMs).toBeGreaterThanOrEqual(38);
    expect(await send(named(url))).toEqual({
      dnsMs: null,
      connectMs: null,
      tlsMs: null,
      firstByteMs: expect.any(Number),
      remoteAddress: '127.0.0.1',
      errorCode: null,
    });
  });

  test('a name that is in the cache has a dnsMs, too', async () => {
    const { url } = await loopback.listen(http.createServer(ok));
    const send = sending({ dns: stubDns(() => Promise.resolve([local])) });
    expect(await send(named(url))).toMatchObject({ dnsMs: expect.any(Number), tlsMs: null });
  });

  test('an address without a name has no dnsMs, and http: no tlsMs', async () => {
    const { url } = await loopback.listen(http.createServer(ok));
    expect(await sending()(url)).toMatchObject({
      dnsMs: null,
      connectMs: expect.any(Number),
      tlsMs: null,
      remoteAddress: '127.0.0.1',
    });
  });

  test('the first byte counts from when the request is written, not from before it might start', async () => {
    const slow = (_: unknown, response: http.ServerResponse) => void setTimeout(() => response.end(), 60);
    const { url } = await loopback.listen(http.createServer(slow));
    const { firstByteMs, connectMs } = await sending()(url, { mayStart: () => delay(400, true) });
    expect(firstByteMs).toBeGreaterThanOrEqual(55);
    expect(firstByteMs).toBeLessThan(400);
    expect(connectMs).toBeLessThan(400);
  });

  test('a request that is sent again on a fresh connection has the phases of that one', async () => {
    const response = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
    const { url } = await loopback.raw((socket, n) => void (n === 2 ? socket.end() : socket.write(response)));
    const send = sending();
    await send(url);
    expect(await send(url)).toMatchObject({ errorCode: null, connectMs: expect.any(Number) });
  });
});

describe('an attempt that fails shows how far it came', () => {
  const never = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null };

  test('a failed lookup has no phase and no address', async () => {
    const send = sending({ dns: stubDns(() => new Promise(() => {})) });
    expect(await send('http://shop.example.org/', { timeoutMs: 100 })).toEqual({
      ...never,
      remoteAddress: null,
      errorCode: 'TIMEOUT',
    });
  });

  test('a denied address has no phase and no address', async () => {
    const send = sending({ policy: corpusPolicy, dns: dnsOf(1) });
    const nowhere = { ...never, remoteAddress: null };
    expect(await send('https://shop.example.org/')).toEqual({ ...nowhere, errorCode: 'DNS' });
    expect(await send('https://127.0.0.1/')).toEqual({ ...nowhere, errorCode: 'ADDRESS_DENIED' });
  });

  test('a refused connection has the address that refused it, the last one if there are several', async () => {
    const port = await freePort();
    const refused = { ...never, errorCode: 'CONNECT' };
    expect(await sending()(`http://127.0.0.1:${port}/`)).toEqual({ ...refused, remoteAddress: '127.0.0.1' });
    const two = [local, { address: '127.0.0.2', family: 4 }];
    expect(await sending({ dns: dnsOf(1, two) })(`http://shop.example.org:${port}/`)).toEqual({
      ...refused,
      dnsMs: expect.any(Number),
      remoteAddress: '127.0.0.2',
    });
  });

  test('a failed TLS handshake has the phases of the name and the connection', async () => {
    const { url } = await loopback.listen(net.createServer(), 'https');
    expect(await sending({ dns: dnsOf(1) })(named(url), { timeoutMs: 300 })).toEqual({
      dnsMs: expect.any(Number),
      connectMs: expect.any(Number),
      tlsMs: null,
      firstByteMs: null,
      remoteAddress: '127.0.0.1',
      errorCode: 'TIMEOUT',
    });
  });

  test('an attempt without a response has everything but the first byte', async () => {
    const { url } = await loopback.raw(() => undefined);
    expect(await sending()(url, { timeoutMs: 200 })).toMatchObject({
      connectMs: expect.any(Number),
      firstByteMs: null,
      remoteAddress: '127.0.0.1',
      errorCode: 'TIMEOUT',
    });
  });

  test('at the second address, if only that one connects', async () => {
    const { url } = await loopback.listen(http.createServer(ok));
    const two = [{ address: '127.0.0.2', family: 4 }, local];
    expect(await sending({ dns: dnsOf(1, two) })(named(url))).toMatchObject({
      connectMs: expect.any(Number),
      remoteAddress: '127.0.0.1',
      errorCode: null,
    });
  });
});
