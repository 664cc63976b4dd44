import { afterEach, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { startReceiver, type Received, type ReceiverOptions } from '../../src/receiver/server.js';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const body = JSON.stringify({ state: 'CREATED', tracking_id: 'PH1', label_id: 'é', timestamp: 1 });

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function open(options: Partial<ReceiverOptions> = {}) {
  const received: Received[] = [];
  const receiver = await startReceiver({
    port: 0,
    httpStatus: 200,
    delayMs: 0,
    secrets: () => [secret],
    onNotification: (notification) => received.push(notification),
    ...options,
  });
  closers.push(receiver.close);
  return { received, url: `http://127.0.0.1:${receiver.port}/` };
}

/** Signs by the reference library, with each of the secrets. */
function signed(secrets: string[], { id = 'msg.1', at = new Date(), payload = body } = {}) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((each) => new Webhook(each).sign(id, at, payload)).join(' '),
  };
}

async function post(url: string, headers: Record<string, string>, payload: string | Buffer = body) {
  const request = http.request(url, { method: 'POST', headers, agent: false });
  request.end(payload);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('signatures', () => {
  const fiveMinutesMs = 300_000;
  const cases: [string, Record<string, string>, Received['signature']][] = [
    ['of the secret', signed([secret]), 'VERIFIED'],
    ['two during a rotation, ours second', signed([newSecret(), secret]), 'VERIFIED'],
    ['two during a rotation, ours first', signed([secret, newSecret()]), 'VERIFIED'],
    ['of another secret', signed([newSecret()]), 'WRONG'],
    ['of another body', signed([secret], { payload: body.replace('CREATED', 'LOST') }), 'WRONG'],
    ['of another id', { ...signed([secret]), 'webhook-id': 'msg.2' }, 'WRONG'],
    ['of another time', { ...signed([secret]), 'webhook-timestamp': '1' }, 'WRONG'],
    ['too old', signed([secret], { at: new Date(Date.now() - fiveMinutesMs - 5_000) }), 'WRONG'],
    ['too far ahead', signed([secret], { at: new Date(Date.now() + fiveMinutesMs + 60_000) }), 'WRONG'],
    ['old, but within tolerance', signed([secret], { at: new Date(Date.now() - 240_000) }), 'VERIFIED'],
    ['of another version', v2(signed([secret])), 'WRONG'],
    ['missing', { 'webhook-id': 'msg.1', 'webhook-timestamp': '1' }, 'WRONG'],
    ['without an id', { ...signed([secret]), 'webhook-id': '' }, 'WRONG'],
  ];

  function v2(headers: ReturnType<typeof signed>) {
    return { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') };
  }

  test.each(cases)('%s', async (_name, headers, verdict) => {
    const { received, url } = await open();
    expect(await post(url, headers)).toBe(200);
    expect(received).toMatchObject([{ signature: verdict }]);
    expect('problem' in received[0]!).toBe(verdict === 'WRONG');
  });

  test('a receiver with both secrets of a rotation accepts either', async () => {
    const next = newSecret();
    const { received, url } = await open({ secrets: () => [secret, next] });
    await post(url, signed([secret]));
    await post(url, signed([next]));
    expect(received.map(({ signature }) => signature)).toEqual(['VERIFIED', 'VERIFIED']);
  });

  test('the body is verified byte by byte', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    const { received, url } = await open();
    await post(url, signed([secret]), bytes);
    expect(received).toMatchObject([{ signature: 'WRONG' }]);
  });
});

describe('the server', () => {
  test('reports notifications, even without a secret', async () => {
    const { received, url } = await open({ secrets: () => [], httpStatus: 503 });
    const headers = { ...signed([secret]), 'parcelhook-attempt': '2', 'parcelhook-sequence': '7' };
    expect(await post(url, headers)).toBe(503);
    expect(received).toEqual([
      {
        webhookId: 'msg.1',
        attempt: 2,
        sequence: 7,
        state: 'CREATED',
        trackingId: 'PH1',
        signature: 'NOT_CHECKED',
        body: JSON.parse(body) as object,
      },
    ]);
  });

  test('accepts bodies up to 1 MiB and only POST', async () => {
    const { received, url } = await open();
    expect(await post(url, {}, 'x'.repeat(1024 * 1024))).toBe(200);
    expect(await post(url, {}, 'x'.repeat(1024 * 1024 + 1))).toBe(413);
    expect((await fetch(url)).status).toBe(405);
    expect(received).toHaveLength(1);
  });

  test('waits before it responds', async () => {
    const { url } = await open({ delayMs: 150 });
    const startMs = performance.now();
    await post(url, {});
    expect(performance.now() - startMs).toBeGreaterThan(140);
  });
});

describe('the program', () => {
  /** Starts it as a process; `url` is from its output. */
  function start(args: string[], env: Record<string, string> = {}) {
    const child: ChildProcess = spawn(process.execPath, ['dist/main.js', 'receiver', ...args], {
      env: { PATH: process.env.PATH, ...env },
    });
    closers.push(() => child.kill('SIGKILL'));
    const output = { stdout: '', stderr: '' };
    child.stdout!.on('data', (chunk) => (output.stdout += String(chunk)));
    child.stderr!.on('data', (chunk) => (output.stderr += String(chunk)));
    const closed = once(child, 'close') as Promise<[number]>;
    const exit = closed.then(([code]) => code);
    const url = async () => {
      for (;;) {
        const found = /http:\/\/127[^ ]+/.exec(output.stdout + output.stderr);
        if (found) return found[0];
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    return { child, output, exit, url };
  }

  test('prints notifications; the secret may be added later as the response to creating a webhook', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parcelhook-receiver-'));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'webhook.json');
    const { child, output, exit, url } = start(['--port', '0', '--secret-file', file]);
    await post(await url(), signed([secret]));
    writeFileSync(file, JSON.stringify({ status: 'CREATED', data: { webhookId: 'w', secret } }));
    await post(await url(), signed([secret]));
    await post(await url(), signed([newSecret()]), '\u001b[2Jbody');
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(output.stdout).toMatch(/CREATED {2}PH1 {2}no secret given: signature not checked\n/);
    expect(output.stdout).toMatch(/CREATED {2}PH1 {2}signature verified\n/);
    expect(output.stdout).toMatch(/signature WRONG: no signature matches/);
    expect(output.stdout).toContain('\\u001b[2Jbody');
    expect(output.stdout).toContain('Notifications: 3 (verified 1, wrong 1, not checked 1)');
  });

  test('--json prints a line per notification and nothing else; secrets come from the environment', async () => {
    const { child, output, exit, url } = start(['--port', '0', '--json', '--status', '500'], {
      WEBHOOK_SECRET: `${newSecret()}, ${secret}`,
    });
    expect(await post(await url(), signed([secret]))).toBe(500);
    child.kill('SIGINT');
    setTimeout(() => child.kill('SIGINT'), 1); // the same Ctrl-C, through npm
    expect(await exit).toBe(0);
    expect(JSON.parse(output.stdout)).toMatchObject({ webhookId: 'msg.1', signature: 'VERIFIED' });
    expect(output.stderr).toContain('Notifications: 1 (verified 1,');
  });

  test.each([
    [['--port', 'x'], {}, 2, 'from 0 to 65535'],
    [['--status', '100'], {}, 2, 'from 200 to 599'],
    [['--secret', '!'], {}, 2, 'whsec_'],
    [[], { WEBHOOK_SECRET: '!' }, 2, 'WEBHOOK_SECRET: '],
    [['--help'], {}, 0, ''],
  ])('%j %j exits %d', async (args, env, code, part) => {
    const { exit, output } = start(args, env);
    expect(await exit).toBe(code);
    expect(output.stderr).toContain(part);
    expect(output.stderr).not.toMatch(/^\s+at /m);
    if (code === 0) expect(output.stdout).toContain('Examples:');
  });

  test('reports a port in use', async () => {
    const { url } = await open();
    const { port } = new URL(url);
    const { exit, output } = start(['--port', port]);
    expect(await exit).toBe(1);
    expect(output.stderr).toBe(`Port ${port} is in use: choose another one with --port.\n`);
  });
});
