import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { placeOrder, registerAccount, registerWebhook, request, type Account } from '../../support/client.js';
import { startProcess, startServiceToBreak, stopProcess, type Service } from '../../support/harness.js';
import { copyOfProgram, programFile, runProgram } from '../../support/program.js';
import { startReceiver } from '../../support/receiver.js';
import { freePort } from '../../support/redis.js';
import {
  emptyDatabaseOfOwner,
  isRefused,
  lostKey,
  otherMigration,
  programWithOtherLineEndings,
  programWithOtherText,
  waitingForSchema,
} from '../../support/wrong-starts.js';
import { accountAt, crashTraces, deployment, newFolder, type Folder } from '../../support/deployment.js';
import { until } from '../../support/until.js';

const server = process.env.TEST_DATABASE_URL ?? '';
let service: Service;
let account: Account;
let webhookId: string;
let folder: Folder;

beforeAll(async () => {
  folder = newFolder();
  service = await startServiceToBreak();
  account = await registerAccount(service);
  ({ webhookId } = await registerWebhook(account, 'http://127.0.0.1:1/hook?token=abc'));
  await placeOrder(account);
  await stopProcess(service.process);
});
afterAll(async () => {
  await service?.stop();
  folder.remove();
});

const subfolder = (name: string) => {
  mkdirSync(join(folder.path, name));
  return join(folder.path, name);
};

