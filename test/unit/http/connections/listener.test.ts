import { describe, expect, test } from '@jest/globals';
import express from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import type { Bounds } from '../../../../src/http/connections/connections.js';
import {
  times,
  large,
  listener,
  begun,
  over,
  pages,
  respond,
  start,
  client,
  head,
  until,
} from './serving.js';

test('a connection retains nothing of requests refused before their bodies arrived', async () => {
  await start();
  const counts: number[] = [];
  pages['/refused-early'] = (request, response) => {
    counts.push(request.socket.listenerCount('close'));
    response.writeHead(401, { 'content-length': 0 }).end();
  };
  const { socket, text } = client();
  for (let responses = 1; responses <= 20; responses += 1) {
    socket.write(head('/refused-early', 'Content-Length: 4'));
    await until('the response', () => text().split(' 401 ').length > responses);
    socket.write('body');
    await sleep(5);
  }
  expect(new Set(counts.slice(1)).size).toBe(1);
});

test('eight of the concurrent requests of sixty clients are processed per event-loop tick', async () => {
  await start();
  const all = Array.from({ length: 60 }, () => client());
  await until('all are connected', () => listener.connections() === all.length);
  for (const { socket } of all) socket.write(head('/'));
  const perTurn: number[] = [];
  for (let before = begun; begun < all.length; before = begun) {
    await new Promise((resolve) => setImmediate(resolve));
    perTurn.push(begun - before);
  }
  expect(Math.max(...perTurn)).toBe(8);
  await until('all have responses', () => all.every(({ text }) => text().includes(' 200 ')));
});

describe('pipelined requests', () => {
  const waiting: ServerResponse[] = [];
  pages['/waits'] = (_request, response) => void waiting.push(response);
  const respondAll = () => {
    for (const response of waiting.splice(0)) response.end('well');
  };
  /** Everything sent has arrived and been processed. */
  const settled = async () => {
    for (let seen = -1; seen !== begun; await sleep(100)) seen = begun;
  };

  test.each([
    ['requests without a body', head('/waits'), 8],
    // The listener waits for the end of the last one; the next follows it.
    ['uploads', head('/waits', 'Content-Length: 8') + '\r\n\r\nbody', 9],
  ])('%s: eight are under way, the rest is read after their responses', async (_what, text, most) => {
    await start();
    const { socket, text: read } = client();
    socket.write(text.repeat(1_000));
    await settled();
    expect(begun).toBe(most);
    for (let left = 1_000; left > 0 && begun < 1_000; left -= 1) {
      expect(waiting.length).toBeLessThanOrEqual(most);
      respondAll();
      await sleep(1);
    }
    await until('all have responses', () => (respondAll(), read().split(' 200 OK').length === 1_001));
    expect(begun).toBe(1_000);
  });

  test('are limited to one per connection when all together are too many, or have too large heads', async () => {
    for (const bounds of [{ maxRequests: 20 }, { fullAtHeadBytes: 20_000 }]) {
      await start(100, {}, respond, bounds);
      const many = Array.from({ length: 20 }, () => client());
      for (const { socket } of many) socket.write(head('/waits', `X-A: ${'x'.repeat(900)}`).repeat(50));
      await settled();
      expect(begun).toBeGreaterThanOrEqual(20);
      expect(begun).toBeLessThan(20 + 20 + 8);
      const last = client();
      last.socket.write(head('/waits').repeat(2));
      const before = begun;
      await until('the first of another is processed', () => begun === before + 1);
      for (const { socket } of [...many, last]) socket.destroy();
      await until('no connection', () => (respondAll(), listener.connections() === 0));
      await listener.close();
    }
    await start();
  });

  test('are bounded in memory: beyond it a connection is closed, and others get responses', async () => {
    for (const bounds of [{ maxHeadBytes: 20_000 }, { maxHeldBytes: 200_000 }]) {
      await start(100, {}, respond, bounds);
      const many = Array.from({ length: 30 }, () => client());
      await until('all are connected', () => listener.connections() === many.length);
      for (const { socket } of many) socket.write(head('/waits', `X-A: ${'x'.repeat(900)}`).repeat(50));
      await until('some are closed', () => listener.connections() < many.length);
      for (const { socket } of many) socket.destroy();
      await until('no connection', () => (respondAll(), listener.connections() === 0));
      const { socket, text } = client();
      socket.write(head('/'));
      await until('the response', () => text().includes('well'));
      socket.destroy();
      await listener.close();
    }
    await start();
  });

  test.each<[string, Partial<Bounds>, number, number]>([
    ['held unread', { maxHeldBytes: 180_000 }, 200, 11],
    ['in heads', { maxHeadBytes: 20_000 }, 8, 1],
  ])(
    'close the connection with most %s when the total is too large, not the latest one',
    async (_what, bounds, ofHeavy, ofLight) => {
      await start(100, {}, respond, { maxRequests: 10_000, ...bounds });
      const request = head('/waits', `X-A: ${'x'.repeat(900)}`);
      const heavy = client();
      heavy.socket.write(request.repeat(ofHeavy));
      await until('its first are processed', () => begun === 8);
      const lights = Array.from({ length: 15 }, () => client());
      await until('all are connected', () => listener.connections() === 1 + lights.length);
      for (const { socket } of lights) socket.write(request.repeat(ofLight));
      await until('it is closed', () => listener.connections() === lights.length);
      await until(
        'the others have their responses',
        () => (respondAll(), lights.every(({ text }) => text().split(' 200 OK').length === ofLight + 1)),
      );
      expect(heavy.text()).toBe('');
    },
  );

  test('close the connection with most unread response bytes when the total is too large, not the latest one', async () => {
    pages['/larger'] = (_request, response) => void response.end(Buffer.concat([large, large]));
    await start(100, { stalledMs: 60_000 }, respond, { maxUnsentBytes: 2.9 * large.length });
    const heavy = client(false);
    heavy.socket.write(head('/larger'));
    await until('its response', () => begun === 1);
    const lights = [client(), client()];
    for (const { socket } of lights) {
      socket.pause();
      socket.write(head('/large'));
    }
    await until('their responses', () => begun === 3);
    await sleep(120);
    const { socket, text } = client();
    socket.write(head('/'));
    await until('the response', () => text().includes('well'));
    expect(listener.connections()).toBe(3);
    for (const light of lights) {
      light.socket.resume();
      await until('the whole response', () => light.text().length > large.length);
    }
  });
});

