/** The Python package: its own tests, its wheel, its README, and receivers behind a proxy that does what networks do. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { sign } from '../../src/engine/send/headers.js';
import { newSecret } from '../../src/engine/send/sealing.js';
import { newProgram, placeOrder, registerAccount, registerWebhook, type Account } from '../support/client.js';
import { countShown } from '../support/deliveries.js';
import { startServiceWith, type Service } from '../support/harness.js';
import { freePort } from '../support/redis.js';
import { until } from '../support/until.js';
import { fates, startProxy } from './proxy.js';
import { dropDatabases, environment, has, newDatabase, python, source, startPython } from './python.js';

const stores = has.psycopg ? ['MemoryStore', 'PostgresStore'] : ['MemoryStore'];

let service: Service;
beforeAll(async () => {
  const env = { SIMULATE: 'true', RETRY_SCHEDULE: '200ms,500ms,1s,1s,1s,1s,1s,1s' };
  service = await startServiceWith(env);
});
afterAll(async () => {
  await service?.stop();
  await dropDatabases();
});

const run = async (program: string, args: string[], cwd: string, env: object = {}) => {
  const options = { cwd, env: { ...environment, ...env }, timeout: 120_000 };
  const { stdout, stderr } = await promisify(execFile)(program, args, options);
  return stdout + stderr;
};

const readme = readFileSync(join(source, 'README.md'), 'utf8');
/** The examples under each heading. */
const examples = new Map(
  readme
    .split('\n## ')
    .map((section) => [
      section.split('\n', 1)[0]!,
      [...section.matchAll(/```python\n([\s\S]*?)^```$/gm)].map(([, code]) => code!),
    ]),
);
const [verifying, receiving, reconciling] = examples.get('Receiving notifications')!;
const story = [...examples]
  .flatMap(([heading, codes]) => (heading === 'Receiving notifications' ? [] : codes))
  .join('\n');

(has.python ? describe : describe.skip)('the Python package', () => {
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
      for (const [needed] of metadata.matchAll(/^Requires-Dist: .*$/gm))
        expect(needed).toMatch(/; extra == 'async'$/);
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

  test('declares its webhook at each start: the secret comes once, and what changed is changed', async () => {
    const account = await registerAccount(service, 'subscriber@example.com');
    const { accountKey: key, email, password } = account;
    const program = startPython(
      [
        '-c',
        `import json, os, sys
from parcelhook import Client, ParcelhookError
client = Client(**json.loads(os.environ["CREDENTIALS"]))
for line in sys.stdin:
    try:
        print(json.dumps(client.subscribe(**json.loads(line))), flush=True)
    except ParcelhookError as error:
        print(json.dumps({"code": error.code, "details": error.details}), flush=True)
`,
      ],
      { CREDENTIALS: JSON.stringify({ url: service.url, key, email, password }) },
    );
    const subscribe = (given: object) => {
      program.write(JSON.stringify({ name: 'Lager Süd', ...given }));
      return program.next();
    };
    const given = { target_address: 'http://127.0.0.1:9/', interests: ['CREATED'], headers: { 'X-A': '1' } };
    const { secret, ...webhook } = await subscribe(given);
    expect(secret).toMatch(/^whsec_/);
    expect(webhook).toMatchObject({ name: 'Lager Süd', interests: ['CREATED'], headers: { 'X-A': '••••' } });
    expect(await subscribe(given)).toEqual(webhook);
    const changed = { description: 'x', ordering: 'NONE', supersede: true };
    expect(await subscribe(changed)).toMatchObject({ ...changed, webhookId: webhook.webhookId });
    expect(await subscribe({ name: 'other', secret: 'x' })).toMatchObject({
      code: 'INVALID_REQUEST',
      details: [['secret', expect.stringContaining('24 to 64')]],
    });
    const own = `whsec_${randomBytes(24).toString('base64')}`;
    const made = await subscribe({ ...given, name: 'other', secret: own });
    expect(made).toMatchObject({ name: 'other' });
    expect(made).not.toHaveProperty('secret');
    expect(await subscribe({ name: 'other', secret })).toMatchObject({ code: 'CONFLICT' });
    program.kill();
  });

  (has.httpx ? test : test.skip)('goes from an order to its cancellation as its README shows', async () => {
    const account = await registerAccount(service, 'orders@example.com');
    const { token } = await newProgram(service, account, { scopes: ['orders', 'webhooks'] });
    const code = story
      .replaceAll('http://localhost:8080', service.url)
      .replaceAll('<token>', token)
      .replace('https://example.com/hook', 'http://127.0.0.1:9/hook');
    const WEBHOOK_SECRET = newSecret();
    const printed = await run(python, ['-W', 'error', '-c', code], source, { WEBHOOK_SECRET });
    expect(printed.trim().split('\n')).toEqual([
      'CREATED',
      expect.stringMatching(/^interests: /),
      expect.stringMatching(/^maxPerSecond: /),
      expect.stringMatching(/^\{.*'state': 'CANCELLED'/),
    ]);
    const { webhooks } = (await account.call('/v1/webhooks')).data;
    expect(webhooks).toMatchObject([{ name: 'orders-production', interests: expect.any(Array) }]);
    const { shipments } = (await account.call('/v1/shipments')).data;
    expect(shipments).toMatchObject([{ shipperTrackingId: 'ORDER-1001', state: 'CANCELLED' }]);
  });

  test('verifies a notification as its README shows', async () => {
    const secret = newSecret();
    const body = '{"state":"LOST"}';
    const seconds = Math.floor(Date.now() / 1_000);
    const headers = {
      ...{ 'webhook-id': 'e-1', 'webhook-timestamp': String(seconds) },
      'webhook-signature': sign([secret], 'e-1', seconds, body),
    };
    const calls = `
import json, os
headers = json.loads(os.environ["HEADERS"])
print(status_of(headers, b'${body}'), status_of(headers, b'${body} '))
`;
    const code = verifying!.replace('whsec_…', secret) + calls;
    expect(await run(python, ['-c', code], source, { HEADERS: JSON.stringify(headers) })).toBe(
      'LOST\n204 400\n',
    );
  });

  (has.mypy ? test : test.skip)('is typed, and so are the examples in its README', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parcelhook-mypy-'));
    const wrong = [
      'client.track(7)  # type: ignore[arg-type]',
      'client.place_order({})  # type: ignore[typeddict-item]',
      'Client(url=7, token="t")  # type: ignore[arg-type]',
      'client.placeOrder  # type: ignore[attr-defined]',
    ];
    writeFileSync(join(folder, 'example.py'), [story, ...wrong, ''].join('\n'));
    const strict = ['--strict', '--warn-unused-ignores', '--cache-dir', join(folder, 'cache')];
    await run(python, ['-m', 'mypy', ...strict, 'parcelhook', join(folder, 'example.py')], source);
    rmSync(folder, { recursive: true });
  });

  (has.psycopg ? test : test.skip)('receives a notification as its README shows', async () => {
    const mainAt = receiving!.indexOf('if __name__');
    const code = `${receiving!.slice(0, mainAt)}${reconciling!}print(count)\n${receiving!.slice(mainAt)}`;
    const database = await newDatabase();
    const account = await registerAccount(service, 'readme@example.com');
    const port = await freePort();
    const { secret } = await registerWebhook(account, `http://127.0.0.1:${port}/`);
    const table = 'create table shipments (tracking_id text primary key, state text)';
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    await client.query(table);
    const program = startPython(['-c', code], {
      ...{ PORT: String(port), DATABASE_URL: database, WEBHOOK_SECRET: secret, PARCELHOOK_URL: service.url },
      PARCELHOOK_TOKEN: (await newProgram(service, account, { scopes: ['read'] })).token,
    });
    await until('it listens', () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ status }) => status === 405,
        () => false,
      ),
    );
    const trackingId = await placeOrder(account);
    await until('the state is stored', async () => {
      const { rows } = await client.query<{ tracking_id: string }>('select tracking_id from shipments');
      return rows[0]?.tracking_id === trackingId;
    });
    program.kill();
    await client.end();
  });
});

