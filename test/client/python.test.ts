/** The Python package, with the Python that is there: TEST_PYTHON, else python3. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { registerAccount, registerWebhook, placeOrder, type Account } from '../support/client.js';
import { createDatabase, dropDatabase } from '../support/database.js';
import { countShown } from '../support/deliveries.js';
import { startService, type Service } from '../support/harness.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const source = resolve('src/client/python');
const python = process.env.TEST_PYTHON ?? 'python3';
const runs = (...args: string[]) => spawnSync(python, args, { stdio: 'ignore' }).status === 0;
const isNew = runs('-c', 'import sys; sys.exit(sys.version_info < (3, 9))');
const has = {
  psycopg: isNew && runs('-c', 'import psycopg'),
  hatchling: isNew && runs('-c', 'import hatchling, pip'),
};
if (!isNew) console.warn('\n  NO python3 (3.9 OR NEWER) ON PATH: the Python package is NOT TESTED.\n');
if (isNew && !has.psycopg) console.warn(`\n  ${python} HAS NO psycopg: PostgresStore is NOT TESTED.\n`);
if (isNew && !has.hatchling) console.warn(`\n  ${python} HAS NO hatchling: the wheel is NOT TESTED.\n`);

/** Of an empty database of its own. */
const databaseUrl = process.env.TEST_DATABASE_URL ?? '';
const databases: string[] = [];
function newDatabase(): Promise<string> {
  databases.push(`t_${randomBytes(6).toString('hex')}`);
  return createDatabase(databaseUrl, databases.at(-1)!, null);
}
afterAll(async () => {
  for (const name of databases) await dropDatabase(databaseUrl, name);
});

/** Leaves nothing in the source's folder. */
const environment = { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: source };
const run = async (program: string, args: string[], cwd: string, env: object = {}) => {
  const options = { cwd, env: { ...environment, ...env }, timeout: 120_000 };
  const { stdout, stderr } = await promisify(execFile)(program, args, options);
  return stdout + stderr;
};

(isNew ? describe : describe.skip)('the Python package', () => {
  test('passes its own tests, on a real PostgreSQL', async () => {
    const env = { TEST_DATABASE_URL: await newDatabase() };
    const output = await run(
      python,
      ['-W', 'error', '-m', 'unittest', 'discover', '-t', '.', '-s', 'tests'],
      source,
      env,
    );
    expect(output).toMatch(has.psycopg ? /^OK$/m : /^OK \(skipped=\d+\)$/m);
  });

  (has.hatchling ? test : test.skip)(
    'is a wheel of the service’s version, without dependencies',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'parcelhook-python-'));
      const filesBefore = readdirSync(source, { recursive: true });
      const quiet = ['--quiet', '--no-deps', '--no-index', '--disable-pip-version-check', '--no-cache-dir'];
      await run(
        python,
        ['-m', 'pip', 'wheel', ...quiet, '--no-build-isolation', '-w', folder, source],
        folder,
      );
      expect(readdirSync(source, { recursive: true })).toEqual(filesBefore);
      const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
      expect(readdirSync(folder)).toEqual([`parcelhook-${version}-py3-none-any.whl`]);
      await run(
        python,
        ['-m', 'pip', 'install', ...quiet, '--target', 'installed', ...readdirSync(folder)],
        folder,
      );
      const installed = (file: string) => readFileSync(join(folder, 'installed', file), 'utf8');
      const about = `parcelhook-${version}.dist-info`;
      expect(installed(`${about}/licenses/LICENSE`)).toBe(readFileSync('LICENSE', 'utf8'));
      const metadata = installed(`${about}/METADATA`);
      expect(metadata).toContain(readFileSync(join(source, 'README.md'), 'utf8').trim());
      expect(metadata).toMatch(/^Requires-Python: >=3\.9$/m);
      expect(metadata).not.toMatch(/^Requires-Dist/m);
      expect(
        readdirSync(join(folder, 'installed')).filter((name) => name !== about && name !== 'bin'),
      ).toEqual(['parcelhook']);
      expect(installed('parcelhook/py.typed')).toBe('');
      const program = 'import parcelhook; print(parcelhook.__version__, parcelhook.__file__)';
      const printed = await run(python, ['-c', program], folder, { PYTHONPATH: join(folder, 'installed') });
      expect(printed).toContain(`${version} ${folder}`);
      rmSync(folder, { recursive: true });
    },
  );

  let service: Service;
  beforeAll(async () => {
    const env = { SIMULATE: 'true', RETRY_SCHEDULE: '200ms,500ms,1s,1s,1s,1s,1s,1s' };
    service = await startService({ env });
  });
  afterAll(() => service.stop());

  describe.each(has.psycopg ? ['MemoryStore', 'PostgresStore'] : ['MemoryStore'])('with %s', (store) => {
    test('has every state once and in order, whatever was doubled, shuffled, dropped and replayed', async () => {
      const seed = Date.now() % 1_000_000;
      const chance = chances(seed);
      const account = await registerAccount(service, `${store}@example.com`);
      const proxy = await startProxy(chance);
      const { webhookId, secret } = await registerWebhook(account, proxy.url, { ordering: 'NONE' });
      const isDurable = store === 'PostgresStore';
      const { accountKey: key, email, password } = account;
      const settings = {
        ...{ seed, startedAt: Date.now() - 60_000, secret, url: service.url, credentials: { key, email, password } },
        database: isDurable ? await newDatabase() : null,
      };
      let receiver = await startPython(settings);
      proxy.forwardTo(receiver.url);

      const trackingIds = await Promise.all(
        Array.from({ length: 8 }, (_, n) => placeOrder(account, `ORDER-${n}`)),
      );
      for (const [n, trackingId] of trackingIds.entries()) {
        await started(account, trackingId, n);
        if (isDurable && n === 4) {
          receiver.kill();
          receiver = await startPython(settings);
          proxy.forwardTo(receiver.url);
        }
      }
      const expected = await journeys(account, trackingIds);
      await settled(account, webhookId);
      const range = { from: Date.now() - 3_600_000, to: Date.now() };
      await account.call(`/v1/webhooks/${webhookId}/replay`, { body: range });
      await proxy.passOnTheRest();
      await settled(account, webhookId);

      expect({ seed, states: await receiver.states() }).toEqual({ seed, states: expected });
      receiver.kill();
      await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
      await proxy.close();
    });
  });
});

