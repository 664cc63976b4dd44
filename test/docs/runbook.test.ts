/** Every command of docs/runbook.md is run here, but those of the drills (restore-drill.test.ts). */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import ts from 'typescript';
import { untilState } from '../support/expect.js';
import { operator, placeOrder, registerAccount, registerWebhook, type Account } from '../support/client.js';
import { until } from '../support/until.js';
import { startServiceToInspect, type Service } from '../support/harness.js';
import { compose } from '../support/compose.js';
import { operatorToken } from '../support/process.js';
import { codeBlocks } from '../support/project-files.js';
import { blocks, commandsOf, drills, inEachForm, runbook, type Block } from './runbook.js';
import { openShell, type Shell } from './shell.js';

const isInstalled = (program: string) =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
const missing = ['psql', 'redis-cli', 'curl', 'openssl'].filter((program) => !isInstalled(program));
if (missing.length > 0)
  console.warn(
    `\n  NO ${missing.join(', ')} ON PATH: commands of the runbook that use them are NOT TESTED.\n`,
  );
const hasPromtool = isInstalled('promtool');
if (!hasPromtool) console.warn('\n  NO promtool ON PATH: the queries of the runbook are NOT TESTED.\n');

const redisUrl = process.env.TEST_REDIS_URL;
let service: Service;
let account: Account;
let shell: Shell;
const values: Record<string, string> = {};
const bystanders: ChildProcess[] = [];
const [serviceRole, password] = ['runbook_service', 'of-the-runbook'];

beforeAll(async () => {
  service = await startServiceToInspect(redisUrl ? { REDIS_URL: redisUrl } : {});
  account = await registerAccount(service);
  await registerWebhook(account, 'http://127.0.0.1:9/'); // nobody listens there
  const { webhookId } = await registerWebhook(account, 'http://127.0.0.1:9/paused', { status: 'PAUSED' });
  const trackingId = await placeOrder(account);
  await untilState(account, trackingId, 'CREATED');
  const held = async () =>
    (await account.call(`/v1/deliveries?webhookId=${webhookId}`)).data.deliveries as { deliveryId: string }[];
  await until('a delivery is held', async () => (await held()).length === 1);
  await until('an attempt has failed', () => service.process.output().includes('"errorCode":"CONNECT"'));
  const body = { from: Date.now() - 60_000, to: Date.now() };
  const replay = await account.call(`/v1/webhooks/${webhookId}/replay`, { body });
  const database = new URL(service.env.DATABASE_URL!);
  await service.sql(`create role ${serviceRole} login password '${password}'`);
  const [oncall] = codeBlocks('A role for the person on call', 'docs/operating.md');
  await service.sql(oncall!.code.replace("'…'", `'${password}'`));
  const env = {
    PARCELHOOK_URL: service.url,
    OPERATOR_TOKEN: operatorToken,
    DATABASE_URL: database.href,
    ADMIN_DB_URL: asRole('parcelhook_oncall'),
    OWNER_URL: database.href,
    REDIS_URL: service.env.REDIS_URL ?? '',
    SECRETS_KEY: service.env.SECRETS_KEY!,
    PGHOST: database.hostname,
    PGPORT: database.port,
    PGUSER: database.username,
    PGPASSWORD: decodeURIComponent(database.password),
    PGDATABASE: database.pathname.slice(1),
  };
  shell = openShell(env, fill);
  Object.assign(values, {
    deliveryId: (await held())[0]!.deliveryId,
    replayId: replay.data.replayId as string,
    shipperId: account.shipperId,
    userId: account.userId,
    trackingId,
    apiUrl: service.url,
    publicUrl: service.url,
    operatorToken,
    databaseUrl: database.href,
    adminDatabaseUrl: env.ADMIN_DB_URL,
    redisUrl: env.REDIS_URL,
    logFile: shell.logFile,
  });
});
afterAll(async () => {
  for (const bystander of bystanders) bystander.kill('SIGKILL');
  shell?.remove();
  await service?.sql(`drop role if exists parcelhook_oncall, ${serviceRole}`);
  await service?.stop();
});

function asRole(role: string): string {
  const url = new URL(service.env.DATABASE_URL!);
  [url.username, url.password] = [role, password];
  return url.href;
}

