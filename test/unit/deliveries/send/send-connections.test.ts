import { afterAll, expect, test } from '@jest/globals';
import http from 'node:http';
import { createSender } from '../../../../src/deliveries/send/sender.js';
import { createLoopback } from './loopback.js';
import { developmentPolicy, noDns } from '../../../support/ssrf-corpus.js';

const hanging = 600;
const loopback = createLoopback();
const sender = createSender({ policy: developmentPolicy, dns: noDns });

afterAll(() => {
  sender.close();
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
