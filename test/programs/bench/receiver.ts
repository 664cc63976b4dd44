/**
 * A receiver that is never the bottleneck, in its own process: a minimal HTTP/1.1 server that records when each
 * tracking id arrived. The first path segment decides its response: `hang` never responds, `endless` sends an endless
 * body, `long` 4 KiB and closes the connection, `flaky` returns 500 for the first request of every 20th notification,
 * any other returns 200 and 200 bytes at once. It agrees to more than DESTINATION_RATE. The parent queries it over IPC.
 * `argv`: the address and the port to listen at.
 */
import { createServer, type Socket } from 'node:net';
import { now } from './clock.js';

const body = JSON.stringify({ received: true, note: 'x'.repeat(173) });
const responseOf = (status: string) =>
  Buffer.from(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
const response = responseOf('200 OK');
const failure = responseOf('500 Internal Server Error');
const long = Buffer.from(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'x'.repeat(4096)}`);
const piece = Buffer.alloc(64 * 1024, 'x');
const failsEvery = 20;

/** The first arrival of each path and tracking id, whatever the response. */
const arrivals = new Map<string, number>();
/** The first 200 of those in `arrivals` that did not get it at once. */
const deliveredLater = new Map<string, number>();
const undelivered = new Set<string>();
const receivedOf = new Map<string, number>();
const hanging = new Set<Socket>();
let received = 0;
let lastAt = 0;
let lastDeliveredAt = 0;
let flakyArrivals = 0;

const kindOf = (path: string) => path.split('/')[1] ?? '';

function reply(kind: string, key: string, isFirst: boolean, socket: Socket): void {
  if (kind === 'endless') return pour(socket);
  if (kind === 'long') return void socket.end(long);
  if (kind === 'hang') {
    undelivered.add(key);
    hanging.add(socket);
  } else if (kind === 'flaky' && isFirst && ++flakyArrivals % failsEvery === 0) {
    undelivered.add(key);
    socket.write(failure);
  } else {
    if (undelivered.delete(key)) deliveredLater.set(key, lastAt);
    else if (!isFirst) return void socket.write(response);
    lastDeliveredAt = lastAt;
    socket.write(response);
  }
}

function pour(socket: Socket): void {
  const more = () => {
    while (socket.writable && socket.write(piece));
  };
  socket.on('drain', more).write('HTTP/1.1 200 OK\r\n\r\n');
  more();
}

const server = createServer({ noDelay: true }, (socket) => {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('close', () => hanging.delete(socket));
  socket.on('data', (chunk: Buffer) => {
    let data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (;;) {
      const headEnd = data.indexOf('\r\n\r\n');
      if (headEnd < 0) break;
      const head = data.toString('latin1', 0, headEnd);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      const end = headEnd + 4 + length;
      if (data.length < end) break;
      const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', 5));
      const challenge = length === 2 && /\r\nwebhook-challenge: *([\w-]+)/i.exec(head)?.[1];
      if (challenge) agree(challenge, socket);
      else take(path, data.toString('latin1', headEnd + 4, end), socket);
      data = data.subarray(end);
    }
    rest = data;
  });
});

const agree = (challenge: string, socket: Socket) =>
  socket.write(`HTTP/1.1 200 OK\r\nwebhook-challenge: ${challenge}\r\nContent-Length: 0\r\n\r\n`);

function take(path: string, text: string, socket: Socket): void {
  received += 1;
  const kind = kindOf(path);
  receivedOf.set(kind, (receivedOf.get(kind) ?? 0) + 1);
  lastAt = now();
  const start = text.indexOf('"tracking_id":"') + 15;
  const key = `${path} ${text.slice(start, text.indexOf('"', start))}`;
  const isFirst = !arrivals.has(key);
  if (isFirst) arrivals.set(key, lastAt);
  reply(kind, key, isFirst, socket);
}

const receipts = () =>
  [...arrivals]
    .filter(([key]) => !undelivered.has(key))
    .map(([key, at]) => [key, at, deliveredLater.get(key) ?? at]);

const responses: Record<string, () => unknown> = {
  count: () => ({ received, lastAt }),
  arrivals: () => [...arrivals],
  progress: () => ({ received, delivered: arrivals.size - undelivered.size, lastDeliveredAt }),
  receipts,
  reset: () => {
    received = 0;
    for (const known of [receivedOf, arrivals, deliveredLater, undelivered]) known.clear();
    for (const socket of hanging) socket.destroy();
    return null;
  },
};

process.on('message', (question: string | { countOf: string }) => {
  if (typeof question === 'object')
    process.send?.({ received: receivedOf.get(question.countOf) ?? 0, lastAt });
  else process.send?.(responses[question]?.());
});

process.on('disconnect', () => process.exit(0));
const [, , host = '127.0.0.1', port = '0'] = process.argv;
server.listen(Number(port), host, () => process.send?.((server.address() as { port: number }).port));