async function fill(name: string): Promise<string> {
  if (name === 'pid') return String(bystander().pid);
  if (name === 'removedShipperId')
    return (await operator(service, '/shippers', { body: { name: 'To be removed' } })).data
      .shipperId as string;
  const value = values[name];
  if (value === undefined) throw new Error(`the runbook has a placeholder that no test fills in: <${name}>`);
  return value;
}

/** It has the key in its environment, and may be stopped. */
function bystander(): ChildProcess {
  const child = spawn('sleep', ['600'], {
    env: { PATH: process.env.PATH, SECRETS_KEY: 'a key' },
    stdio: 'ignore',
  });
  bystanders.push(child);
  return child;
}

const isDrill = ({ heading }: Block) => drills.includes(heading);
const ofLanguage = (language: string) => blocks.filter((block) => block.language === language);
const named = (found: Block[]): [string, Block][] =>
  found.map((block) => [`${block.heading}: ${block.code.trim().split('\n')[0]!.slice(0, 80)}`, block]);

const sources = () =>
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join('src', name), 'utf8'))
    .join('\n');

test('the runbook has no block that is not run: every one is of the shell, SQL or PromQL', () => {
  expect([...new Set(blocks.map(({ language }) => language))].sort()).toEqual(['promql', 'sh', 'sql']);
  expect(blocks.length).toBe(runbook.match(/^ *```\w/gm)!.length);
});

/** The forms of a command differ by the function that its first word names: each is run once in all of them. */
const ranInEachForm = new Set<string>();

function formsToRun(command: string): string[] {
  const [name] = command.split(' ') as [string];
  const forms = inEachForm(command);
  if (!ranInEachForm.has(name)) {
    if (forms.length > 1) ranInEachForm.add(name);
    return forms;
  }
  return name === 'operator' ? forms.slice(-1) : forms.slice(0, 1); // without npm, which takes longer than the command
}

describe('each command does what it should', () => {
  const shellBlocks = ofLanguage('sh').filter((block) => !isDrill(block));
  test.each(named(shellBlocks))('%s', async (_name, block) => {
    writeFileSync(shell.logFile, service.process.output());
    for (const command of commandsOf(block)) {
      if (missing.some((program) => command.includes(`${program} `))) continue;
      if (/^redis/.test(command) && (missing.includes('redis-cli') || !service.env.REDIS_URL)) continue;
      for (const form of formsToRun(command)) {
        const { exit, stdout, stderr } = await shell.run(form);
        expect({ form, exit, stderr }).toEqual({ form, exit: 0, stderr: expect.any(String) });
        if (/^operator status|"msg":"attempt"|info memory|environ|printenv/.test(command))
          expect([form, stdout]).toEqual([form, expect.stringMatching(/\w/)]);
      }
    }
  });

  test.each(['docker compose ps', 'docker compose exec api-1 parcelhook operator status'])(
    'a form for Docker is refused if it names what the compose file does not have: %s',
    async (command) => {
      expect(await shell.run(command)).toMatchObject({ exit: 0 });
      for (const wrong of [`${command} --wrong`, command.replace(/ps$|api-1/, '$& nobody')])
        expect(await shell.run(wrong)).not.toMatchObject({ exit: 0 });
    },
  );
});

test('what the runbook says to see in the status is there', async () => {
  const { stdout } = await shell.run(inEachForm('operator status')[0]!);
  const mentioned = [...runbook.matchAll(/`(orders to create|\w+ due)`/g)].map(([, name]) => name!);
  expect(mentioned.length).toBeGreaterThan(3);
  for (const name of [...mentioned, 'Lag', 'Queues', 'wait for us']) expect(stdout).toContain(name);
});

/** The log may have these: the messages, and the names of its background tasks. */
function loggedTexts(): string[] {
  const found: string[] = [];
  const collect = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) return; // the fields of a line, not its message
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    ts.forEachChild(node, collect);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const name = node.expression.getText();
      if (/\blogger\.\w+$|^(createThrottledWarn|every)$/.test(name)) node.arguments.forEach(collect);
    }
    // ['sweep orders', sweepRestEveryMs, …]
    if (
      ts.isArrayLiteralExpression(node) &&
      /EveryMs|[hH]ourMs|[mM]inuteMs/.test(node.elements[1]?.getText() ?? '')
    )
      collect(node.elements[0]!);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('src.ts', sources(), ts.ScriptTarget.Latest, true));
  return found;
}

test('what the runbook looks for in the log is what the service writes', () => {
  const texts = loggedTexts();
  const searches = ofLanguage('sh')
    .flatMap(commandsOf)
    .filter((command) => command.startsWith('logs | grep'))
    .flatMap((command) => [...command.matchAll(/grep (?:-E )?('[^']+'|\w+)/g)].map(([, pattern]) => pattern!))
    .filter((pattern) => !pattern.includes('"'))
    .flatMap((pattern) => pattern.replaceAll("'", '').split('|'));
  expect(searches.length).toBeGreaterThan(10);
  expect([...new Set(searches)].filter((phrase) => !texts.some((text) => text.includes(phrase)))).toEqual([]);
});

test.each(['docs/runbook.md', 'docs/operating.md'])('%s names no variable that nobody knows', (document) => {
  const own = [
    ...['ADMIN_DB_URL', 'OWNER_URL', 'ADMIN_URL', 'REPLICATION_URL', 'PGDATA'], // the runbook says what they are
    'NODE_EXTRA_CA_CERTS', // Node's
  ];
  const known = ['docker-compose.yml', 'Dockerfile', 'grafana/prometheus/rules.yml'].map((name) =>
    readFileSync(name, 'utf8'),
  );
  const all = [sources(), ...known].join('\n');
  const names = [...readFileSync(document, 'utf8').matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g)].map(
    ([, name]) => name!,
  );
  expect(names.length).toBeGreaterThan(5);
  expect([...new Set(names)].filter((name) => !own.includes(name) && !all.includes(name))).toEqual([]);
});

test('what the runbook gives Redis leaves room below the limit of its container', () => {
  const given = [...runbook.matchAll(/config set maxmemory (\d+)mb/g)].map(([, mb]) => Number(mb));
  expect(given).toHaveLength(1);
  const limit = parseInt(compose.services.redis!.mem_limit!);
  for (const mb of given) expect(mb).toBeLessThan(limit);
});

(missing.includes('psql') ? describe.skip : describe)('each query for PostgreSQL', () => {
  const sqlBlocks = ofLanguage('sql').filter((block) => !isDrill(block));
  const ask = async (code: string) => {
    writeFileSync(join(shell.folder, 'query.sql'), code);
    const isOwners = /vacuum|make_log_partitions|key_check/.test(code);
    const address = isOwners ? '$OWNER_URL' : '$ADMIN_DB_URL';
    return shell.run(`psql "${address}" --set ON_ERROR_STOP=1 --file query.sql`);
  };
  test.each(named(sqlBlocks))('%s', async (_name, { code }) => {
    expect(await ask(code)).toMatchObject({ exit: 0 });
  });

  test('shows the sessions of other roles to the role of docs/operating.md, which may end them', async () => {
    const forgotten = new pg.Client({ connectionString: asRole(serviceRole) });
    forgotten.on('error', () => undefined);
    await forgotten.connect();
    const ended = new Promise<void>((resolve) => forgotten.once('end', () => resolve()));
    await forgotten.query('begin isolation level repeatable read');
    await forgotten.query("select 'forgotten'");
    const queries = sqlBlocks.filter(({ code }) => /left\(query.*pg_stat_activity/s.test(code));
    expect(queries).toHaveLength(2);
    for (const { code } of queries)
      expect((await ask(code)).stdout).toMatch(/idle in transaction.*select 'forgotten'/);
    const ending = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${serviceRole}'`;
    expect(await ask(ending)).toMatchObject({ exit: 0 });
    await ended;
  });
});

(hasPromtool ? test : test.skip)('each query for Prometheus is one', () => {
  const queries = ofLanguage('promql').map(({ code }) => code.trim());
  expect(queries.length).toBeGreaterThan(2);
  const rules = queries.map((expr, index) => ({ record: `runbook:query:${index}`, expr }));
  const file = join(shell.folder, 'queries.json'); // JSON is YAML, too
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'runbook', rules }] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
});
