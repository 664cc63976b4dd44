import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programFile } from './program.js';

export const operatorToken = 'operator-token-of-the-tests';

export interface RunningProcess {
  url: string;
  pid: number;
  /** Only its end if it is very long. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Exit code, or the signal that ended it. */
  exited: Promise<number | string>;
}

/** Node's options of `npm start`: each build is measured with its own. `file`: its `dist/main.js`. */
export function productionOptions(file: string): string[] {
  const manifest = join(dirname(file), '../package.json');
  const { scripts } = JSON.parse(readFileSync(manifest, 'utf8')) as { scripts: { start: string } };
  const [, options] = /^node (.*)dist\/main\.js$/.exec(scripts.start) ?? [];
  if (options === undefined) throw new Error(`The start script of ${manifest} is not "node … dist/main.js".`);
  return options.split(' ').filter(Boolean);
}

const maxOutputChars = 64 * 1024 ** 2;
const children = new Set<ChildProcess>();

/** Resolves when it listens; rejects with its output. `openFiles`: its `ulimit -n`. */
export async function startProcess(
  env: Record<string, string>,
  role = 'all',
  nodeOptions: string[] = [],
  openFiles?: number,
): Promise<RunningProcess> {
  const program = [process.execPath, ...productionOptions(programFile), ...nodeOptions, programFile, role];
  const limited = ['/bin/sh', '-c', `ulimit -n ${openFiles} && exec "$@"`, 'sh', ...program];
  const [command, ...args] = openFiles === undefined ? program : limited;
  const child = spawn(command!, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.length > maxOutputChars) output = output.slice(-maxOutputChars / 2);
    });
  const exited = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => {
      children.delete(child);
      resolve(code ?? signal ?? 'unknown');
    }),
  );
  const running = {
    url: '',
    pid: child.pid as number,
    output: () => output,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    exited,
  };
  const until = Date.now() + 60_000; // a start takes half a second, or much longer on a busy machine
  for (;;) {
    const url = /"url":"([^"]+)"[^\n]*"msg":"started"/.exec(output)?.[1];
    if (url) return { ...running, url };
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`the service did not start:\n${output}`);
    }
    await sleep(20);
  }
}

export async function stopProcess(running: RunningProcess): Promise<number | string> {
  running.kill('SIGTERM');
  const exit = await Promise.race([running.exited, sleep(20_000, 'late')]);
  if (exit === 'late') running.kill('SIGKILL');
  return exit;
}

// A failed test leaves no process behind.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
