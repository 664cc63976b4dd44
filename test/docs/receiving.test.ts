/** Runs the commands and programs of docs/receiving.md against the service, as a reader would. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { sign } from '../../src/engine/send/headers.js';
import { renderNotification } from '../../src/engine/record/store.js';
import { newSecret } from '../../src/engine/send/sealing.js';
import { environment, has, python } from '../client/python.js';
import { newProgram, placeOrder, registerAccount, registerWebhook, type Account } from '../support/client.js';
import { createDatabase, dropDatabase } from '../support/database.js';
import { readTracked } from '../support/project-files.js';
import { freePort } from '../support/redis.js';
import { sharedService, type SharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { killPrograms, serves, startProgram, type Program } from './programs.js';
import { blocksOf } from './runbook.js';

const blocks = blocksOf(readTracked('docs/receiving.md'));
const databaseUrl = process.env.TEST_DATABASE_URL!;
const databaseName = `t_${randomBytes(6).toString('hex')}`;

let service: SharedService;
let account: Account;
let folder: string;
let env: Record<string, string>;
let pool: pg.Pool;
let receiver: Program;

/** The only block of a language under a heading. */
function blockUnder(heading: string, language: string): string {
  const found = blocks.filter((block) => block.heading === heading && block.language === language);
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${language} under "${heading}"`);
  return found[0]!.code;
}

function writeProgram(name: string, heading: string, language: string): string {
  writeFileSync(join(folder, name), blockUnder(heading, language));
  return name;
}

const startReceiver = (command: string, variables: NodeJS.ProcessEnv) =>
  startProgram(command, { cwd: folder, env: variables }, () => serves(Number(variables.PORT)));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parcelhook-receiving-'));
  mkdirSync(join(folder, 'node_modules/@parcelhook'), { recursive: true });
  for (const [name, source] of Object.entries({
    '@parcelhook/client': 'dist/client',
    express: 'node_modules/express',
    pg: 'node_modules/pg',
  }))
    symlinkSync(resolve(source), join(folder, 'node_modules', name));
  const [started, ownDatabase, port] = await Promise.all([
    sharedService(),
    createDatabase(databaseUrl, databaseName, null),
    freePort(),
  ]);
  service = started;
  account = await registerAccount(service);
  pool = new pg.Pool({ connectionString: ownDatabase, max: 2 });
  await pool.query('create table shipments (tracking_id text primary key, state text not null)');
  const { webhookId, secret } = await registerWebhook(account, `http://127.0.0.1:${port}/hook`);
  env = {
    PATH: process.env.PATH!,
    PORT: String(port),
    DATABASE_URL: ownDatabase,
    PARCELHOOK_URL: service.url,
    PARCELHOOK_TOKEN: (await newProgram(service, account, { scopes: ['read'] })).token,
    WEBHOOK_SECRET: secret,
    WEBHOOK_ID: webhookId,
    URL: service.url,
    KEY: account.accountKey,
    TOKEN: account.token,
    TRACKING_ID: await placeOrder(account),
  };
  const file = writeProgram('receiver.mjs', 'The kit', 'js');
  receiver = await startReceiver(`node ${file}`, env);
});
afterAll(async () => {
  killPrograms();
  await pool?.end();
  await dropDatabase(databaseUrl, databaseName);
  rmSync(folder, { recursive: true, force: true });
});

test('the receiver in Node stores what happens to an order', async () => {
  const trackingId = await placeOrder(account);
  await until('the state is stored', async () => {
    const { rows } = await pool.query('select state from shipments where tracking_id = $1', [trackingId]);
    return (rows[0] as { state: string } | undefined)?.state === 'CREATED';
  });
  await until('it is printed', () => receiver.output().includes('1 CREATED'));
});

(has.python ? test : test.skip)('the receiver in Python prints what happens to an order', async () => {
  const port = await freePort();
  const { secret } = await registerWebhook(account, `http://127.0.0.1:${port}/hook`);
  const file = writeProgram('receiver.py', 'The kit', 'python');
  const variables = { ...environment, PORT: String(port), WEBHOOK_SECRET: secret };
  const inPython = await startReceiver(`${python} ${file}`, variables);
  await placeOrder(account);
  await until('it is printed', () => inPython.output().includes('1 CREATED'));
});

const shown = blocks.filter(({ language }) => language === 'sh');
const commands = shown.filter(({ code }) => code.startsWith('curl'));
const listens = shown.flatMap(({ code }) =>
  code.split('\n').filter((line) => /^npm run .*listen/.test(line)),
);

test('docs/receiving.md has commands', () => expect([commands.length, listens.length]).toEqual([5, 3]));

test.each(commands)('the service does what a command asks: $code', async ({ code }) => {
  const { stdout } = await promisify(execFile)('sh', ['-c', code], { env, timeout: 30_000 });
  const { status, data } = JSON.parse(stdout) as { status: string; data: Record<string, unknown> };
  expect(status).toBe('OK');
  if (code.includes('/test?')) expect(data).toMatchObject({ statusCode: 204 });
});

test.each(listens)(
  'a notification comes through: %s',
  async (command) => {
    const forwarding = command.replace('9001', env.PORT!);
    const variables = { ...process.env, ...env };
    let looks = 0;
    const program = await startProgram(forwarding, { cwd: '.', env: variables }, async ({ output }) => {
      if (looks++ % 20 === 0) {
        const body = { states: ['PICKED_UP'], intervalMs: 100 };
        const path = `/v1/shipments/${await placeOrder(account)}/simulate`;
        await account.call(path, { method: 'POST', body });
      }
      return /PICKED_UP[^]* 204\b/.test(output()); // npm prints the command, too
    });
    program.kill();
  },
  240_000,
);

test('the diagnosis names the fault in files', async () => {
  const secret = newSecret();
  const at = Math.floor(Date.now() / 1_000);
  const body = renderNotification({ trackingId: 'PH1', shipperTrackingId: 'O-1' }, { state: 'CREATED' }, 1);
  writeFileSync(
    join(folder, 'headers.txt'),
    `> webhook-id: e-1\n> webhook-timestamp: ${at}\n> webhook-signature: ${sign([secret], 'e-1', at, body)}\n`,
  );
  const program = writeProgram('diagnose.mjs', 'When a signature does not verify', 'js');
  const said = async (text: string) => {
    writeFileSync(join(folder, 'body.json'), text);
    const { stdout } = await promisify(execFile)(process.execPath, [program], {
      cwd: folder,
      env: { ...env, WEBHOOK_SECRET: secret },
    });
    return stdout;
  };
  expect(await said(body)).toBe('It verifies.\n');
  expect(await said(`${body}\n`)).toMatch(/white space was added at its end/);
});
