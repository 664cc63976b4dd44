/** The examples in the README of the package for Node, run as one program. */
import { afterAll, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sign } from '../../src/engine/send/headers.js';
import { newSecret } from '../../src/engine/send/sealing.js';
import { newProgram, registerAccount } from '../support/client.js';
import { freePort } from '../support/redis.js';
import { sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

const service = await sharedService();
const account = await registerAccount(service);
const folder = mkdtempSync(join(tmpdir(), 'parcelhook-readme-'));
let program: ChildProcess;
afterAll(() => {
  program?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const readme = readFileSync('src/client/README.md', 'utf8');
const python = readFileSync('src/client/python/README.md', 'utf8');
const headings = (text: string) => [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!);

test('both READMEs tell one story, in the same order', () => {
  const story = headings(readme).slice(0, 7);
  expect(story.at(0)).toBe('A client');
  expect(story.at(-1)).toBe('Errors');
  expect(headings(python).slice(0, 7)).toEqual(story);
});

test('goes from an order to the notification of its cancellation as its README shows', async () => {
  const [secret, verifying, receiving] = [newSecret(), await freePort(), await freePort()];
  const { token } = await newProgram(service, account, { scopes: ['orders', 'webhooks', 'read'] });
  const code = [...readme.matchAll(/^```js\n([\s\S]*?)^```$/gm)]
    .map(([, example]) => example!)
    .join('\n')
    .replaceAll('http://localhost:8080', service.url)
    .replaceAll('<token>', token)
    .replaceAll('whsec_…', secret)
    .replace('https://example.com/hook', `http://127.0.0.1:${receiving}/`)
    .replace('listen(3000)', `listen(${verifying}, '127.0.0.1')`)
    .replace('listen(3001)', `listen(${receiving}, '127.0.0.1')`);
  mkdirSync(join(folder, 'node_modules/@parcelhook'), { recursive: true });
  symlinkSync(resolve('dist/client'), join(folder, 'node_modules/@parcelhook/client'));
  symlinkSync(resolve('node_modules/express'), join(folder, 'node_modules/express'));
  writeFileSync(join(folder, 'program.mjs'), code);
  program = spawn(process.execPath, ['program.mjs'], { cwd: folder, env: { WEBHOOK_SECRET: secret } });
  let printed = '';
  for (const stream of [program.stdout!, program.stderr!])
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const prints = (form: RegExp) =>
    until(`${form} in\n${printed}`, () => {
      if (program.exitCode !== null) throw new Error(printed);
      return form.test(printed);
    });

  await prints(/^CREATED$/m);
  await prints(/^interests: .*\nmaxPerSecond: /m);
  await prints(/^PH\w+ \d+ CANCELLED [0-9a-f-]{36} null$/m);
  await prints(/^done up to \S+$/m);
  const { shipments } = (await account.call('/v1/shipments')).data;
  expect(shipments).toMatchObject([{ shipperTrackingId: 'ORDER-1001', state: 'CANCELLED' }]);
  expect((await account.call('/v1/webhooks')).data.webhooks).toMatchObject([{ name: 'orders-production' }]);

  const body = '{"state":"LOST"}';
  const seconds = Math.floor(Date.now() / 1_000);
  const post = async (signedWith: string) => {
    const headers = {
      ...{ 'content-type': 'application/json', 'webhook-id': 'e-1', 'webhook-timestamp': String(seconds) },
      'webhook-signature': sign([signedWith], 'e-1', seconds, body),
    };
    return (await fetch(`http://127.0.0.1:${verifying}/hook`, { method: 'POST', headers, body })).status;
  };
  expect([await post(secret), await post(newSecret())]).toEqual([204, 400]);
  await prints(/^LOST e-1$/m);
});
