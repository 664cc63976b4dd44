import { afterEach, expect, test } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import { canSharePort } from '../../src/http/connections/doors.js';
import { listen, type Listener } from '../../src/http/connections/listener.js';

const limits = { most: 1_000, mostOfBlock: 1_000, isProxy: () => false, onDropped: () => undefined };
const clientCount = 64;

const listeners: Listener[] = [];
const clients: Socket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
});

async function start(port = 0): Promise<Listener> {
  const options = { port, host: '127.0.0.1', limits, longestAnswerMs: 0 };
  const listener = await listen((_request, response) => void response.end('well'), options);
  listeners.push(listener);
  return listener;
}

const answered = (socket: Socket) =>
  new Promise<string>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1').split('\r\n')[0]!));
  });

test(`of many who connect at once ${canSharePort ? 'several are' : 'one is'} taken in a turn of the event loop, and all are answered`, async () => {
  const { port, connections } = await start();
  for (let n = 0; n < clientCount; n += 1) clients.push(connect({ port, host: '127.0.0.1' }));
  let turns = 0;
  for (; connections() < clientCount; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  if (canSharePort) expect(turns).toBeLessThan(clientCount / 2);
  else expect(turns).toBeGreaterThanOrEqual(clientCount);
  const answers = Promise.all(clients.map(answered));
  for (const client of clients) client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(new Set(await answers)).toEqual(new Set(['HTTP/1.1 200 OK']));
});

test('a port that another listener has is refused, not shared with it', async () => {
  const { port } = await start();
  await expect(start(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('who is connected through any of the sockets is waited for at the end, and nobody gets in any more', async () => {
  const { port, close } = await start();
  for (let n = 0; n < clientCount; n += 1) clients.push(connect({ port, host: '127.0.0.1' }));
  const ends = Promise.all(
    clients.map((client) => new Promise((resolve) => client.resume().once('end', resolve))),
  );
  for (const client of clients) client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  listeners.splice(0);
  await Promise.all([close(), ends]);
  await expect(answered(connect({ port, host: '127.0.0.1' }))).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });
});
