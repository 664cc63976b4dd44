import { describe, expect, test } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { PassThrough, type Duplex } from 'node:stream';
import { forward } from '../../src/client/listen/forward.js';
import { createPrinter } from '../../src/client/listen/print.js';
import { askPassword, onEndSignals } from '../../src/client/listen/command.js';

describe('the password', () => {
  function ask() {
    const [stdin, stderr, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
    return {
      stdin,
      stop,
      shown: () => String(stderr.read()),
      asked: askPassword(stdin, stderr, stop.signal),
    };
  }

  test('is the typed line, and is not echoed', async () => {
    const { stdin, asked, shown } = ask();
    for (const key of 'horse p\u00e4ss\r') stdin.write(key);
    expect(await asked).toBe('horse p\u00e4ss');
    expect(shown()).toBe('Password: \n');
  });

  test.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('is missing after %s', async (_name, key) => {
    const { stdin, asked, shown } = ask();
    stdin.write(key);
    expect(await asked).toBe(null);
    expect(shown()).toBe('Password: \n');
  });

  test('is missing if the caller aborts, before or meanwhile', async () => {
    const { stop, asked } = ask();
    stop.abort();
    expect(await asked).toBe(null);
    expect(await askPassword(new PassThrough(), new PassThrough(), stop.signal)).toBe(null);
  });
});

describe('a local server that responds with 101', () => {
  async function startSwitching() {
    const sockets: Duplex[] = [];
    const server = http.createServer().on('upgrade', (_request, socket: Duplex) => sockets.push(socket));
    // A receiver that treats every request as a WebSocket upgrade.
    server.on('request', ({ socket }) => {
      sockets.push(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = () => {
      server.close();
      sockets.forEach((socket) => socket.destroy());
    };
    return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), close };
  }

  test('has not accepted the notification', async () => {
    const { url, close } = await startSwitching();
    const { signal } = new AbortController();
    const result = await forward(url, { headers: {}, body: '{}' }, { timeoutMs: 5_000, signal });
    expect(result).toMatchObject({ ok: false, statusCode: null, errorCode: 'RESET' });
    expect(result.durationMs).toBeLessThan(4_000);
    close();
  });
});

describe('an unreachable local server', () => {
  const call = (url: string) =>
    forward(
      new URL(url),
      { headers: {}, body: '{}' },
      { timeoutMs: 30_000, signal: new AbortController().signal },
    );

  test('is named with what to do, if the failure tells', async () => {
    const plain = http.createServer().listen(0, '127.0.0.1');
    const closed = net.createServer().listen(0, '127.0.0.1');
    await Promise.all([once(plain, 'listening'), once(closed, 'listening')]);
    const hostOf = (server: net.Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [plainHost, closedHost] = [hostOf(plain), hostOf(closed)];
    closed.close();
    await once(closed, 'close');
    expect((await call(`http://${closedHost}`)).obstacle).toEqual({
      cause: 'NOTHING_LISTENS',
      message: `Nothing listens at ${closedHost}: start your server.`,
    });
    expect((await call(`https://${plainHost}`)).obstacle).toEqual({
      cause: 'NO_TLS',
      message: `The server at ${plainHost} speaks http, not https: forward to http://${plainHost}.`,
    });
    plain.close();
  });

  test('each cause is printed once, and nothing is called rejected that never arrived', async () => {
    const text: string[] = [];
    const printer = createPrinter((line) => text.push(line));
    const { obstacle, ...result } = await call('http://127.0.0.1:1');
    const event = { at: new Date(), eventId: 'e', sequence: 1, trackingId: 'PH1', state: 'CREATED' };
    for (let count = 0; count < 2; count += 1)
      printer.notified({ ...event, ...result, responseText: null, diagnosis: obstacle });
    expect(text.map((line) => line.replace(/^\S+|\d+ ms/g, '…'))).toEqual([
      '…  CREATED  PH1  CONNECT  …  not delivered\n',
      '… listens at 127.0.0.1:1: start your server.\n',
      '…  CREATED  PH1  CONNECT  …  not delivered\n',
    ]);
    printer.ended({ forwarded: 4, refused: 3, undelivered: 2 });
    expect(text.at(-1)).toBe('Forwarded 4: 1 accepted, 1 rejected, 2 not delivered.\n');
  });

  test('is reported in the words of the delivery log', async () => {
    const silent = net.createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    const garbled = net.createServer((socket) => socket.end('no HTTP\r\n\r\n')).listen(0, '127.0.0.1');
    await Promise.all([once(silent, 'listening'), once(garbled, 'listening')]);
    const portOf = (server: net.Server) => (server.address() as AddressInfo).port;
    const codes = await Promise.all(
      [
        'http://no-such-host.invalid',
        `http://127.0.0.1:${portOf(silent)}`,
        `https://127.0.0.1:${portOf(garbled)}`,
        `http://127.0.0.1:${portOf(garbled)}`,
        'http://127.0.0.1:1',
      ].map(async (url) => (await call(url)).errorCode),
    );
    expect(codes).toEqual(['DNS', 'RESET', 'TLS', 'PROTOCOL', 'CONNECT']);
    silent.close();
    garbled.close();
  });
});

describe('Ctrl-C', () => {
  test('ends it cleanly; one more, later, at once', async () => {
    const [signals, told] = [new EventEmitter(), [] as string[]];
    onEndSignals(
      signals,
      () => told.push('stop'),
      (code) => told.push(`exit ${code}`),
    );
    signals.emit('SIGINT', 'SIGINT', 2);
    signals.emit('SIGINT', 'SIGINT', 2); // the same Ctrl-C, through npm
    expect(told).toEqual(['stop', 'stop']);
    await new Promise((resolve) => setTimeout(resolve, 600));
    signals.emit('SIGINT', 'SIGINT', 2);
    signals.emit('SIGTERM', 'SIGTERM', 15);
    expect(told.filter((one) => one !== 'stop')).toEqual(['exit 130', 'exit 143']);
  });
});
