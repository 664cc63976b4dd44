import { afterEach, expect, test } from '@jest/globals';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { canSharePort, listen, type Listener } from '../../src/http/connections/listener.js';

const limits = {
  maxConnections: 1_000,
  maxPerBlock: 1_000,
  isProxy: () => false,
  onDropped: () => undefined,
};
const clientCount = 64;

const listeners: Listener[] = [];
const clients: Socket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
});

const well: RequestListener = (_request, response) => void response.end('well');

async function start(app = well, port = 0): Promise<Listener> {
  const listener = await listen(app, { port, host: '127.0.0.1', limits, maxResponseMs: 0 });
  listeners.push(listener);
  return listener;
}

/** They connect at once; each resolves with the first line of its response, or the error. */
function manyClients(port: number): { ask(): void; results: Promise<string[]> } {
  const all = Array.from({ length: clientCount }, () => connect({ port, host: '127.0.0.1' }));
  clients.push(...all);
  const results = all.map(
    (socket) =>
      new Promise<string>((resolve) => {
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
        socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1').split('\r\n')[0]!));
      }),
  );
  const ask = () => {
    for (const socket of all) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  };
  return { ask, results: Promise.all(results) };
}

const oneMore = (port: number) =>
  new Promise<string | undefined>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.destroy());
    socket
      .once('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
      .once('close', () => resolve('taken'));
  });

test(`of many concurrent connections ${canSharePort ? 'several are' : 'one is'} accepted per event-loop tick, and all get responses`, async () => {
  const { port, connections } = await start();
  const { ask, results } = manyClients(port);
  let turns = 0;
  for (; connections() < clientCount; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  if (canSharePort) expect(turns).toBeLessThan(clientCount / 2);
  else expect(turns).toBeGreaterThanOrEqual(clientCount);
  ask();
  expect(new Set(await results)).toEqual(new Set(['HTTP/1.1 200 OK']));
});

test('a port that is already in use is refused', async () => {
  const { port } = await start();
  await expect(start(well, port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

/** Longer than close() waits at least: it goes on before anything that came meanwhile is read. */
function blockEventLoop(ms = 150): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('close() lets requests end that had arrived, read or not, on connections accepted or not', async () => {
  const { port, close } = await start();
  const early = manyClients(port);
  early.ask();
  expect(new Set(await early.results)).toEqual(new Set(['HTTP/1.1 200 OK']));
  const again = clients.map(
    (socket) =>
      new Promise<string>((resolve) => {
        socket.once('close', () => resolve('closed')).once('data', (chunk: Buffer) => resolve(String(chunk)));
      }),
  );
  listeners.splice(0);
  const closing = close();
  early.ask();
  const late = manyClients(port);
  late.ask();
  await new Promise<void>((resolve) => process.nextTick(resolve)); // they connect
  blockEventLoop();
  expect((await Promise.all(again)).filter((response) => !response.startsWith('HTTP/1.1 200'))).toEqual([]);
  expect(new Set(await late.results)).toEqual(new Set(['HTTP/1.1 200 OK']));
  await closing;
});

test('close() waits for the requests of every socket, and then all refuse connections', async () => {
  const held: ServerResponse[] = [];
  const { port, close } = await start((_request, response) => void held.push(response));
  const { ask, results } = manyClients(port);
  ask();
  while (held.length < clientCount) await sleep(5);
  let isClosed = false;
  listeners.splice(0);
  const closing = close().then(() => (isClosed = true));
  while ((await oneMore(port)) !== 'ECONNREFUSED') await sleep(5); // as far as close() gets while requests are open
  expect(isClosed).toBe(false);
  for (const response of held) response.end('well');
  expect(new Set(await results)).toEqual(new Set(['HTTP/1.1 200 OK']));
  await closing;
  expect(new Set(await manyClients(port).results)).toEqual(new Set(['ECONNREFUSED']));
});
