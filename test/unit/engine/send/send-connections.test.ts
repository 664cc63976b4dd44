import { afterAll, expect, test } from '@jest/globals';
import http from 'node:http';
import { createSender } from '../../../../src/engine/send/sender.js';
import { createLoopback } from './loopback.js';
import { developmentPolicy, noDns } from '../../../support/ssrf-corpus.js';

const hanging = 600;
const maxIdleSockets = 10;
const loopback = createLoopback();
const sender = createSender({ policy: developmentPolicy, dns: noDns });
const bounded = createSender({ policy: developmentPolicy, dns: noDns, maxIdleSockets });

afterAll(() => {
  sender.close();
  bounded.close();
  loopback.closeAll();
});

test('hundreds of hanging attempts delay no other on the same host', async () => {
  let arrived = 0;
  const server = http.createServer((request, response) => {
    if (request.url?.endsWith('/hangs')) arrived += 1;
    else response.end('OK');
  });
  const { url } = await loopback.listen(server);
  const send = (path: string) =>
    sender.send({ url: `${url}${path}`, shipperId: 's', headers: [], body: '{}', timeoutMs: 10_000 });
  for (let n = 0; n < hanging; n += 1) void send('/hangs');
  while (arrived < hanging) await new Promise(setImmediate);
  const outcome = await send('/answers');
  expect(outcome).toMatchObject({ ok: true, statusCode: 200 });
  expect(outcome.durationMs).toBeLessThan(1_000);
});

test('idle connections to ever new hosts are bounded in total; those of a host that is called stay', async () => {
  const hosts = 5 * maxIdleSockets;
  let open = 0;
  const receiverOf = async () => {
    const server = http.createServer((_request, response) => response.end('OK'));
    server.on('connection', (socket) => {
      open += 1;
      socket.on('close', () => (open -= 1));
    });
    return loopback.listen(server);
  };
  const send = ({ url }: { url: string }) =>
    bounded.send({ url, shipperId: 's', headers: [], body: '{}', timeoutMs: 10_000 });
  const called = await receiverOf();
  for (let n = 0; n < hosts; n += 1) {
    expect(await send(await receiverOf())).toMatchObject({ ok: true });
    expect(await send(called)).toMatchObject({ ok: true });
  }
  while (open > maxIdleSockets) await new Promise(setImmediate);
  expect(called.connections()).toBe(1);
});
