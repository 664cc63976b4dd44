import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../../', import.meta.url));
const parts = ['src', 'test', 'dist', 'node_modules', 'package.json', 'package-lock.json', 'tsconfig.json'];

export interface Checkout {
  path: string;
  remove(): void;
}

/** Only its owner may enter, like a clone in root's home. */
export function privateCheckout(): Checkout {
  const path = mkdtempSync(join(project, 'dist.private-')); // here, because links do not cross disks
  const all = [...parts, 'build.config.js', 'jest.config.js', 'LICENSE', 'docs', 'grafana'];
  execFileSync('cp', ['--archive', '--link', ...all, path], { cwd: project });
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

export const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('\n  NOT ROOT: a checkout that only root may enter is NOT TESTED.\n');
