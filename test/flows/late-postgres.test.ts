import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { request } from '../client.js';
import { startProcess, startService, stopProcess, type RunningProcess, type Service } from '../harness.js';

let service: Service;
let proxy: Server;
/** Connections that get through; the next ones are taken, and nothing is ever said on them. */
let letThrough = 0;

beforeAll(async () => {
  service = await startService();
  const { port, hostname } = new URL(service.env.DATABASE_URL!);
  proxy = createServer((client) => {
    client.on('error', () => undefined);
    if (letThrough-- <= 0) return void client.resume();
    const upstream = connect(Number(port), hostname);
    upstream.on('error', () => undefined);
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

test.each([1, 2])(
  'a process that loses PostgreSQL while it starts, after %i connections, waits for it and goes on',
  async (connections) => {
    const url = new URL(service.env.DATABASE_URL!);
    url.port = String((proxy.address() as AddressInfo).port);
    letThrough = connections;
    const again = setTimeout(() => (letThrough = Infinity), 3_000);
    let running: RunningProcess | undefined;
    try {
      running = await startProcess({ ...service.env, DATABASE_URL: url.href });
      expect(letThrough).toBe(Infinity); // it had to wait
      expect((await request(`${running.url}/healthz`)).httpStatus).toBe(200);
      expect(await stopProcess(running)).toBe(0);
    } finally {
      clearTimeout(again);
      running?.kill('SIGKILL');
    }
  },
);