describe('a connection is closed', () => {
  test.each([
    ['half a head', 'GET / HTTP/1.1\r\nHost: x\r\n', ' 408 '],
    ['nothing at all', '', ' 408 '],
    ['what is no HTTP', 'hello\r\n\r\n', ' 400 '],
    ['half of a body that is refused', head('/refused', 'Content-Length: 100') + 'half', ' 401 '],
  ])('when it sent %s and does not close after the response', async (_what, bytes, status) => {
    await start();
    const { socket, text } = client();
    socket.write(bytes);
    await until('the response', () => text().includes(status));
    await until('no connection', () => listener.connections() === 0);
    expect(text().match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  test('when it continues to upload after a refusal', async () => {
    await start();
    const { socket, text } = client();
    socket.write(head('/refused', 'Transfer-Encoding: chunked'));
    const upload = setInterval(() => socket.write(`400\r\n${'x'.repeat(0x400)}\r\n`), 5);
    await until('the response', () => text().includes(' 401 '));
    await until('no connection', () => listener.connections() === 0, 5_000);
    clearInterval(upload);
    expect(text().match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  test.each([1, 50])('when it requests %d large responses and reads none; one is created', async (count) => {
    await start();
    const { socket } = client(false);
    for (let n = 0; n < count; n += 1) socket.write(head('/large'));
    await until('a response begun', () => begun === 1);
    await until('no connection', () => listener.connections() === 0);
    await until('all responses ended', () => over === begun);
    expect(begun).toBe(1);
  });

  test('but not while it reads slowly, nor while its response is being created', async () => {
    await start();
    const slow = client();
    slow.socket.write(head('/slow'));
    const { socket } = client(false);
    socket.write(head('/large'));
    const endAt = performance.now() + 3 * times.stalledMs;
    while (performance.now() < endAt) {
      await sleep(20);
      socket.read(256 * 1024); // about 12 MB a second
    }
    expect(listener.connections()).toBe(2);
    await until('the response', () => slow.text().includes('late'));
  });
});

describe('a body in one-byte chunks', () => {
  const oneByte = '1\r\nx\r\n';
  const last = '0\r\n\r\n';

  test('that nobody reads keeps at most 4,096 of them, and its connection is closed after the response', async () => {
    await start(100, { headersMs: 60_000, requestMs: 60_000 });
    let unread: IncomingMessage | undefined;
    let respondNow = () => {};
    pages['/unread'] = (request, response) => {
      unread = request;
      respondNow = () => response.end('well');
    };
    const { socket, text } = client();
    const sent = head('/unread', 'Transfer-Encoding: chunked') + oneByte.repeat(60_000) + last + head('/');
    socket.write(sent);
    await until('all of it is received', () => unread?.socket.bytesRead === sent.length);
    expect(unread!.readableLength).toBe(4_096);
    respondNow();
    await until('no connection', () => listener.connections() === 0);
    expect(text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });

  test('is not parsed for longer than 64 KiB after its refusal', async () => {
    await start();
    const { socket, text } = client();
    socket.write(head('/refused', 'Transfer-Encoding: chunked'));
    await until('the response', () => text().includes(' 401 '));
    socket.write(oneByte.repeat(60_000) + last + head('/'));
    await until('no connection', () => listener.connections() === 0);
    expect(text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });

  test('is read if it has few of them, and so is a body in many larger ones', async () => {
    await start();
    let bytes = 0;
    pages['/read'] = (request, response) =>
      void request.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => response.end());
    const { socket, text } = client();
    const larger = `20\r\n${'x'.repeat(32)}\r\n`;
    for (const [count, chunk] of [
      [4_096, oneByte],
      [5_000, larger],
    ] as const)
      socket.write(head('/read', 'Transfer-Encoding: chunked') + chunk.repeat(count) + last);
    await until('both responses', () => text().split(' 200 ').length === 3);
    expect(bytes).toBe(4_096 + 160_000);
  });
});

test('a client that uploads slightly more than is read still gets the refusal, and can reuse the connection', async () => {
  await start();
  const { socket, text } = client();
  socket.write(head('/refused', 'Content-Length: 8') + 'half');
  await until('the response', () => text().includes(' 401 '));
  socket.write(`half${head('/')}`);
  await until('the next response', () => text().includes('well'));
  expect(text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
});

test('when silent clients have every place, a complete request gets its response at once', async () => {
  await start(10, { headersMs: 60_000, requestMs: 60_000 });
  for (let n = 0; n < 40; n += 1) client().socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
  await until('all places taken', () => listener.connections() === 10);
  const { socket, text } = client();
  socket.write(head('/'));
  await until('the response', () => text().includes('well'));
  expect(listener.connections()).toBeLessThanOrEqual(10);
});

test('all requests handled by Express share one hidden class, and so do its responses, even after a change of the app', async () => {
  setFlagsFromString('--allow-natives-syntax');
  const haveSameMap = runInThisContext('(a, b) => %HaveSameMap(a, b)') as (a: object, b: object) => boolean;
  type Seen = [IncomingMessage, ServerResponse];
  const seen: Seen[] = [];
  const app = () =>
    express().get('/', (request, response) => {
      seen.push([request, response]);
      response.json({ secure: request.secure });
    });
  await start(100, {}, app());
  const { socket, text } = client();
  for (let round = 1; round <= 2; round += 1) {
    for (let n = 1; n <= 20; n += 1) {
      socket.write(head('/'));
      await until('the response', () => text().split('{"secure":false}').length > 20 * (round - 1) + n);
    }
    const [[request, response], [lastRequest, lastResponse]] = seen.splice(0).slice(-2) as [Seen, Seen];
    expect([haveSameMap(request, lastRequest), haveSameMap(response, lastResponse)]).toEqual([true, true]);
    listener.use(app());
  }
});
