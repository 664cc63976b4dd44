import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder, registerAccount, sampleOrder, type Account } from '../client.js';
import { startProcess, startService, stopProcess, type RunningProcess, type Service } from '../harness.js';
import { until } from './support.js';

const orders = 300;
const betweenMs = 3;
/** A statement gets no answer for 2.8 s. Sixty at a time for a connection each, 0.9 s, took 5.5 s and more. */
const mostMs = 4_200;

let service: Service;
let running: RunningProcess;
let proxy: Server;
let account: Account;
let isSilent = false;
const open = new Set<Socket>();

beforeAll(async () => {
  service = await startService();
  const url = new URL(service.env.DATABASE_URL!);
  const target = Number(url.port);
  proxy = createServer((client) => {
    const upstream = connect(target, url.hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
    client.on('data', (data) => void (isSilent || upstream.write(data)));
    upstream.on('data', (data) => void (isSilent || client.write(data)));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  url.port = String((proxy.address() as AddressInfo).port);
  running = await startProcess({ ...service.env, DATABASE_URL: url.href });
  account = await registerAccount(running);
});
afterAll(async () => {
  running?.kill('SIGKILL');
  proxy?.close();
  for (const socket of open) socket.destroy();
  await service?.stop();
});

test('PostgreSQL says nothing any more: hundreds of orders at once are told so with the first, not sixty after sixty', async () => {
  await placeOrder(account);
  isSilent = true;
  const asked = [];
  for (let n = 0; n < orders; n += 1) {
    const at = performance.now();
    const answer = account.call('/v1/shipments', { body: sampleOrder() });
    asked.push(answer.then(({ httpStatus }) => ({ httpStatus, durationMs: performance.now() - at })));
    await sleep(betweenMs);
  }
  const answers = await Promise.all(asked);
  isSilent = false;
  const slowestMs = Math.max(...answers.map(({ durationMs }) => durationMs));
  console.info(`${orders} orders, slowest answer ${slowestMs.toFixed(0)} ms`);
  expect(new Set(answers.map(({ httpStatus }) => httpStatus))).toEqual(new Set([503]));
  expect(slowestMs).toBeLessThan(mostMs);
  const isBack = async () =>
    (await account.call('/v1/shipments', { body: sampleOrder() })).httpStatus === 201;
  await until('orders are accepted again', isBack);
  expect(await stopProcess(running)).toBe(0);
}, 60_000);
