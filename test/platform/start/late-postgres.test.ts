import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { request } from '../../support/client.js';
import { createDatabase, dropDatabase, templateDatabase } from '../../support/database.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { runProgram } from '../../support/program.js';
import { deployment } from '../../support/deployment.js';

const server = process.env.TEST_DATABASE_URL ?? '';
const name = `t_${randomBytes(6).toString('hex')}`;
let database: string;
const env = deployment('');

beforeAll(async () => {
  database = await createDatabase(server, name, templateDatabase);
});
afterAll(() => dropDatabase(server, name));

interface Proxy {
  url: string;
  /** Later ones are accepted and stay silent. */
  letThrough: number;
  server: Server;
}

/** PostgreSQL is available once the process has given up this often. */
async function startProxy(letThrough: number, triesInVain: number): Promise<Proxy> {
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
  'a process that loses PostgreSQL during its start, after %i connections, waits for it and continues',
  async (connections) => {
    const proxy = await startProxy(connections, 2);
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

test.concurrent.each([
  [
    'that has nothing but PostgreSQL to wait for ends it, and says so',
    Infinity,
    'stopped before it had started',
  ],
  ['is kept in mind: it stops when it has started', 1, 'stopped'],
])('a SIGTERM during a start %s; the exit code is 0', async (_what, triesInVain, lastWord) => {
  const proxy = await startProxy(0, triesInVain);
  try {
    const stopWhen = once(proxy.server, 'connection');
    const startedAt = performance.now();
    const ended = await runProgram(['all'], { ...env, DATABASE_URL: proxy.url }, { stopWhen });
    expect(ended).toMatchObject({ exit: 0, stdout: expect.stringContaining('"msg":"stopping"') });
    const lastLine = JSON.parse(ended.stdout.trimEnd().split('\n').at(-1)!) as { msg: string };
    expect(lastLine.msg).toBe(lastWord);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  } finally {
    proxy.server.close();
  }
});
