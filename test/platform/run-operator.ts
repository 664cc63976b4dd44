import { expect } from '@jest/globals';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommandLine } from '../../src/cli/main.js';

/** Runs a command of `parcelhook operator`. Fails if it prints a stack. */
export async function runOperator(args: string[], env: Record<string, string>, stdin = '') {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(out), text(err)]);
  const code = await runCommandLine(args, {
    env,
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: out,
    stderr: err,
  });
  out.end();
  err.end();
  const [stdout, stderr] = await printed;
  expect(stdout + stderr).not.toMatch(/^\s+at .+:\d+/m);
  return { code, stdout, stderr };
}
