import { afterEach } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bounds } from '../../../../src/http/connections/connections.js';
import { listen, type App, type Listener } from '../../../../src/http/connections/listener.js';

export const times = { headersMs: 300, requestMs: 600, idleMs: 5_000, stalledMs: 600, lingerMs: 200 };
export const large = Buffer.alloc(32 * 1024 * 1024, 'x'); // more than the kernel buffers

export let listener: Listener;
const clients: Socket[] = [];
export let begun = 0;
export let over = 0;

export const pages: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/': (_request, response) => void response.end('well'),
  '/refused': (_request, response) => void response.writeHead(401).end('refused'),
  '/large': (_request, response) => void response.end(large),
  '/slow': (_request, response) => void setTimeout(() => response.end('late'), 3 * times.stalledMs),
};

export const respond = (request: IncomingMessage, response: ServerResponse) => {
  begun += 1;
  response.once('close', () => (over += 1));
  pages[request.url ?? '/']!(request, response);
};

export async function start(
  most = 100,
  other: Partial<typeof times> = {},
  app: App = respond,
  bounds: Partial<Bounds> = {},
): Promise<void> {
  begun = over = 0;
  const limits = {
    maxConnections: most,
    maxPerBlock: most,
    isProxy: () => false,
    onDropped: () => undefined,
  };
  listener = await listen(app, {
    port: 0,
    host: '127.0.0.1',
    limits,
    maxResponseMs: 0,
    times: { ...times, ...other },
    bounds,
  });
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await listener.close();
});

/** A client that never ends its side by itself and collects what it reads. */
export function client(reads = true) {
  const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
  clients.push(socket);
  let text = '';
  if (reads) socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  return { socket, text: () => text };
}

export const head = (path: string, ...lines: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...lines, '', ''].join('\r\n');

export async function until(what: string, condition: () => boolean, timeoutMs = 10_000): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  for (; !condition(); await sleep(10))
    if (performance.now() > giveUpAt) throw new Error(`not within ${timeoutMs} ms: ${what}`);
}
