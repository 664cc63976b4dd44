import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  operator,
  registerAccount,
  registerWebhook,
  request,
  sampleOrder,
  type ApiResponse,
} from '../../../support/client.js';
import { startReceiver } from '../../../support/receiver.js';
import { removeShipper } from './fairness.js';
import type { Fault } from './fault.js';
import { respondedWithin, notAccepted } from './figures.js';
import { largeLog, startGreedy } from '../load/greedy-shipper.js';
import { heldFrom, probeHealth, watchProcess } from '../load/watch.js';

const backWithinMs = 60_000;
/** An API has fewer places at that limit. */
const fewestConnections = 700;

/** A client that ignores the end and everything else the service does. */
function openStubborn(url: string, bytes: string, again?: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => undefined).resume();
  socket.write(bytes);
  if (again !== undefined) {
    const timer = setInterval(() => socket.write(again), 100);
    socket.once('close', () => clearInterval(timer));
  }
  return socket;
}

const post = (...lines: string[]) =>
  ['POST /v1/shipments HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');
const kinds: [bytes: string, again?: string][] = [
  ['GET /v1/webhooks HTTP/1.1\r\nHost: x\r\n'],
  [post('Content-Length: 1000') + '{"half":'],
  [''],
  [post('Transfer-Encoding: chunked'), `400\r\n${'x'.repeat(0x400)}\r\n`],
];

const halfRequests: Fault = {
  name: 'B8',
  promise:
    '2,000 connections that send half a request, or upload without end after a 401, and never close, at ulimit -n 1024: /healthz responds; descriptors freed within 60 s',
  workers: 1,
  inFlight: 0,
  api: { openFiles: 1_024 },
  inject: async ({ world: { service }, times, note }) => {
    const { pid } = service.api;
    const health = probeHealth(service.url);
    const watched = watchProcess(pid);
    const clients: Socket[] = [];
    const count = Math.max(fewestConnections, times(2_000));
    for (let n = 0; n < count; n += 1) {
      clients.push(openStubborn(service.url, ...kinds[n % kinds.length]!));
      if (n % 50 === 49) await sleep(20);
    }
    const openedAt = performance.now();
    const { port } = new URL(service.url);
    // The port of a closed connection may be reused by another client.
    const open = () => clients.flatMap(({ localPort, destroyed }) => (destroyed ? [] : (localPort ?? [])));
    const held = () => heldFrom(new Set(open()), Number(port));
    const first = held();
    while (held() > 0 && performance.now() - openedAt < 2 * backWithinMs) await sleep(250);
    const { maxOpen, maxMb } = watched();
    note({
      name: 'descriptors freed after',
      value: held() === 0 ? performance.now() - openedAt : Infinity,
      unit: 'ms',
      atMost: backWithinMs,
      note: `${first} held, then ${held()}, ${maxOpen} open at most; ${Math.round(maxMb)} MB`,
    });
    for (const figure of (await health.stop()).figures) note(figure);
    for (const client of clients) client.destroy();
  },
  figures: () => [],
};

const fullSpeed: Fault = {
  name: 'B9',
  promise:
    'one shipper at full speed (64 connections that order, 12 that read a delivery of 20,000 attempts and a log over 60,000 deleted webhooks, 20 that never read responses): order p99 of others ≤ 250 ms, every order of theirs accepted; RSS ≤ 400 MB',
  workers: 2,
  inFlight: 0,
  api: { env: { API_RATE_LIMIT: '' } },
  inject: async ({ world, pause, times, note }) => {
    const { service, postgres } = world;
    const account = await registerAccount(service, 'greedy@example.com');
    const log = await largeLog(postgres!, account, times(20_000), times(60_000));
    const health = probeHealth(service.url);
    const watched = watchProcess(service.api.pid);
    const greedy = startGreedy(service.url, account, log.deliveryId);
    await pause(60_000);
    const responses = await greedy.stop();
    const { maxMb } = watched();
    note({ name: 'RSS of the api', value: maxMb, unit: 'MB', atMost: 400, note: `greedy: ${responses}` });
    for (const figure of (await health.stop()).figures) note(figure);
    await log.remove();
  },
  figures: (outcome) => [respondedWithin(outcome, 250), notAccepted(outcome)],
};

