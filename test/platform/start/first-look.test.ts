/** A newcomer's first start: `npm start` with nothing set, but for the port and the folder, whose name has spaces. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectSound, inBrowser, openBrowser } from '../../portal/browser.js';
import { basic, fromPortal, request, sampleOrder } from '../../support/client.js';
import { untilFound } from '../../support/deliveries.js';
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
  expect(stdout).toMatch(/^ +deliveries due +\d/m); // of the status
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
  const linkIn = (greeting: string) => /^https?:\/\/\S+#key=\S+$/m.exec(greeting)![0];
  const logIn = async (greeting: string) => {
    const { accountKey, email, password } = accountIn(greeting);
    return request(`${running!.url}/v1/login?key=${accountKey}`, {
      headers: { authorization: basic(email, password) },
    });
  };
  const read = async (greeting: string, path: string) => {
    const { token } = (await logIn(greeting)).data as { token: string };
    return request(`${running!.url}${path}?key=${accountIn(greeting).accountKey}`, {
      headers: { authorization: `Bearer ${token}` },
    });
  };
  const track = (greeting: string) => read(greeting, `/v1/shipment-tracking/${trackingId}`);
  const inboxOf = async (greeting: string) =>
    (await read(greeting, '/v1/inbox')).data as { address: string; total: number };

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
  });

  test('from a fresh start, a log-in, a webhook to the inbox and an order are enough to see it arrive verified', async () => {
    const { accountKey: key, email, password } = accountIn(firstGreeting);
    const login = await request(`${running!.url}/v1/session`, {
      body: { key, email, password },
      headers: fromPortal,
    });
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
    const call = (path: string, body?: object) =>
      request(`${running!.url}${path}`, { ...(body && { body }), headers: { ...fromPortal, cookie } });
    const { address } = (await call('/v1/inbox')).data as { address: string };
    const webhook = await call('/v1/webhooks', { interests: ['*'], targetAddress: address });
    const { trackingId } = (await call('/v1/shipments', sampleOrder())).data;
    const inbox = await untilFound(async () => {
      const { data } = await call('/v1/inbox');
      return data.total > 0 && data;
    });
    expect(inbox.items).toMatchObject([{ verified: true, answered: '200' }]);
    expect(JSON.parse(inbox.items[0].body)).toMatchObject({ state: 'CREATED', tracking_id: trackingId });
    // Nothing is left of it for the next tests.
    const { webhookId } = webhook.data as { webhookId: string };
    const remove = (path: string) =>
      request(`${running!.url}${path}`, { method: 'DELETE', headers: { ...fromPortal, cookie } });
    expect((await remove(`/v1/webhooks/${webhookId}`)).httpStatus).toBe(200);
    expect((await remove('/v1/inbox')).httpStatus).toBe(200);
  });

  test('a fresh start raises no alarm before the first job can have come, which it gives a second', () => {
    const timeOf = (message: string) => {
      const line = running!
        .output()
        .split('\n')
        .find((one) => one.includes(message));
      return line === undefined ? Infinity : (JSON.parse(line) as { time: number }).time;
    };
    expect(timeOf('"msg":"health check fails"') - timeOf('"msg":"started"')).toBeGreaterThan(800);
  });

  inBrowser(
    'who opens the greeting’s link logs in with what is filled in, and sees notifications arrive within a minute',
    async () => {
      const { page, close } = await openBrowser(running!);
      try {
        const link = linkIn(firstGreeting);
        const { accountKey: key, email, password } = accountIn(link);
        const sinceMs = Date.now();
        await page.goto(link);
        expect(await page.getByLabel('Account key').inputValue()).toBe(key);
        expect(await page.getByLabel('E-mail').inputValue()).toBe(email);
        expect(await page.getByLabel('Password').inputValue()).toBe(password);
        expect(new URL(page.url()).hash).toBe('');
        const choose = async (name: string) => {
          const inEffect = page.waitForResponse((response) => response.request().method() === 'PATCH');
          await page.getByLabel(name).check();
          await inEffect;
        };
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click();
        await page.getByRole('button', { name: 'Use it as a webhook' }).click();
        await page.getByText('A webhook sends here').waitFor();
        await page.getByRole('button', { name: 'Place a sample order' }).click();
        await page.getByRole('button', { name: 'Simulate its states' }).click();
        const arrived = page.locator('.arrived > li');
        await arrived.filter({ hasText: 'Delivered' }).first().waitFor();
        await until('all states', async () => (await arrived.count()) === 5);
        expect(Date.now() - sinceMs).toBeLessThan(60_000);
        expect(
          await arrived.filter({ hasText: 'Verified' }).filter({ hasNotText: 'Not verified' }).count(),
        ).toBe(5);
        await arrived.first().locator('summary').click();
        await arrived.first().getByText('webhook-signature').waitFor();
        await expectSound(page);

        await choose('Respond 500');
        await page.getByRole('button', { name: 'Place another order' }).click();
        await arrived.filter({ hasText: 'responded 500' }).first().waitFor();
        await choose('Respond 200');
        await page.getByRole('button', { name: 'Empty' }).click();
        await page.getByText('Nothing yet').waitFor();
        await expectSound(page);
        for (const line of running!
          .output()
          .split('\n')
          .filter((text) => text.startsWith('{')))
          for (const secret of [key, password]) expect(line).not.toContain(secret);
      } finally {
        await close();
      }
    },
  );

  inBrowser(
    'the quick start goes on with the webhook of the inbox, and says what the inbox verified',
    async () => {
      const { page, close } = await openBrowser(running!);
      try {
        await page.goto(linkIn(firstGreeting));
        await page.getByText('it is in account.json in DATA_DIR (by default data)').waitFor();
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByRole('button', { name: 'Quick start' }).click();
        await page.getByRole('button', { name: 'Use this webhook' }).click();
        await page.getByRole('button', { name: 'Send another' }).click();
        await page.getByRole('button', { name: 'Send test' }).click();
        await page.getByText(/^Your inbox responded 200 in /).waitFor();
        await page.getByRole('button', { name: 'Place the sample order' }).click();
        await page.locator('.arrivals').getByText('Verified', { exact: true }).waitFor();
        await page.getByText('Done. Your inbox verified a notification.').waitFor();
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByText(/^npm run listen -- --forward http/).waitFor();
        await page.getByText('Run it in the folder of Parcelhook.').waitFor();
        await page.getByText('A server on the machine where Parcelhook runs needs no listen').waitFor();
        const doneSteps = page.getByRole('heading', { level: 2, name: /\(done\)$/ });
        await until('all four steps are done', async () => (await doneSteps.count()) === 4);
        await expectSound(page);
      } finally {
        await close();
      }
    },
  );

  inBrowser(
    'how the inbox responds shows as soon as it is chosen, and goes back if it cannot be set',
    async () => {
      const { page, allow, close } = await openBrowser(running!);
      try {
        await page.goto(linkIn(firstGreeting));
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click();
        const choice = (name: string) => page.getByRole('radio', { name });
        const isChosen = (name: string) => until(`${name} is chosen`, () => choice(name).isChecked());
        await isChosen('Respond 200');
        let letGo = () => {};
        const held = new Promise<void>((resolve) => (letGo = resolve));
        await page.route('**/v1/inbox', async (route) => {
          if (route.request().method() === 'PATCH') await held;
          await route.continue();
        });
        await choice('Respond 410').click();
        await isChosen('Respond 410');
        await page.getByText('the address is gone for good').waitFor();
        const inEffect = page.waitForResponse((response) => response.request().method() === 'PATCH');
        letGo();
        await inEffect;
        await isChosen('Respond 410');
        await page.unroute('**/v1/inbox');

        allow(/Failed to load resource/);
        await page.route('**/v1/inbox', (route) =>
          route.request().method() === 'PATCH' ? route.abort('connectionreset') : route.continue(),
        );
        await choice('Respond 200').click();
        await page.getByText('Parcelhook did not respond.').waitFor();
        await isChosen('Respond 410');
        await page.unroute('**/v1/inbox');
        await choice('Respond 200').click();
        await isChosen('Respond 200');

        allow(/^exception: /);
        await page.route('**/v1/inbox*', (route) => route.fulfill({ json: { data: null } }));
        await choice('Respond 410').click();
        await page.unroute('**/v1/inbox*');
        await isChosen('Respond 200');
      } finally {
        await close();
      }
    },
  );

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

  test('a second start prints the same account in three lines without a command, and retains the data; the inbox has its address, and forgot what arrived', async () => {
    const inbox = await inboxOf(firstGreeting);
    expect((await request(inbox.address, { body: {} })).httpStatus).toBe(200);
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
    const after = await inboxOf(greeting);
    expect(new URL(after.address).pathname).toBe(new URL(inbox.address).pathname);
    expect(after.total).toBe(0);
  });

  test('after a kill -9 of the service and of its PostgreSQL the next start has everything', async () => {
    running!.kill('SIGKILL');
    killPostmaster();
    await running!.exited;
    const greeting = await start();
    expect(accountIn(greeting)).toEqual(accountIn(firstGreeting));
    expect((await track(greeting)).data).toMatchObject({ trackingId, state: 'DELIVERED' });
  });

  test('a second start on the same folder names the process that uses it, and exits 78', async () => {
    const { exit, stderr } = await runProgram([], { DATA_DIR: dataDir, PORT: '0' });
    expect(exit).toBe(78);
    expect(stderr).toMatch(/^\S.*\n$/);
    expect(stderr).toContain(`process ${running!.pid} uses ${dataDir}. What to do: stop it`);
    expect((await request(`${running!.url}/readyz`)).httpStatus).toBe(200);
  });

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
  });
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
});
