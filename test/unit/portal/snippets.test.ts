/** Runs what the quick start tells people to paste. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { sign } from '../../../src/client/signature.js';
import { logInCommand } from '../../../src/http/docs/curl.js';
import { sampleOrder } from '../../../src/roles/greeting.js';
import { orderCommand, verifySnippets } from '../../../src/portal/places/quick-start/snippets.js';

const folder = mkdtempSync(path.join(tmpdir(), 'snippets-'));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const nowSeconds = Math.floor(Date.now() / 1_000);
const body = '{"state":"CREATED","note":"Pédido"}';
const signedAt = (seconds: number) => [String(seconds), sign(secret, 'event-1', seconds, body)];

const drivers = {
  'Node.js': {
    file: 'verify.mjs',
    run: 'const [t, s, b] = process.argv.slice(2);\nconsole.log(verify({ "webhook-id": "event-1", "webhook-timestamp": t, "webhook-signature": s }, Buffer.from(b), process.env.WEBHOOK_SECRET));',
    command: process.execPath,
  },
  Python: {
    file: 'verify.py',
    run: 'import os, sys\nt, s, b = sys.argv[1:]\nprint(str(verify({"webhook-id": "event-1", "webhook-timestamp": t, "webhook-signature": s}, b.encode(), os.environ["WEBHOOK_SECRET"])).lower())',
    command: 'python3',
  },
};

describe.each(Object.keys(verifySnippets) as (keyof typeof verifySnippets)[])(
  'the code in %s',
  (language) => {
    const { file, run, command } = drivers[language];
    const isInstalled = spawnSync(command, ['--version']).error === undefined;
    const verdict = (fields: string[], given: string) => {
      writeFileSync(path.join(folder, file), `${verifySnippets[language]}\n\n${run}\n`);
      const env = { ...process.env, WEBHOOK_SECRET: secret };
      const args = [path.join(folder, file), ...fields, given];
      return execFileSync(command, args, { env, encoding: 'utf8' }).trim();
    };
    (isInstalled ? test : test.skip)('verifies what was signed, and nothing else', () => {
      expect(verdict(signedAt(nowSeconds), body)).toBe('true');
      expect(verdict(signedAt(nowSeconds), `${body} `)).toBe('false');
      expect(verdict(signedAt(nowSeconds - 900), body)).toBe('false');
    });
  },
);

describe('the first order', () => {
  const order = sampleOrder(Date.parse('2026-11-25T12:00:00Z'));

  test('has its dates in the future, and in their order', () => {
    expect(order.shipperDropoffDate).toBe('2026-11-26T12:00:00.000Z');
    expect(order.expectedDeliveryDate > order.shipperDropoffDate).toBe(true);
  });

  test('says so when its log-in fails, and leaves no token', async () => {
    const server = createServer((_, response) =>
      response.writeHead(401).end('{"error":"INVALID_CREDENTIALS"}'),
    );
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const logIn = async () => {
      const script = `URL=http://127.0.0.1:${port} KEY=key\n${logInCommand('you@example.com:wrong')}\nprintf %s "$TOKEN"`;
      return promisify(execFile)('sh', ['-c', script]);
    };
    expect(await logIn()).toEqual({ stdout: '', stderr: expect.stringContaining('401') });
    await new Promise((done) => server.close(done));
    expect(await logIn()).toEqual({ stdout: '', stderr: expect.stringMatching(/^curl: /) });
  });

  test('is one argument of the command, whatever is in it', () => {
    const quoted = { ...order, shipperTrackingId: "it's $HOME `id`" };
    const script = orderCommand('http://localhost:8080', 'key', 'you@example.com', quoted)
      .replace(/^TOKEN=.*$/m, 'TOKEN=token')
      .replace('\ncurl ', '\nprintf "%s\\n" ');
    const printed = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
    expect(JSON.parse(printed.at(-1)!)).toEqual(quoted);
  });
});