const storedLimit = 4 * 1024 * 1024;

const fullStore: Fault = {
  name: 'B27',
  promise:
    'one shipper writes as much as it may (orders and evidences of the largest size, a receiver with long responses, changes of a description, 404s): bounded by the day and the minute with 429, in the log by lines with counts; order p99 of others ≤ 250 ms',
  workers: 1,
  inFlight: 0,
  api: { env: { STORED_BYTES_PER_DAY: '4MiB' } },
  inject: async ({ world, pause, note }) => {
    const { service, postgres } = world;
    const account = await registerAccount(service, 'writer@example.com');
    const receiver = await startReceiver(() => ({ status: 500, body: 'x'.repeat(4_096) }));
    const { webhookId } = await registerWebhook(account, receiver.url);
    const text = 'x'.repeat(16 * 1024 - 100);
    const order = sampleOrder();
    const body = { ...order, package: { ...order.package, items: [text] } };
    const linesBefore = service.api.output().length;
    const counts: Record<string, number> = {};
    let [goesOn, changes, written] = [true, 0, 0];
    const loop = async (what: string, call: () => Promise<ApiResponse>) => {
      while (goesOn) {
        const { httpStatus, data } = await call();
        const key = `${what} ${httpStatus}`;
        counts[key] = (counts[key] ?? 0) + 1;
        if (what !== 'order' || httpStatus !== 201) continue;
        written += 1;
        const event = { state: 'PICKED_UP', evidences: [text] };
        await operator(service, `/shipments/${String(data.trackingId)}/events`, { body: event });
      }
    };
    const startedAt = performance.now();
    const loops = [
      ...Array.from({ length: 4 }, () => loop('order', () => account.call('/v1/shipments', { body }))),
      loop('change', () =>
        account.call(`/v1/webhooks/${webhookId}`, {
          method: 'PATCH',
          body: { description: String((changes += 1)) },
        }),
      ),
      ...Array.from({ length: 4 }, () => loop('nothing', () => request(`${service.url}/nowhere`))),
    ];
    await pause(40_000);
    goesOn = false;
    await Promise.all(loops);
    const seconds = (performance.now() - startedAt) / 1_000;
    await sleep(3_000); // what is counted is reported meanwhile
    const responses = Object.entries(counts)
      .map(([what, count]) => `${count} × ${what}`)
      .join(', ');
    const [stored] = await postgres!.sql<{ bytes: number }>(
      'select bytes::float8 as bytes from stored_bytes where shipper_id = $1',
      [account.shipperId],
    );
    note({
      name: 'bytes stored, by the limit',
      value: (stored?.bytes ?? 0) / storedLimit,
      unit: '×',
      atMost: 1.2,
      note: `${written} orders; ${responses}`,
    });
    const [audit] = await postgres!.sql<{ lines: number }>(
      `select count(*)::int as lines from audit where webhook_id = $1 and action = 'WEBHOOK_UPDATED'`,
      [webhookId],
    );
    note({
      name: 'audit lines of the changes',
      value: audit!.lines,
      unit: '',
      atMost: 1 + Math.ceil(seconds / 60),
    });
    const refused = service.api
      .output()
      .slice(linesBefore)
      .split('\n')
      .filter((line) => /"status":4\d\d/.test(line) && line.includes('"msg":"request"'));
    note({
      name: 'log lines of refused requests a second',
      value: refused.length / seconds,
      unit: '',
      atMost: 11,
    });
    await removeShipper(world, account); // its receiver always fails: what it is owed would never settle
    await receiver.close();
  },
  figures: (outcome) => [respondedWithin(outcome, 250), notAccepted(outcome)],
};

export const abuses: Fault[] = [halfRequests, fullSpeed, fullStore];
