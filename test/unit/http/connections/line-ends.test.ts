import { describe, expect, test } from '@jest/globals';
import { type Request } from 'express';
import type { IncomingMessage } from 'node:http';
import { type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBytes } from '../../../../src/http/request/body.js';
import type { ApiError } from '../../../../src/platform/errors.js';
import { listener, pages, start, client, head, until } from './serving.js';

describe('line ends between requests', () => {
  const ofTwo = '\r\n'.repeat(32);

  test.each([
    ['before the first', [ofTwo + head('/')], 1],
    ['after one, in the same chunk', [head('/') + ofTwo + head('/')], 2],
    ['one by one', [head('/'), ...ofTwo, head('/')], 2],
    ['after a body', [head('/', 'Content-Length: 4') + 'body', ofTwo, head('/')], 2],
  ])('are ignored, %s, up to 64 bytes of them', async (_what, parts, count) => {
    await start();
    const { socket, text } = client();
    for (const part of parts) {
      socket.write(part);
      await sleep(1);
    }
    await until('the responses', () => text().split(' 200 ').length === count + 1);
    expect(listener.connections()).toBe(1);
  });

  test.each([
    ['nothing else', [ofTwo + '\n']],
    ['nothing else, one by one', [...ofTwo, '\r']],
    ['bare ones', ['\n'.repeat(65)]],
    ['more of them after a request', [`${head('/')}${ofTwo}\r\n`]],
    ['more of them after a body', [head('/', 'Content-Length: 4') + 'body', `${ofTwo}\r\n\r\n\r\n`]],
  ])('close the connection that sends %s', async (_what, parts) => {
    await start(100, { headersMs: 60_000, requestMs: 60_000, idleMs: 60_000 });
    const { socket } = client();
    await until('the connection', () => listener.connections() === 1);
    for (const part of parts) {
      socket.write(part);
      await sleep(1);
    }
    await until('no connection', () => listener.connections() === 0);
  });

  test('do not count where they end a head that comes in parts, and begin its body', async () => {
    await start();
    const body = '\r\n'.repeat(100);
    const { socket, text } = client();
    const whole = head('/', `Content-Length: ${body.length}`);
    for (const part of [whole.slice(0, -4), whole.slice(-4) + body + head('/')]) {
      socket.write(part);
      await sleep(5);
    }
    await until('both responses', () => text().split(' 200 ').length === 3);
  });
});

describe('what nobody needs is read slowly:', () => {
  const lineEnds = '\r\n'.repeat(2 ** 22);

  test('64 KiB of a connection in an event-loop tick, and as much ahead', async () => {
    await start();
    let reading: Socket | undefined;
    pages['/upload'] = (request, response) => {
      reading = request.socket;
      request.resume().on('end', () => response.end('well'));
    };
    const { socket, text } = client();
    const body = Buffer.alloc(500_000, 'x');
    socket.write(head('/upload', `Content-Length: ${body.length}`));
    await until('the request', () => reading !== undefined);
    let [before, most] = [reading!.bytesRead, 0];
    socket.write(body);
    while (!text().includes('well')) {
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, reading!.bytesRead - before);
      before = reading!.bytesRead;
    }
    expect(most).toBeLessThanOrEqual(2 * 64 * 1024);
  });

  test('of a request that waits 64 KiB, until its body is read', async () => {
    await start();
    const waiting: IncomingMessage[] = [];
    pages['/waiting-upload'] = (request) => void waiting.push(request);
    const body = Buffer.alloc(500_000, 'x');
    const { socket } = client();
    socket.write(
      Buffer.concat([Buffer.from(head('/waiting-upload', `Content-Length: ${body.length}`)), body]),
    );
    await until('the request', () => waiting.length === 1);
    const [request] = waiting;
    await sleep(100);
    expect(request!.socket.bytesRead).toBeLessThanOrEqual(64 * 1024);
    request!.resume();
    await until('its end', () => request!.complete);
  });

  test.each(['Content-Length: 9000000', 'Transfer-Encoding: chunked'])(
    'a refused body of line ends (%s)',
    async (framing) => {
      await start();
      let refused: Socket | undefined;
      pages['/refused-body'] = (request, response) => {
        refused = request.socket;
        response.writeHead(401).end('refused');
      };
      const { socket, text } = client();
      socket.write(head('/refused-body', framing) + (framing.includes('chunked') ? '900000\r\n' : ''));
      await until('the response', () => text().includes(' 401 '));
      socket.write(lineEnds);
      await until('no connection', () => listener.connections() === 0);
      expect(refused!.bytesRead).toBeLessThan(lineEnds.length / 2);
    },
  );

  test('a body of which too much is no content is cut, and its client gets a response', async () => {
    await start(100, { headersMs: 60_000, requestMs: 60_000 });
    pages['/read-all'] = (request, response) =>
      void readBytes(request as Request, () => undefined).then(
        () => response.end(),
        (error: ApiError) => response.writeHead(error.httpStatus).end(),
      );
    const { socket, text } = client();
    const zeros = Buffer.alloc(2 ** 20, '0');
    socket.write(Buffer.concat([Buffer.from(head('/read-all', 'Transfer-Encoding: chunked')), zeros]));
    await until('the response', () => text().includes(' 400 '));
    await until('no connection', () => listener.connections() === 0);
  });
});