const everything = async () => {
  const tables = await service.sql<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relkind in ('r', 'p') and relnamespace::regnamespace::text in ('public', 'bullmq') order by 1`,
  );
  const rows = tables.map(({ name }) =>
    service.sql(`select md5(string_agg(t::text, '' order by t::text)) from ${name} t`),
  );
  return { tables, rows: await Promise.all(rows) };
};

const another = 'another'.repeat(6);

/** All roles at once, and nothing else. */
async function expectRefused(
  says: RegExp,
  env: Record<string, string>,
  { program, roles = ['all', 'api', 'worker'] }: { program?: string; roles?: string[] } = {},
): Promise<void> {
  const before = await everything();
  const run = (role: string) =>
    runProgram([role], { ...service.env, ...env }, { ...(program && { program }) });
  for (const ended of await Promise.all(roles.map(run)))
    expect({ ...ended, isRefused: isRefused(ended, says) }).toMatchObject({ isRefused: true });
  expect(await everything()).toEqual(before);
}

describe('no role starts, and none writes anything,', () => {
  test('with another SECRETS_KEY', () => expectRefused(lostKey, { SECRETS_KEY: another }));

  test('with two keys of which neither is the right one', () =>
    expectRefused(
      lostKey,
      { SECRETS_KEY: another, SECRETS_KEY_PREVIOUS: 'x'.repeat(32) },
      { roles: ['api'] },
    ));

  test('if the text of an applied migration has changed', () =>
    expectRefused(otherMigration, {}, { program: programWithOtherText(subfolder('other-text')) }));
});

test('with the right key as SECRETS_KEY_PREVIOUS, and other line endings, it starts', async () => {
  const started = await startProcess(
    { ...service.env, SECRETS_KEY: another, SECRETS_KEY_PREVIOUS: service.env.SECRETS_KEY! },
    'api',
  );
  expect(await stopProcess(started)).toBe(0);
  const program = programWithOtherLineEndings(subfolder('line-endings'));
  const env = { DATABASE_URL: service.env.DATABASE_URL!, REDIS_URL: 'redis://127.0.0.1:1' };
  expect(await runProgram(['migrate'], env, { program })).toEqual({
    exit: 0,
    stdout: 'The schema is up to date.\n',
    stderr: '',
  });
});

test('a port in use is reported in one line', async () => {
  const running = await startProcess(service.env, 'api');
  const { port } = new URL(running.url);
  const { exit, stderr } = await runProgram(['api'], { ...service.env, PORT: port });
  expect({ exit, stderr }).toEqual({
    exit: 1,
    stderr: `Port ${port} is in use: set PORT to another port.\n`,
  });
  expect(await stopProcess(running)).toBe(0);
});

test('a worker before the schema waits, reports it in one line and at /readyz, and continues after `migrate`', async () => {
  const database = await emptyDatabaseOfOwner(server);
  const port = await freePort();
  const env = deployment(database.service, { PORT: String(port) });
  const urls = { DATABASE_URL: database.service, MIGRATION_DATABASE_URL: database.owner };
  await database.letIn(false);
  const starting = startProcess(env, 'worker');
  try {
    const readyz = () => request(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    const says = async () =>
      (await readyz())?.body as unknown as { checks: Record<string, string> } | undefined;
    const saysOf = (text: string) => async () => (await says())?.checks.postgres?.includes(text) === true;
    await until('it waits for its password to work', saysOf('PostgreSQL cannot be used'));
    await database.letIn(true);
    await until('it waits for the schema', saysOf(waitingForSchema));
    for (let more = 0; more < 3; more += 1) await readyz(); // each may log its findings
    expect(await runProgram(['migrate'], urls)).toEqual({
      exit: 0,
      stdout: readdirSync('src/migrations')
        .map((file) => `Migrated: ${file.replace('.sql', '')}\n`)
        .join(''),
      stderr: '',
    });
    const worker = await starting;
    const reported = worker
      .output()
      .split('\n')
      .filter((line) => line.includes(waitingForSchema));
    expect(reported).toHaveLength(1);
    expect(worker.output()).not.toMatch(/\n +at |\\n +at /);
    expect(crashTraces(worker.output())).toEqual([]);
    const owner = await runProgram(['migrate'], { MIGRATION_DATABASE_URL: database.owner });
    expect(owner).toMatchObject({ exit: 0, stdout: 'The schema is up to date.\n' });
    const api = await startProcess({ ...env, PORT: '0' }, 'api'); // an api knows no more than the worker
    await placeOrder(await registerAccount(api));
    expect(await stopProcess(api)).toBe(0);
  } finally {
    expect(await stopProcess(await starting)).toBe(0);
    await database.drop();
  }
});

test('a migration that waits for a lock gives up before others wait long behind it, and is retried', async () => {
  const program = copyOfProgram(subfolder('locked'));
  writeFileSync(
    join(folder.path, 'locked/src/migrations/9999-more.sql'),
    'alter table key_check add column more text;\n',
  );
  const holder = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await holder.connect();
  await holder.query('begin; lock table key_check in access share mode');
  let release: Promise<unknown> | undefined;
  const env = { DATABASE_URL: service.env.DATABASE_URL!, REDIS_URL: 'redis://127.0.0.1:1' };
  const onStderr = () => void (release ??= holder.query('commit'));
  const { exit, stdout, stderr } = await runProgram(['migrate'], env, { program, onStderr });
  await holder.end();
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: 'Migrated: 9999-more\n' });
  expect(stderr).toBe(
    '55P03 migration 9999-more did not run: another session held a lock it needs for 1500 ms; trying again\n',
  );
});

test('if the key is lost for good, the runbook leads to a service that sends again', async () => {
  const receiver = await startReceiver();
  await service.sql('delete from key_check');
  const started = await startProcess({ ...service.env, SECRETS_KEY: another }, 'api');
  try {
    const { call } = accountAt(account, started);
    const sendTest = async () =>
      (await call(`/v1/webhooks/${webhookId}/test`, { body: {} })).data as { errorCode: string | null };
    expect((await sendTest()).errorCode).toBe('PROTOCOL');
    await call(`/v1/webhooks/${webhookId}/rotate-secret`, { body: { overlap: '0s' } });
    await call(`/v1/webhooks/${webhookId}`, {
      method: 'PATCH',
      body: { targetAddress: `${receiver.url}?token=abc` },
    });
    expect((await sendTest()).errorCode).toBeNull();
  } finally {
    expect(await stopProcess(started)).toBe(0);
    await receiver.close();
  }
});

describe('an impossible start', () => {
  test('with a broken configuration exits 78 and names every wrong variable in one message', async () => {
    const env = {
      PORT: 'eighty',
      DATABASE_URL: 'mysql://localhost/db',
      REDIS_URL: 'localhost:6379',
      TOKEN_SECRET: 'short',
      TOKEN_TTL: '1 hour',
      ALLOW_HTTP_TARGETS: 'yes',
      RETRY_SCHEDULE: '5s,soon',
      DELIVERY_CONCURRENCY: '0',
      ALLOWED_PORTS: '443,x',
      LOG_LEVEL: 'loud',
      TRUST_PROXY: 'everyone',
      STATES_FILE: '/nowhere/states.json',
      DROPOFF_FILE: programFile,
    };
    const { exit, stdout, stderr } = await runProgram([], env);
    expect(exit).toBe(78);
    expect(stdout).toBe('');
    const names = [...Object.keys(env), 'SECRETS_KEY', 'OPERATOR_TOKEN'];
    const lines = stderr.trimEnd().split('\n').slice(1);
    expect(lines.map((line) => /^ {2}(\w+): \S/.exec(line)?.[1]).sort()).toEqual(names.sort());
    expect(stderr.split('ENOENT')).toHaveLength(2);
  });

  test('with unusable data files exits 78 and names each', async () => {
    const files = {
      STATES_FILE: '{"initial": "A", "states": [{"name": "A", "next": ["B"]}]}',
      DROPOFF_FILE: '[]',
    };
    const env: Record<string, string> = {
      DATABASE_URL: 'postgres://localhost:1/none',
      TOKEN_SECRET: 'x'.repeat(32),
      SECRETS_KEY: 'x'.repeat(32),
      OPERATOR_TOKEN: 'x'.repeat(16),
    };
    for (const [name, content] of Object.entries(files))
      writeFileSync((env[name] = join(folder.path, `${name}.json`)), content);
    const { exit, stderr } = await runProgram([], env);
    for (const name of Object.keys(files)) expect(stderr).toMatch(new RegExp(`^ {2}${name}: `, 'm'));
    expect(exit).toBe(78);
  });
});
