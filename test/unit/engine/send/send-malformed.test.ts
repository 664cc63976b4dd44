import { beforeEach, describe, expect, test } from '@jest/globals';
import type net from 'node:net';
import type { Sender } from '../../../../src/engine/send/sender.js';
import { loopback, open } from './loopback.js';

const TIMEOUT_MS = 400;
const PATIENT_MS = 10_000;
let sender: Sender;
beforeEach(() => {
  sender = open();
});

const send = (url: string, timeoutMs = PATIENT_MS) =>
  sender.send({ url, shipperId: 's', headers: [], body: '{}', timeoutMs });

describe('a status counts', () => {
  /** Each is what follows the code of the status line. */
  const broken: [string, string, string][] = [
    [
      'a space in the name of a header',
      ' OK\r\nBad Name: x\r\nContent-Length: 2\r\n\r\nOK',
      'MALFORMED_HEADER',
    ],
    ['a space before a colon', ' OK\r\nX-A : x\r\n\r\n', 'MALFORMED_HEADER'],
    [
      'a control character in a value',
      ' OK\r\nX-A: a\x01b\r\nContent-Length: 2\r\n\r\nOK',
      'MALFORMED_HEADER',
    ],
    ['lines that end with LF alone', ' OK\nContent-Length: 2\n\nOK', 'MALFORMED_HEADER'],
    ['a header without a colon', ' OK\r\nnonsense\r\n\r\n', 'MALFORMED_HEADER'],
    ['a length that is no number', ' OK\r\nContent-Length: many\r\n\r\n', 'MALFORMED_HEADER'],
    ['two lengths', ' OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nOK', 'MALFORMED_HEADER'],
    ['20 KiB of headers', ` OK\r\n${`X-A: ${'a'.repeat(1_000)}\r\n`.repeat(20)}\r\nOK`, 'HEADERS_TOO_LARGE'],
    ['a header of 70 KB', `\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`, 'HEADERS_TOO_LARGE'],
    ['20,000 headers', ` OK\r\n${'A: b\r\n'.repeat(20_000)}\r\n`, 'HEADERS_TOO_LARGE'],
    ['a reason of 20 KiB', ` ${'a'.repeat(20_000)}\r\n\r\n`, 'HEADERS_TOO_LARGE'],
  ];
  const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';

  test.each(broken)('with %s after it', async (_, rest, errorDetail) => {
    const head = { responseBody: null, rawResponseHeaders: null, errorDetail };
    for (const [status, ok, errorCode] of [
      [200, true, null],
      [204, true, null],
      [503, false, 'HTTP_STATUS'],
    ] as const) {
      const { url } = await loopback.raw((socket) => socket.write(`HTTP/1.1 ${status}${rest}`));
      expect(await send(url)).toMatchObject({ ...head, ok, statusCode: status, errorCode });
    }
  });

  test.each(broken)(
    'that came before, on a kept connection, with %s after it',
    async (_, rest, errorDetail) => {
      const { url, connections } = await loopback.raw((socket, n) => {
        if (n === 1) return socket.write('HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n');
        socket.write(`${early}\r\nHTTP/1.1 200`);
        return setTimeout(() => socket.write(rest), 20);
      });
      expect(await send(url)).toMatchObject({ statusCode: 500, errorDetail: null });
      expect(await send(url)).toMatchObject({ ok: true, statusCode: 200, errorCode: null, errorDetail });
      expect(connections()).toBe(1);
    },
  );

  test('whatever pieces it comes in', async () => {
    const pieces = `${early}\r\n${early}HTTP/1.1 201 Created\r\nBad Name: x\r\n\r\n`.split('');
    const { url } = await loopback.raw((socket) => {
      socket.setNoDelay(true);
      const next = () => void (pieces.length > 0 && socket.write(pieces.shift()!, () => setImmediate(next)));
      next();
    });
    expect(await send(url)).toMatchObject({ ok: true, statusCode: 201, errorDetail: 'MALFORMED_HEADER' });
  });

  test.each<[string, (socket: net.Socket) => void]>([
    ['ends', (socket) => void socket.end()],
    ['is reset', (socket) => void socket.resetAndDestroy()],
  ])('if the connection %s before the headers are complete', async (_, leave) => {
    const { url } = await loopback.raw((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nX-A: ', () => setTimeout(() => leave(socket), 20)),
    );
    const unfinished = { ok: true, statusCode: 200, errorDetail: 'MALFORMED_HEADER' };
    expect(await send(url)).toMatchObject(unfinished);
  });

  test('not that of an informational response', async () => {
    const { url } = await loopback.raw((socket) =>
      socket.write(`${early}HTTP/1.1 103 X\r\nBad Name: x\r\n\r\n`),
    );
    expect(await send(url)).toMatchObject({ ok: false, statusCode: null, errorCode: 'PROTOCOL' });
  });

  test('not if its headers do not end in time', async () => {
    const { url } = await loopback.raw((socket) => socket.write('HTTP/1.1 200 OK\r\nX-A: b\r\n'));
    expect(await send(url, TIMEOUT_MS)).toMatchObject({ statusCode: null, errorCode: 'TIMEOUT' });
  });
});

describe('an attempt ends once 64 KiB are read', () => {
  const floods: [string, string, string, number | null][] = [
    ['line ends before the status line', '', '\r\n', null],
    ['spaces before a value', 'HTTP/1.1 200 OK\r\nX-A:', ' ', 200],
    ["zeros of a chunk's size", 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '0', 200],
    ['extensions of a chunk', 'HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n1', ';a=b', 500],
    ['informational responses', '', `HTTP/1.1 103 X\r\nX-A: ${'a'.repeat(15_000)}\r\n\r\n`, null],
  ];

  /** More than what the kernel takes without us. */
  const muchBytes = 16 * 1024 * 1024;

  const flood = (socket: net.Socket, head: string, piece: string) => {
    const piled = piece.repeat(Math.ceil(65_536 / piece.length));
    socket.write(head);
    const pump = () => {
      while (socket.writable && socket.bytesWritten < 4 * muchBytes && socket.write(piled));
    };
    socket.on('drain', pump);
    pump();
    return new Promise<number>((resolve) => socket.on('close', () => resolve(socket.bytesWritten)));
  };

  test.each(floods)('whatever they are: %s', async (_, head, piece, statusCode) => {
    const written: Promise<number>[] = [];
    const { url } = await loopback.raw(
      (socket, n) => void (n === 1 && written.push(flood(socket, head, piece))),
    );
    expect(await send(url)).toMatchObject({
      statusCode,
      ...{ ok: statusCode === 200, errorDetail: 'RESPONSE_TOO_LARGE' },
      errorCode: statusCode === null ? 'PROTOCOL' : statusCode === 200 ? null : 'HTTP_STATUS',
    });
    expect(await written[0]).toBeLessThan(muchBytes);
  });

  test('counted anew for each request on a connection', async () => {
    const { url, connections } = await loopback.raw((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nX-A:${' '.repeat(10_000)}a\r\nContent-Length: 0\r\n\r\n`),
    );
    for (let n = 0; n < 10; n += 1) expect(await send(url)).toMatchObject({ ok: true, errorDetail: null });
    expect(connections()).toBe(1);
  });
});
