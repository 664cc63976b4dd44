/** Programs that the documents show, run as their reader would run them. */
import { spawn } from 'node:child_process';
import { until } from '../support/until.js';

export interface Program {
  output(): string;
  kill(): void;
}

/** The first start of a program may compile. */
const startTimeoutMs = 240_000;

const running = new Set<Program>();
export const killPrograms = (): void => running.forEach((program) => program.kill());
process.on('exit', killPrograms);

/** Resolves when the program is ready; rejects if it ends first. */
export async function startProgram(
  command: string,
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
  isReady: (program: Program) => boolean | Promise<boolean>,
): Promise<Program> {
  const child = spawn('sh', ['-c', command], { cwd, env, detached: true }); // a group: npm and reloaders have children
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const program: Program = {
    output: () => output,
    kill() {
      running.delete(program);
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // none of them is left
      }
    },
  };
  running.add(program);
  const check = () => {
    if (child.exitCode !== null) throw new Error('it has ended');
    return isReady(program);
  };
  await until('it is ready', check, startTimeoutMs).catch((error: unknown) => {
    program.kill();
    throw new Error(`${command}: ${String(error)}\n${output}`);
  });
  return program;
}

export const serves = (port: number): Promise<boolean> => post(port, {}, '').then(Boolean, () => false);

/** Resolves with the status of the response. */
export async function post(port: number, headers: Record<string, string>, body: string): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${port}/hook`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  return status;
}
