import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder, registerAccount, sampleOrder, type Account } from '../client.js';
import { startProcess, startService, stopProcess, type RunningProcess, type Service } from '../harness.js';

const orders = 300;
const betweenMs = 3;
/** A statement gets no answer for 2.8 s, a new connection for 0.9 s; waiting for one of each would be 3.7 s. */
const mostMs = 3_500;

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

test('PostgreSQL says nothing any more: hundreds of orders at once are all told so before one would have waited twice', async () => {
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
  await sleep(1_000); // connections that were asked for in the silence
  await placeOrder(account);
  expect(await stopProcess(running)).toBe(0);
}, 60_000);
