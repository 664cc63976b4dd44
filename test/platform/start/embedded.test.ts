import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { basic, request } from '../../support/client.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { programFile, runProgram } from '../../support/program.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { crashTraces, newFolder, type Folder } from '../../support/deployment.js';
import { trackingIdOf } from '../../support/load.js';
import { until } from '../../support/until.js';

function bash(input: string, args: string[] = []) {
  const child = spawn('bash', args, { env: { PATH: process.env.PATH ?? '' } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.end(input);
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, stdout, stderr })),
  );
}

/** Reads the account from the link that fills in the log-in. */
function accountIn(greeting: string) {
  const [, parameters] = /#(key=\S+)/.exec(greeting) ?? [];
  const { key = '', email = '', password = '' } = Object.fromEntries(new URLSearchParams(parameters));
  return { accountKey: key, email, password };
}

/** Runs the printed commands in bash. */
async function paste(greeting: string, receiverUrl: string) {
  const commands = greeting
    .slice(greeting.indexOf('KEY='))
    .replaceAll(/^(?: {2}|\{).*$/gm, '') // the text between them, and the log
    .replaceAll('npm run operator --', `'${process.execPath}' '${programFile}' operator`)
    .replaceAll('http://localhost:9000/', receiverUrl);
  const { code, stdout, stderr } = await bash(commands, ['-eu', '-o', 'pipefail']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('"status":"CREATED"');
  expect(stdout).toMatch(/^lag\.deliveriesDue +\d/m); // of the status
  return stdout;
}

const greetingOf = ({ output }: RunningProcess) => output().slice(output().indexOf('  Parcelhook is ready'));
const firstGreetingEnds = /operator -- status\n/;
const laterGreetingEnds = /#key=\S+\n/;

describe('embedded mode, on a path with spaces', () => {
  let folder: Folder;
  let dataDir: string;
  let running: RunningProcess | undefined;
  let receiver: Receiver;
  let firstGreeting: string;
  let trackingId: string;

  beforeAll(async () => {
    folder = newFolder();
    dataDir = join(folder.path, "a data folder of Ana's");
    receiver = await startReceiver();
  });
  afterEach(() => {
    expect(crashTraces(running?.output() ?? '')).toEqual([]);
  });
  afterAll(async () => {
    if (running) await stopProcess(running);
    killPostmaster();
    await receiver.close();
    folder.remove();
  });

  const start = async (ends = laterGreetingEnds) => {
    running = await startProcess({ DATA_DIR: dataDir, PORT: '0' });
    await until('the greeting', () => ends.test(running!.output()));
    return greetingOf(running);
  };
  const lockFile = () => join(dataDir, 'postgres', 'postmaster.pid');
  const killPostmaster = () => {
    if (!existsSync(lockFile())) return;
    try {
      process.kill(Number(readFileSync(lockFile(), 'utf8').split('\n')[0]), 'SIGKILL');
    } catch {
      // gone already
    }
  };
  const logIn = async (greeting: string) => {
    const { accountKey, email, password } = accountIn(greeting);
    return request(`${running!.url}/v1/login?key=${accountKey}`, {
      headers: { authorization: basic(email, password) },
    });
  };
  const track = async (greeting: string) => {
    const { token } = (await logIn(greeting)).data as { token: string };
    const { accountKey } = accountIn(greeting);
    return request(`${running!.url}/v1/shipment-tracking/${trackingId}?key=${accountKey}`, {
      headers: { authorization: `Bearer ${token}` },
    });
  };

  test('the first start names the portal, the documents and an account that can log in, and is ready', async () => {
    firstGreeting = await start(firstGreetingEnds);
    const { accountKey, email, password } = accountIn(firstGreeting);
    for (const line of [
      `portal        ${running!.url}/`,
      `documents     ${running!.url}/docs`,
      `account key   ${accountKey}`,
      `e-mail        ${email}`,
      `password      ${password}`,
    ])
      expect(firstGreeting).toContain(`\n    ${line}\n`);
    expect((await logIn(firstGreeting)).httpStatus).toBe(200);
    expect((await request(`${running!.url}/healthz`)).httpStatus).toBe(200);
    await until('ready', async () => (await request(`${running!.url}/readyz`)).httpStatus === 200);
  }, 60_000);

  test('the printed commands, pasted into bash, complete a whole journey', async () => {
    const stdout = await paste(firstGreeting, receiver.url);
    const received = await receiver.waitFor(5, undefined, 20_000);
    expect(received[0]!.notification).toMatchObject({ state: 'CREATED', label_id: 'ORDER-1001' });
    trackingId = trackingIdOf(received[0]!);
    expect(received.map((one) => [trackingIdOf(one), one.notification.state])).toEqual(
      ['CREATED', 'PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'].map((state) => [
        trackingId,
        state,
      ]),
    );
    expect(stdout).toContain(trackingId);
    // The receiver command must read the webhook file that `tee` has written.
    const file = /--secret-file (.+)/.exec(firstGreeting)![1]!;
    const echoed = await bash(`cat ${file}`);
    expect(echoed.stdout).toContain('"secret":"whsec_');
    for (const name of ['first-webhook.json', 'account.json', 'secrets.json'])
      expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
  });

  test('a second start prints the same account in three lines without a command, and retains the data', async () => {
    expect(await stopProcess(running!)).toBe(0);
    const greeting = await start();
    const lines = greeting.split('\n\n')[0]!.split('\n');
    expect(lines).toEqual([
      `  Parcelhook is ready at ${running!.url} and documented at ${running!.url}/docs`,
      expect.stringContaining(`saved in ${join(dataDir, 'account.json')},`),
      expect.stringMatching(/^http\S+#key=\S+$/),
    ]);
    expect(running!.output()).not.toMatch(/curl|npm run/);
    expect(accountIn(greeting)).toEqual(accountIn(firstGreeting));
    expect((await track(greeting)).data).toMatchObject({ trackingId, state: 'DELIVERED' });
  }, 60_000);

  test('after a kill -9 of the service and of its PostgreSQL the next start has everything', async () => {
    running!.kill('SIGKILL');
    killPostmaster();
    await running!.exited;
    const greeting = await start();
    expect(accountIn(greeting)).toEqual(accountIn(firstGreeting));
    expect((await track(greeting)).data).toMatchObject({ trackingId, state: 'DELIVERED' });
  }, 60_000);

  test('a second start on the same folder names the process that uses it, and exits 78', async () => {
    const { exit, stderr } = await runProgram([], { DATA_DIR: dataDir, PORT: '0' });
    expect(exit).toBe(78);
    expect(stderr).toMatch(/^\S.*\n$/);
    expect(stderr).toContain(`process ${running!.pid} uses ${dataDir}. What to do: stop it`);
    expect((await request(`${running!.url}/readyz`)).httpStatus).toBe(200);
  }, 30_000);

  test('without its secrets, or with others, the database is left alone: exit 78, and nothing is created', async () => {
    expect(await stopProcess(running!)).toBe(0);
    const [kept, apart] = [join(dataDir, 'secrets.json'), join(folder.path, 'secrets.json')];
    renameSync(kept, apart);
    const before = readdirSync(dataDir).sort();
    const startAgain = () => runProgram([], { DATA_DIR: dataDir, PORT: '0' });
    const without = await startAgain();
    expect(without).toMatchObject({ exit: 78, stdout: '' });
    expect(without.stderr).toMatch(
      /^\S.*secrets\.json is missing, but .*No new secrets were generated\. Restore the file.*\n$/,
    );
    expect(readdirSync(dataDir).sort()).toEqual(before);

    const own = JSON.parse(readFileSync(apart, 'utf8')) as Record<string, string>;
    writeFileSync(kept, JSON.stringify({ ...own, SECRETS_KEY: 'another'.repeat(5) }));
    const withAnother = await startAgain();
    expect(withAnother.exit).toBe(78);
    expect(withAnother.stderr).toMatch(/^Neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS is the key.*\n$/);
    expect(existsSync(lockFile())).toBe(false);
    writeFileSync(kept, '{"TOKEN_SECRET": ');
    expect(await startAgain()).toMatchObject({
      exit: 78,
      stderr: expect.stringMatching(
        /^\S.*secrets\.json holds no TOKEN_SECRET and no SECRETS_KEY and no OPERATOR_TOKEN/,
      ),
    });

    renameSync(apart, kept);
    expect(accountIn(await start())).toEqual(accountIn(firstGreeting));
  }, 60_000);
});

test('where nothing simulates, the printed commands send the shipment on its way as the operator', async () => {
  const folder = newFolder();
  const receiver = await startReceiver();
  const running = await startProcess({ DATA_DIR: folder.path, PORT: '0', SIMULATE: 'false' });
  try {
    await until('the greeting', () => firstGreetingEnds.test(running.output()));
    await paste(greetingOf(running), receiver.url);
    const states = (await receiver.waitFor(2)).map(({ notification }) => notification.state);
    expect(states).toEqual(['CREATED', 'PICKED_UP']);
  } finally {
    await stopProcess(running);
    await receiver.close();
    folder.remove();
  }
}, 60_000);

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

  test.each([
    ['STATES_FILE', '{"initial": "A", "states": [{"name": "A", "next": ["B"]}]}'],
    ['DROPOFF_FILE', '[]'],
    ['STATES_FILE', 'no JSON'],
  ])('with an unusable data file exits 78 and names %s', async (name, content) => {
    const folder = newFolder();
    const file = join(folder.path, 'file.json');
    writeFileSync(file, content);
    const secrets = {
      TOKEN_SECRET: 'x'.repeat(32),
      SECRETS_KEY: 'x'.repeat(32),
      OPERATOR_TOKEN: 'x'.repeat(16),
    };
    const env = { DATABASE_URL: 'postgres://localhost:1/none', ...secrets, [name]: file };
    const { exit, stderr } = await runProgram([], env);
    folder.remove();
    expect(stderr).toMatch(new RegExp(`^ {2}${name}: `, 'm'));
    expect(exit).toBe(78);
  });
});
