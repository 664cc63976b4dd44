import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { newAccountKey, newLinkToken } from '../../src/accounts/credentials.js';
import { newTrackingId } from '../../src/shipments/accept.js';
import { placeOrder, registerAccount, sampleOrder, type Request } from '../support/client.js';
import { accountAt, crashTraces, newFolder } from '../support/deployment.js';
import { startProcess, startServiceToBreak, stopProcess } from '../support/harness.js';
import { freePort } from '../support/redis.js';
import { until } from '../support/until.js';

const haproxy = '/usr/sbin/haproxy';
const hasProgram = existsSync(haproxy);
if (!hasProgram) console.warn('\n  NO haproxy: its configurations are NOT TESTED.\n');
const ifInstalled = hasProgram ? test : test.skip;

ifInstalled('HAProxy accepts the configuration for cells', () => {
  const env = { CELLS_MAP: 'docs/scaling/cells.map', CELL_EU: '127.0.0.1:1', CELL_US: '127.0.0.1:2' };
  const { status, stderr } = spawnSync(haproxy, ['-c', '-f', 'docs/scaling/haproxy.cfg'], {
    env,
    encoding: 'utf8',
  });
  expect({ status, problems: /ALERT|WARNING/.exec(stderr) }).toEqual({ status: 0, problems: null });
});

/** The file of Docker Compose, with addresses of this machine for those of the containers. */
function composeFile(proxyPort: number, apis: { port: number; metricsPort: number }[]): string {
  let text = readFileSync('.haproxy/haproxy.cfg', 'utf8');
  const addresses = apis.map(({ port, metricsPort }, at): [string, string] => [
    ` api-${at + 1}:8080\n`,
    ` 127.0.0.1:${port} port ${metricsPort}\n`,
  ]);
  for (const [from, to] of [['bind :8080', `bind 127.0.0.1:${proxyPort}`], ...addresses] as const) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  return text;
}

/** Two checks of the proxy take that long at most; Docker Compose waits longer. */
const shutdownDelay = '3s';

ifInstalled(
  'HAProxy as Docker Compose has it fails no order and no read while one api after the other is replaced',
  async () => {
    const ports = await Promise.all(Array.from({ length: 5 }, () => freePort()));
    const [proxyPort, ...own] = ports as [number, number, number, number, number];
    const apis = [0, 2].map((at) => ({ port: own[at]!, metricsPort: own[at + 1]! }));
    const settings = apis.map(({ port, metricsPort }) => ({
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      SHUTDOWN_DELAY: shutdownDelay,
      TRUST_PROXY: '1',
    }));
    const service = await startServiceToBreak(settings[0], 'api');
    const start = (at: number) => startProcess({ ...service.env, ...settings[at] }, 'api');
    const processes = [service.process, await start(1)];
    const account = await registerAccount(service);
    const folder = newFolder();
    const file = join(folder.path, 'haproxy.cfg');
    writeFileSync(file, composeFile(proxyPort, apis));
    const { status, stderr } = spawnSync(haproxy, ['-c', '-f', file], { encoding: 'utf8' });
    expect({ status, problems: /ALERT|WARNING/.exec(stderr) }).toEqual({ status: 0, problems: null });
    const proxy = spawn(haproxy, ['-db', '-f', file], { stdio: 'ignore' });
    const ended = new Promise((resolve) => proxy.once('exit', resolve));
    const kill = () => void proxy.kill('SIGKILL');
    process.once('exit', kill);
    const url = `http://127.0.0.1:${proxyPort}`;
    const statusOf = (path: string) =>
      fetch(`${url}${path}`).then(
        ({ status }) => status,
        () => 0,
      );
    const shipper = accountAt(account, { url });
    const accepted: string[] = [];
    const failed: unknown[] = [];
    /** Null if it failed. An api whose PostgreSQL has no time for it says so: it is asked again. */
    const ask = async (path: string, options?: Request) => {
      const response = await shipper.call(path, options).catch(({ cause }: Error) => ({ cause }));
      if ('cause' in response || response.httpStatus >= 300) {
        const { error } = 'body' in response ? response.body : {};
        if (!error?.message.startsWith('A dependency of the service')) failed.push(response);
        return null;
      }
      return response.data;
    };
    let isOver = false;
    let reads = 0;
    const order = async () => {
      for (; !isOver; await sleep(20)) {
        const placed = await ask('/v1/shipments', { body: sampleOrder() });
        if (placed) accepted.push(placed.trackingId as string);
      }
    };
    const read = async () => {
      for (; !isOver; await sleep(20)) if (await ask(`/v1/shipment-tracking/${accepted.at(-1)}`)) reads += 1;
    };
    let load: Promise<unknown> | undefined;
    try {
      await until('the proxy answers', async () => (await statusOf('/openapi.json')) === 200);
      for (const path of ['/operator/v1/status', '/metrics', '/healthz', '/readyz'])
        expect([path, await statusOf(path)]).toEqual([path, 404]);

      accepted.push(await placeOrder(account));
      load = Promise.all([order(), order(), read(), read()]);
      for (const at of [0, 1]) {
        const old = processes[at]!;
        expect(await stopProcess(old)).toBe(0);
        expect(crashTraces(old.output())).toEqual([]);
        const replaced = (processes[at] = await start(at));
        await until('the new one serves, too', () => replaced.output().includes('"msg":"request"'));
      }
      isOver = true;
      await load;
      expect(failed).toEqual([]);
      expect(Math.min(accepted.length, reads)).toBeGreaterThan(100);
      const kept = 'select tracking_id from shipments where tracking_id = any($1)';
      expect(await service.sql(kept, [accepted])).toHaveLength(accepted.length);
    } finally {
      isOver = true;
      await load;
      kill();
      await ended;
      process.off('exit', kill);
      await stopProcess(processes[1]!);
      service.process = processes[0]!;
      await service.stop();
      folder.remove();
    }
  },
);

test('the map of cells finds the cell in all that names one, and in nothing that was made without', () => {
  const lines = readFileSync('docs/scaling/cells.map', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' ') as [string, string]);
  const cellOf = (name: string) => lines.find(([form]) => new RegExp(form).test(name))?.[1];
  for (const cell of ['eu', 'us']) {
    const named = [newAccountKey(cell), newLinkToken(cell), newTrackingId(Date.now(), cell), cell];
    expect(named.map(cellOf)).toEqual(named.map(() => cell));
  }
  const unnamed = [
    newAccountKey(undefined),
    newLinkToken(undefined),
    newTrackingId(Date.now()),
    'ak_eu_short',
  ];
  expect(unnamed.map(cellOf)).toEqual(unnamed.map(() => undefined));
});
