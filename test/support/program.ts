import { spawn } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const programFile = join(root, 'dist/main.js');

export interface Ended {
  /** Exit code, or the signal that ended it. */
  exit: number | string;
  stdout: string;
  stderr: string;
}

/** Ended by itself or by a SIGTERM sent when `stopWhen` resolves; killed after `timeoutMs`. */
export function runProgram(
  args: string[],
  env: Record<string, string> = {},
  options: {
    program?: string;
    input?: string;
    onStdout?: (text: string) => void;
    onStderr?: (text: string) => void;
    stopWhen?: Promise<unknown>;
    timeoutMs?: number;
  } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [options.program ?? programFile, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    timeout: options.timeoutMs ?? 60_000,
    killSignal: 'SIGKILL',
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    options.onStdout?.(stdout);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    options.onStderr?.(stderr);
  });
  child.stdin.end(options.input ?? '');
  void options.stopWhen?.then(() => child.kill('SIGTERM'));
  return new Promise((resolve) =>
    child.once('close', (code, signal) => resolve({ exit: code ?? signal ?? 'unknown', stdout, stderr })),
  );
}

/** Migrations are editable in `src/migrations`; returns the file to run. */
export function copyOfProgram(folder: string): string {
  cpSync(join(root, 'dist/main.js'), join(folder, 'dist/main.js'));
  for (const part of ['dist/shared', 'src/migrations', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'dist/main.js');
}
