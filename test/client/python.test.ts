/** The Python package: its own tests, its wheel and its README. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { placeOrder, registerAccount, registerWebhook } from '../support/client.js';
import { startService, type Service } from '../support/harness.js';
import { freePort } from '../support/redis.js';
import { until } from '../support/until.js';
import { dropDatabases, environment, has, newDatabase, python, source, startPython } from './python.js';

afterAll(dropDatabases);

const run = async (program: string, args: string[], cwd: string, env: object = {}) => {
  const options = { cwd, env: { ...environment, ...env }, timeout: 120_000 };
  const { stdout, stderr } = await promisify(execFile)(program, args, options);
  return stdout + stderr;
};

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

  (has.psycopg ? test : test.skip)('receives a notification as its README shows', async () => {
    const readme = readFileSync(join(source, 'README.md'), 'utf8');
    const code = /## A receiver\n\n```python\n([\s\S]*?)^```$/m.exec(readme)![1]!;
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
      ...{ PARCELHOOK_KEY: account.accountKey, PARCELHOOK_EMAIL: account.email },
      PARCELHOOK_PASSWORD: account.password,
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
