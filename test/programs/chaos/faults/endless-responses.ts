import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { placeOrder, registerAccount, registerWebhook } from '../../../support/client.js';
import { manyWebhooks, removeShipper } from './fairness.js';
import type { Fault } from './fault.js';
import { notAccepted, othersMedian } from './figures.js';

const webhooks = 60;
/** The buffers of the two kernels take some megabytes; an attempt without a bound takes gigabytes. */
const maxMb = 16;

const chunked = 'HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n';
const responses: [path: string, head: string, piece: string][] = [
  ['/line-ends', '', '\r\n'],
  ['/spaces', 'HTTP/1.1 500 X\r\nX-A:', ' '],
  ['/zeros', chunked, '0'],
  ['/extensions', `${chunked}1`, ';a=b'],
];

/** A gigabit link carries so much; without it, what the receivers send over loopback fills all cores. */
const tickMs = 10;
const bytesPerTick = 1_250_000;

/**
 * Responds to three requests of four with what never becomes a body, as fast as its link carries it; the fourth keeps
 * the circuits closed.
 */
async function startEndless() {
  let maxBytes = 0;
  let requests = 0;
  const sockets = new Set<Socket>();
  /** The next bytes of each socket that takes more. */
  const ready = new Map<Socket, Buffer>();
  const link = setInterval(() => {
    let leftBytes = bytesPerTick;
    for (const [socket, pieces] of ready) {
      if (leftBytes <= 0) return;
      ready.delete(socket);
      leftBytes -= pieces.length;
      if (socket.write(pieces)) ready.set(socket, pieces);
    }
  }, tickMs);
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      ready.delete(socket);
      maxBytes = Math.max(maxBytes, socket.bytesWritten);
    });
    socket.on('data', (request) => {
      requests += 1;
      if (requests % 4 === 0) return socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      socket.removeAllListeners('data').resume();
      const [, head, piece] = responses.find(([path]) => request.includes(`POST ${path} `))!;
      const pieces = Buffer.from(piece.repeat(65_536 / piece.length));
      socket.on('drain', () => ready.set(socket, pieces)).write(head);
      return ready.set(socket, pieces);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    maxMb: () => Math.max(maxBytes, ...[...sockets].map((socket) => socket.bytesWritten)) / 1_048_576,
    close: () => {
      clearInterval(link);
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const endlessResponses: Fault = {
  name: 'B24',
  promise:
    'responses that never become a body (line ends, spaces in a header, zeros and extensions of chunks) at a gigabit a second, to 60 webhooks of one shipper with an order a second: each attempt ends after 64 KiB; p50 of others ≤ 1.5 ×',
  workers: 2,
  inFlight: 0,
  api: { env: manyWebhooks },
  inject: async ({ world, pause, note }) => {
    const endless = await startEndless();
    const account = await registerAccount(world.service, 'endless@example.com');
    const ids: string[] = [];
    while (ids.length < webhooks) {
      const [path] = responses[ids.length % responses.length]!;
      ids.push((await registerWebhook(account, `${endless.url}${path}`)).webhookId);
    }
    let orders = 0;
    let refused = 0;
    const ordering = setInterval(() => {
      orders += 1;
      placeOrder(account, `endless-${orders}`).catch(() => (refused += 1));
    }, 1_000);
    await pause(60_000);
    clearInterval(ordering);
    const attempts = await world.postgres!.sql<{ ending: string; count: number }>(
      `select concat_ws(' ', error_code, detail::json ->> 'errorDetail') as ending, count(*)::int
         from attempts join outbox using (delivery_id)
        where webhook_id = any($1::uuid[]) and error_code is not null group by 1`,
      [ids],
    );
    await removeShipper(world, account);
    endless.close();
    note({ name: 'most written to one attempt', value: endless.maxMb(), unit: 'MB', atMost: maxMb });
    const otherwise = attempts.filter(({ ending }) => !ending.endsWith('RESPONSE_TOO_LARGE'));
    note({
      name: 'attempts ended otherwise',
      value: otherwise.reduce((sum, { count }) => sum + count, 0),
      unit: '',
      atMost: 0,
      note: attempts.map(({ ending, count }) => `${count} × ${ending}`).join(', '),
    });
    note({ name: 'its orders refused', value: refused, unit: '', atMost: 0, note: `of ${orders}` });
  },
  figures: (outcome) => [notAccepted(outcome), othersMedian(outcome)],
};

export const endlessResponseFaults: Fault[] = [endlessResponses];
