/** The README is short, the index leads to every page, and the receiver in the README works as pasted. */
import { expect, test } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign } from '../../src/engine/send/headers.js';
import { newSecret } from '../../src/engine/send/sealing.js';
import { codeBlocks, readTracked } from '../support/project-files.js';
import { freePort } from '../support/redis.js';
import { until } from '../support/until.js';

test('the README has at most 1,200 words', () => {
  expect(readTracked('README.md').split(/\s+/).length).toBeLessThanOrEqual(1_200);
});

test('the index of the documents links to each of them', () => {
  const index = readTracked('docs/README.md');
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});

/** A folder with the receiver of the README. */
function writeReceiver(port: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-readme-'));
  const [verify, receiver] = codeBlocks('Receive and verify').map(({ code }) => code);
  expect(receiver).toContain('listen(9001)');
  writeFileSync(join(folder, 'verify.mjs'), verify!);
  writeFileSync(join(folder, 'receiver.mjs'), receiver!.replace('9001', String(port)));
  return folder;
}

test('the receiver in the README without its secret ends at the start, and names the variable', async () => {
  const folder = writeReceiver(await freePort());
  const options = { cwd: folder, env: {}, encoding: 'utf8', timeout: 10_000 } as const;
  const { status, stderr } = spawnSync(process.execPath, ['receiver.mjs'], options);
  rmSync(folder, { recursive: true });
  expect(status).toBe(1);
  expect(stderr).toContain('Set WEBHOOK_SECRET.');
});

test('the receiver in the README takes what is signed with its secret, and nothing else', async () => {
  const port = await freePort();
  const secret = newSecret();
  const folder = writeReceiver(port);
  const child = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  try {
    const body = '{"state":"CREATED","label_id":"Pédido 1"}';
    const seconds = Math.floor(Date.now() / 1_000);
    const post = async (signedWith: string) => {
      const headers = {
        'webhook-id': 'event-1',
        'webhook-timestamp': String(seconds),
        'webhook-signature': sign([signedWith], 'event-1', seconds, body),
      };
      const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
      return response.status;
    };
    await until('the receiver listens', () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ status }) => status === 400,
        () => false,
      ),
    );
    expect([await post(newSecret()), await post(secret)]).toEqual([400, 204]);
    await until('the state is printed', () => printed.includes('CREATED'));
    expect(printed).toBe('CREATED\n');
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
});

test.each(['README.md', 'docs/api.md', 'docs/receiving.md', 'src/client/README.md'])(
  'a shell can parse every command of %s as pasted',
  (path) => {
    for (const [, code] of readTracked(path).matchAll(/^```sh\n([^]*?)^```$/gm)) {
      const { stderr } = spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' });
      expect({ code, stderr }).toEqual({ code, stderr: '' });
    }
  },
);