async function started(account: Account, trackingId: string, n: number): Promise<void> {
  await until('the shipment can be simulated', async () => {
    const response = await account.call(`/v1/shipments/${trackingId}/simulate`, {
      body: { intervalMs: 100 + 20 * n },
    });
    return response.httpStatus === 202;
  });
}

/** The states of each shipment, once all are delivered. */
async function journeys(account: Account, trackingIds: string[]): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const trackingId of trackingIds) {
    await until('the shipment is delivered', async () => {
      const { data } = await account.call(`/v1/shipment-tracking/${trackingId}`);
      all[trackingId] = (data.history as { state: string }[]).map(({ state }) => state);
      return data.state === 'DELIVERED';
    });
  }
  return all;
}

async function settled(account: Account, webhookId: string): Promise<void> {
  const isFinished = (status: string) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status);
  await until(
    'all deliveries are finished',
    async () => Object.keys(await countShown(account, webhookId)).every(isFinished),
    40_000,
  );
}

/** Mulberry32: numbers from 0 to 1, the same for the same seed. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Proxy {
  url: string;
  forwardTo(url: string): void;
  /** From now on passes everything on, last what it held back. */
  passOnTheRest(): Promise<void>;
  close: Receiver['close'];
}

/** Between the service and a receiver: doubles, drops, holds back and replays notifications. */
async function startProxy(chance: () => number): Promise<Proxy> {
  let target = '';
  let isFair = false;
  const held: Received[] = [];
  const seen: Received[] = [];
  const forward = async ({ headers, body }: Received): Promise<number> => {
    const names = ['content-type', 'parcelhook-sequence'];
    const passed = Object.entries(headers).filter(
      ([name]) => name.startsWith('webhook-') || names.includes(name),
    );
    const options = { method: 'POST', headers: Object.fromEntries(passed) as Record<string, string>, body };
    return fetch(target, options).then(
      ({ status }) => status,
      () => 502, // it was killed
    );
  };
  const kinds: ((request: Received) => Promise<number>)[] = [
    forward,
    async (request) =>
      Math.max(...(await Promise.all([forward(request), forward(request), forward(request)]))),
    () => Promise.resolve(200), // lost
    () => Promise.resolve(503),
    async (request) => {
      held.push(request);
      if (held.length > 3) await forward(held.splice(Math.floor(chance() * held.length), 1)[0]!);
      return 200;
    },
    async (request) => {
      await forward(seen[Math.floor(chance() * seen.length)]!);
      return forward(request);
    },
  ];
  const proxy = await startReceiver((request, response) => {
    seen.push(request);
    const isEachTried = seen.length > kinds.length;
    const kind = isFair ? 0 : isEachTried ? Math.floor(chance() * kinds.length) : seen.length - 1;
    void kinds[kind]!(request).then((status) => response.writeHead(status).end());
  });
  return {
    url: proxy.url,
    forwardTo: (url) => (target = url),
    passOnTheRest: async () => {
      isFair = true;
      for (const request of held.splice(0).reverse()) await forward(request);
    },
    close: proxy.close,
  };
}

const children = new Set<ChildProcess>();
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));

async function startPython(settings: object) {
  const child = spawn(python, [resolve('test/client/receiver.py')], {
    env: { ...environment, SETTINGS: JSON.stringify(settings) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.add(child);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const lines = createInterface(child.stdout);
  const next = async (): Promise<Record<string, any>> => {
    const end = once(lines, 'close').then(() => {
      throw new Error(`the receiver ended:\n${errors}`);
    });
    const [line] = (await Promise.race([once(lines, 'line'), end])) as [string];
    return JSON.parse(line) as Record<string, any>;
  };
  const { port } = await next();
  return {
    url: `http://127.0.0.1:${port}/`,
    states: async () => {
      child.stdin.write('\n');
      return (await next()).states as Record<string, string[]>;
    },
    kill: () => {
      children.delete(child);
      child.kill('SIGKILL');
    },
  };
}
