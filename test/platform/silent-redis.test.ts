import { afterAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { connectRedis } from '../../src/platform/redis.js';

const ok = '+OK\r\n';
const sockets: Socket[] = [];
let isSilent = false;

/** Enough of Redis for a connection to become ready; then it can go silent, like a host that is cut off. */
const server = createServer((socket) => {
  const isNew = isSilent;
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    if (isSilent && !isNew) return;
    socket.write(ok.repeat(chunk.toString().match(/^\*\d/gm)?.length ?? 0));
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('a connection to a silent Redis is closed and replaced within 10 s, and works', async () => {
  const redis = connectRedis(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`, 'fast');
  redis.on('error', () => undefined);
  const ready = () => new Promise((resolve) => redis.once('ready', resolve));
  await ready();
  isSilent = true; // on this connection, not on the next
  const silentAt = performance.now();
  await expect(redis.call('PING')).rejects.toThrow('timed out');
  await ready();
  expect(performance.now() - silentAt).toBeLessThan(10_000);
  await expect(redis.call('PING')).resolves.toBe('OK');
  redis.disconnect();
});
