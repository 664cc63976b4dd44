import { afterAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { newFolder } from '../support/deployment.js';
import { programFile } from '../support/program.js';
import { until } from '../support/until.js';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const body = JSON.stringify({ state: 'CREATED', tracking_id: 'PH1', label_id: 'é', timestamp: 1 });
const folder = newFolder();
const kills: (() => void)[] = [];
afterAll(() => {
  for (const kill of kills) kill();
  folder.remove();
});

/** `url` appears in its output. */
function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [programFile, 'receiver', ...args], {
    env: { PATH: process.env.PATH, ...env },
  });
  kills.push(() => child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  const exit = (once(child, 'close') as Promise<[number]>).then(([code]) => code);
  const url = async () => {
    await until('it listens', () => output.stdout.includes('\n\n'));
    return /http:\S+/.exec(output.stdout)![0];
  };
  return { child, output, exit, url };
}

/** Signed by the reference library. */
async function post(url: string, by: string, payload = body) {
  const at = new Date();
  const headers = {
    'webhook-id': 'msg.1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign('msg.1', at, payload),
    'parcelhook-sequence': '7',
    'parcelhook-attempt': '2',
  };
  return (await fetch(url, { method: 'POST', headers, body: payload })).status;
}

test('prints notifications; the secret may be added later as the response to creating a webhook', async () => {
  const file = join(folder.path, 'webhook.json');
  const { child, output, exit, url } = start(['--port', '0', '--secret-file', file]);
  expect(await post(await url(), secret)).toBe(200);
  writeFileSync(file, JSON.stringify({ status: 'CREATED', data: { webhookId: 'w', secret } }));
  await post(await url(), secret);
  await post(await url(), newSecret(), '\u001b[2Jbody\u009b1m\u2066');
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
  const printed = output.stdout.split('\n\n').slice(1, 4);
  expect(printed.map((one) => one.split('\n')[0]!.slice(26))).toEqual([
    'no secret given: signature not checked',
    'signature verified',
    'signature WRONG: no signature matches: wrong secret or changed body',
  ]);
  expect(printed[1]).toContain(
    `\n  webhook-id msg.1  parcelhook-sequence 7  parcelhook-attempt 2\n  ${body}`,
  );
  expect(printed[2]).toContain('\\u001b[2Jbody\\u009b1m\\u2066');
});

test('fails when told to, and takes both secrets of a rotation from the environment', async () => {
  const { child, output, exit, url } = start(['--port', '0', '--status', '500', '--delay', '150'], {
    WEBHOOK_SECRET: `${newSecret()}, ${secret}`,
  });
  const address = await url();
  const startMs = performance.now();
  expect(await post(address, secret)).toBe(500);
  expect(performance.now() - startMs).toBeGreaterThan(140);
  child.kill('SIGINT');
  expect(await exit).toBe(0);
  expect(output.stdout).toContain('signature verified');
});

test.each([
  [['--port', 'x'], {}, 'from 0 to 65535'],
  [['--status', '100'], {}, 'from 200 to 599'],
  [['--secret', '!'], {}, 'whsec_'],
  [[], { WEBHOOK_SECRET: '!' }, 'WEBHOOK_SECRET'],
])('%j %j is refused', async (args, env, part) => {
  const { exit, output } = start(args, env);
  expect(await exit).toBe(2);
  expect(output.stderr).toContain(part);
  expect(output.stderr).not.toMatch(/^\s+at /m);
});

test('reports a port in use', async () => {
  const { port } = new URL(await start(['--port', '0']).url());
  const { exit, output } = start(['--port', port]);
  expect(await exit).toBe(1);
  expect(output.stderr).toBe(`Port ${port} is in use: choose another one with --port.\n`);
});
