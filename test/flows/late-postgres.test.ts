import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { request } from '../client.js';
import { createDatabase, dropDatabase, templateDatabase } from '../database.js';
import { startProcess, stopProcess, type RunningProcess } from '../harness.js';
import { deployment } from './support.js';

const server = process.env.TEST_DATABASE_URL ?? '';
const name = `t_${randomBytes(6).toString('hex')}`;
let database: string;
const env = deployment('');

beforeAll(async () => {
  database = await createDatabase(server, name, templateDatabase);
});
afterAll(() => dropDatabase(server, name));

/** How often the process has to give up before PostgreSQL is there again. */
const triesInVain = 2;

interface Proxy {
  url: string;
  /** Connections that get through; the next ones are taken, and nothing is ever said on them. */
  letThrough: number;
  server: Server;
}

async function startProxy(letThrough: number): Promise<Proxy> {
  const target = new URL(database);
  let inVain = 0;
  const proxy: Proxy = { url: '', letThrough, server: createServer() };
  proxy.server.on('connection', (client) => {
    client.on('error', () => undefined);
    if (proxy.letThrough-- <= 0) {
      client.on('close', () => {
        inVain += 1;
        if (inVain === triesInVain) proxy.letThrough = Infinity;
      });
      return void client.resume();
    }
    const upstream = connect(Number(target.port), target.hostname);
    upstream.on('error', () => undefined);
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
  const url = new URL(database);
  url.port = String((proxy.server.address() as AddressInfo).port);
  proxy.url = url.href;
  return proxy;
}

test.concurrent.each([1, 2])(
  'a process that loses PostgreSQL while it starts, after %i connections, waits for it and goes on',
  async (connections) => {
    const proxy = await startProxy(connections);
    let running: RunningProcess | undefined;
    try {
      running = await startProcess({ ...env, DATABASE_URL: proxy.url });
      expect(proxy.letThrough).toBe(Infinity); // it had to wait
      expect((await request(`${running.url}/healthz`)).httpStatus).toBe(200);
      expect(await stopProcess(running)).toBe(0);
    } finally {
      running?.kill('SIGKILL');
      proxy.server.close();
    }
  },
);
