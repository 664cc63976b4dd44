import { expect } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Runs a command of the built program to its end. Fails if it prints a stack. */
export async function runOperator(args: string[], env: Record<string, string>, stdin = '') {
  const child = spawn(process.execPath, ['dist/main.js', 'operator', ...args], {
    env: { PATH: process.env.PATH, ...env },
  });
  child.stdin.end(stdin);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  expect(stdout + stderr).not.toMatch(/^\s+at .+:\d+/m);
  return { code, stdout, stderr };
}
