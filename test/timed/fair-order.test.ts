import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, type Account } from '../support/client.js';
import { startServiceToInspect, type Service } from '../support/harness.js';
import { until } from '../support/until.js';

let service: Service;
let busy: Account;
let quiet: Account;

beforeAll(async () => {
  service = await startServiceToInspect({}, 'api');
  busy = await registerAccount(service, 'busy@example.com');
  quiet = await registerAccount(service, 'quiet@example.com');
  for (const account of [busy, quiet]) await account.call('/v1/states'); // so that the service knows their tokens
});
afterAll(() => service?.stop());

/** The service has accepted and responded on it. */
async function open(): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  return socket.resume();
}

const get = ({ accountKey, token }: Account, requestId: string) =>
  [
    `GET /v1/states?key=${accountKey} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${token}`,
    `X-Request-Id: ${requestId}`,
    ...['', ''],
  ].join('\r\n');

test('the last request of another account is processed among the first, despite requests on sixty connections', async () => {
  const sockets = await Promise.all(Array.from({ length: 61 }, open));
  service.process.kill('SIGSTOP'); // so that all have arrived when the first is processed
  for (const [n, socket] of sockets.slice(0, 60).entries()) socket.write(get(busy, `busy-${n}`));
  sockets[60]!.write(get(quiet, 'quiet'));
  await sleep(200);
  service.process.kill('SIGCONT');
  const processed = (): string[] =>
    service.process.output().match(/(?<="requestId":")(busy-\d+|quiet)(?=")/g) ?? [];
  await until('all have responses', () => processed().length === 61);
  expect(processed().indexOf('quiet')).toBeLessThan(16);
  for (const socket of sockets) socket.destroy();
});