(has.python ? describe.each(stores) : describe.skip.each(stores))('a receiver in Python with %s', (store) => {
  test('has every state once and in order, whatever was doubled, shuffled, dropped and replayed', async () => {
    const seed = Date.now() % 1_000_000;
    const account = await registerAccount(service, `${store}@example.com`);
    let receiver: Awaited<ReturnType<typeof startReceiverProgram>>;
    const proxy = await startProxy(() => receiver.url);
    const everyFate = fc.array(fc.constantFrom(...fates), { minLength: 100, maxLength: 100 });
    proxy.fates.push(...fc.sample(everyFate, { seed, numRuns: 1 })[0]!);
    const { webhookId, secret } = await registerWebhook(account, proxy.url, { ordering: 'NONE' });
    const later = await registerWebhook(account, proxy.url, { ordering: 'NONE', interests: ['NONE_YET'] });
    const isDurable = store === 'PostgresStore';
    const { accountKey: key, email, password } = account;
    const settings = {
      ...{ seed, secret: [secret, later.secret], url: service.url, credentials: { key, email, password } },
      startedAt: Date.now() - 60_000,
      database: isDurable ? await newDatabase() : null,
    };
    receiver = await startReceiverProgram(settings);

    const trackingIds = await Promise.all(
      Array.from({ length: 8 }, (_, n) => placeOrder(account, `ORDER-${n}`)),
    );
    for (const [n, trackingId] of trackingIds.entries()) {
      await started(account, trackingId, n);
      if (isDurable && n === 4) {
        receiver.kill();
        receiver = await startReceiverProgram(settings);
      }
    }
    const expected = await journeys(account, trackingIds);
    await settled(account, webhookId);
    await proxy.flush();
    await replayed(account, later.webhookId);

    expect({ seed, states: await receiver.states() }).toEqual({ seed, states: expected });
    receiver.kill();
    for (const id of [webhookId, later.webhookId])
      await account.call(`/v1/webhooks/${id}`, { method: 'DELETE' });
    proxy.close();
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

/** A webhook that has had no delivery gets all of them. */
async function replayed(account: Account, webhookId: string): Promise<void> {
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { interests: ['*'] } });
  const body = { from: Date.now() - 3_600_000, to: Date.now() };
  const { data } = await account.call(`/v1/webhooks/${webhookId}/replay`, { body });
  await until(
    'the replay is done',
    async () => (await account.call(`/v1/replays/${data.replayId}`)).data.status === 'DONE',
  );
}

async function settled(account: Account, webhookId: string): Promise<void> {
  const isFinished = (status: string) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status);
  await until('all deliveries are finished', async () =>
    Object.keys(await countShown(account, webhookId)).every(isFinished),
  );
}

async function startReceiverProgram(settings: object) {
  const program = startPython([resolve('test/client/receiver.py')], { SETTINGS: JSON.stringify(settings) });
  const { port } = await program.next();
  return {
    url: `http://127.0.0.1:${port}/`,
    states: async () => {
      program.write('');
      return (await program.next()).states as Record<string, string[]>;
    },
    kill: program.kill,
  };
}
