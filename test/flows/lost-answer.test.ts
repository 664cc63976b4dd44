import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { operator, placeOrder, registerAccount, registerWebhook } from '../client.js';
import { startProcess, startService, stopProcess, type RunningProcess, type Service } from '../harness.js';
import { startReceiver } from '../receiver.js';
import { orderDelivered, startHook, untilDelivery } from './support/log.js';

/** Stands between a worker and PostgreSQL; may let a statement through and keep its answer, or cut all off. */
async function startProxy(target: URL): Promise<{
  url: string;
  loseAnswerTo(name: string): void;
  lost(): number;
  cut(away: boolean): void;
  server: Server;
}> {
  let doomed: string | null = null;
  let lost = 0;
  let away = false;
  const clients = new Set<Socket>();
  const server = createServer((client: Socket) => {
    if (away) return void client.destroy();
    clients.add(client.on('close', () => clients.delete(client)));
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => [client, upstream].forEach((socket) => socket.destroy());
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    let loses = false;
    client.on('data', (data) => {
      if (doomed !== null && data.includes(doomed)) {
        doomed = null;
        loses = true;
        lost += 1;
        void sleep(500).then(end); // committed by then
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => void (loses || client.write(data)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    server,
    loseAnswerTo: (name) => void (doomed = name),
    lost: () => lost,
    cut: (isAway) => {
      away = isAway;
      if (away) for (const client of clients) client.destroy();
    },
  };
}

let service: Service;
let worker: RunningProcess;
let proxy: Awaited<ReturnType<typeof startProxy>>;

beforeAll(async () => {
  service = await startService({ role: 'api' });
  proxy = await startProxy(new URL(service.env.DATABASE_URL!));
  worker = await startProcess({ ...service.env, DATABASE_URL: proxy.url }, 'worker');
});
afterAll(async () => {
  await stopProcess(worker);
  proxy.server.close();
  await service?.stop();
});

test('an outcome whose commit was never acknowledged is neither sent again nor refused as late: the next state follows', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(({ notification }) =>
    notification.state === 'PICKED_UP' ? { delayMs: 500 } : {},
  );
  await registerWebhook(account, receiver.url);
  const trackingId = await placeOrder(account);
  await receiver.waitFor(1);
  const record = (state: string) => operator(service, `/shipments/${trackingId}/events`, { body: { state } });
  await record('PICKED_UP');
  await receiver.waitFor(2);
  proxy.loseAnswerTo('settle\0');
  await record('IN_TRANSIT');
  await receiver.waitFor(3);
  expect(receiver.received.map(({ notification }) => notification.state)).toEqual([
    'CREATED',
    'PICKED_UP',
    'IN_TRANSIT',
  ]);
  expect(proxy.lost()).toBe(1);
  expect(worker.output()).not.toContain('came too late');
  await receiver.close();
});

test('the outcome of a redelivery is kept while PostgreSQL is out of reach for most of its lease', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  const deliveryId = await orderDelivered(account, hook.webhookId);
  hook.answer.delayMs = 1_000;
  await account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });
  await hook.receiver.waitFor(2);
  proxy.cut(true);
  await sleep(8_000); // the answer came 7 s ago
  proxy.cut(false);
  const { attempts } = await untilDelivery(account, deliveryId, (delivery) => delivery.attempts.length > 1);
  expect(attempts).toMatchObject([
    { trigger: 'MANUAL', statusCode: 200 },
    { trigger: 'SCHEDULED', statusCode: 200 },
  ]);
  expect(hook.receiver.received).toHaveLength(2);
  await hook.close();
}, 30_000);
