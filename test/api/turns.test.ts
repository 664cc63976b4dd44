import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, type Account } from '../client.js';
import { startService, type Service } from '../harness.js';
import { until } from '../flows/support.js';

let service: Service;
let busy: Account;
let quiet: Account;

beforeAll(async () => {
  service = await startService({ role: 'api' });
  busy = await registerAccount(service, 'busy@example.com');
  quiet = await registerAccount(service, 'quiet@example.com');
  for (const account of [busy, quiet]) await account.call('/v1/states'); // their tokens are known from now on
});
afterAll(() => service?.stop());

/** A connection that the service has taken: it has answered there. */
async function open(): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  return socket.resume();
}

/** Answered at once, when it is taken up. */
const get = ({ accountKey, token }: Account, requestId: string) =>
  [
    `GET /v1/nothing?key=${accountKey} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${token}`,
    `X-Request-Id: ${requestId}`,
    ...['', ''],
  ].join('\r\n');

test('who asks last is answered among the first, though another account asks on sixty connections', async () => {
  const sockets = await Promise.all(Array.from({ length: 61 }, open));
  service.process.kill('SIGSTOP'); // so that all have come when the first is taken up
  for (const [n, socket] of sockets.slice(0, 60).entries()) socket.write(get(busy, `busy-${n}`));
  sockets[60]!.write(get(quiet, 'quiet'));
  await sleep(200);
  service.process.kill('SIGCONT');
  const answered = (): string[] =>
    service.process.output().match(/(?<="requestId":")(busy-\d+|quiet)(?=")/g) ?? [];
  await until('all are answered', () => answered().length === 61);
  expect(answered().indexOf('quiet')).toBeLessThan(16);
  for (const socket of sockets) socket.destroy();
});
