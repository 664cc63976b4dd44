import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { registerWebhook } from '../../../support/client.js';
import { untilDone } from '../load/stops.js';
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

/** Once it has begun, responds to every request with what never becomes a body, as fast as its link carries it. */
async function startEndless() {
  let hasBegun = false;
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
      socket.write(pieces);
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
      if (!hasBegun) return socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      socket.removeAllListeners('data').resume();
      requests += 1;
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
    begin: () => (hasBegun = true),
    requests: () => requests,
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
    'responses of 60 more webhooks that never become a body (line ends, spaces in a header, zeros and extensions of chunks) at a gigabit a second: each attempt ends after 64 KiB; p50 of others ≤ 1.5 ×',
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { accounts, postgres }, pause, note }) => {
    const endless = await startEndless();
    const hooks: { id: string; remove: () => Promise<unknown> }[] = [];
    while (hooks.length < webhooks) {
      const account = accounts[hooks.length % accounts.length]!;
      const [path] = responses[hooks.length % responses.length]!;
      const { webhookId: id } = await registerWebhook(account, `${endless.url}${path}`);
      const remove = () => untilDone(() => account.call(`/v1/webhooks/${id}`, { method: 'DELETE' }), [404]);
      hooks.push({ id, remove });
    }
    endless.begin();
    await pause(60_000);
    const [attempts] = await postgres!.sql<{ all: number; bounded: number }>(
      `select count(*)::int as "all",
              count(*) filter (where detail::json ->> 'errorDetail' = 'RESPONSE_TOO_LARGE')::int as bounded
         from attempts join outbox using (delivery_id)
        where webhook_id = any($1::uuid[]) and error_code is not null`,
      [hooks.map(({ id }) => id)],
    );
    await Promise.all(hooks.map(({ remove }) => remove()));
    endless.close();
    const { all, bounded } = attempts!;
    note({ name: 'most written to one attempt', value: endless.maxMb(), unit: 'MB', atMost: maxMb });
    note({ name: 'attempts ended otherwise', value: all - bounded, unit: '', atMost: 0, note: `of ${all}` });
    const tooFew = endless.requests() < webhooks ? 1 : 0;
    note({ name: 'runs with fewer attempts than webhooks', value: tooFew, unit: '', atMost: 0 });
  },
  figures: (outcome) => [notAccepted(outcome), othersMedian(outcome)],
};

export const endlessResponseFaults: Fault[] = [endlessResponses];
