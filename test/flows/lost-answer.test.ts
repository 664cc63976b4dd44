import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { operator, placeOrder, registerAccount, registerWebhook } from '../client.js';
import { startProcess, startService, stopProcess, type RunningProcess, type Service } from '../harness.js';
import { startReceiver } from '../receiver.js';

/** Stands between a worker and PostgreSQL; may let a statement through and keep its answer. */
async function startProxy(
  target: URL,
): Promise<{ url: string; loseAnswerTo(name: string): void; lost(): number; server: Server }> {
  let doomed: string | null = null;
  let lost = 0;
  const server = createServer((client: Socket) => {
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
  return { url: url.href, server, loseAnswerTo: (name) => void (doomed = name), lost: () => lost };
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
  proxy.loseAnswerTo('settle-deliveries');
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
