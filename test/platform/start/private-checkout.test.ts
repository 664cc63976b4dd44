/** The README's commands, as root in a checkout that no other user may enter. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../../../', import.meta.url));
const parts = ['src', 'test', 'dist', 'node_modules', 'package.json', 'package-lock.json', 'tsconfig.json'];

interface Checkout {
  path: string;
  remove(): void;
}

/** Only its owner may enter, like a clone in root's home. */
function privateCheckout(): Checkout {
  const path = mkdtempSync(join(project, 'dist.private-')); // here, because links do not cross disks
  const all = [...parts, 'build.config.js', 'jest.config.js', 'LICENSE', 'docs', 'grafana'];
  execFileSync('cp', ['--archive', '--link', ...all, path], { cwd: project });
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('\n  NOT ROOT: a checkout that only root may enter is NOT TESTED.\n');

(isRoot ? describe : describe.skip)('in a checkout that only root may enter', () => {
  let checkout: Checkout;
  beforeAll(() => void (checkout = privateCheckout()));
  afterAll(() => checkout.remove());

  /** The build is there already. */
  const run = (program: string, ...args: string[]) =>
    new Promise<{ code: number; printed: string }>((resolve) => {
      const env = { ...process.env, TEST_WORKERS: '1', TMPDIR: checkout.path };
      execFile(program, args, { cwd: checkout.path, env, timeout: 55_000 }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, printed: stdout + stderr }),
      );
    });

  test.concurrent('npm start starts it', async () => {
    const child = spawn('npm', ['start'], {
      cwd: checkout.path,
      env: { PATH: process.env.PATH, PORT: '0' },
      detached: true, // its own process group: npm does not forward every signal
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
    const exited = once(child, 'exit');
    while (!printed.includes('Parcelhook is ready') && child.exitCode === null)
      await Promise.race([once(child.stdout, 'data'), exited]);
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGINT');
    await exited;
    expect(printed).toContain('Parcelhook is ready at http://localhost:');
  });

  test.concurrent('npm test starts its engines', async () => {
    const path = 'test/unit/platform/values.test.ts';
    expect(await run('npm', 'test', '--ignore-scripts', '--', path)).toMatchObject({ code: 0 });
  });

  test.concurrent('the bench starts its engines', async () => {
    const bench = ['--import', 'tsx', 'test/programs/bench/main.ts', '--quick', '--only', 'ceiling'];
    const { code, printed } = await run(process.execPath, ...bench);
    expect(printed).toMatch(/^ceiling .* a post$/m);
    expect(code).toBe(0);
  });
});
