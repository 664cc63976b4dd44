import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Account } from '../support/client.js';
import { until } from '../support/until.js';

export type Line = { type: string } & Record<string, any>;

export interface Listener {
  /** Printed with `--json`. */
  lines(type?: string): Line[];
  output(): string;
  errors(): string;
  /** Exit code, or the signal that ended it. */
  exited: Promise<number | string>;
  end(signal?: NodeJS.Signals): Promise<{ code: number | string; afterMs: number }>;
}

const program = fileURLToPath(new URL('../../dist/client/parcelhook.js', import.meta.url));

const running = new Set<() => void>();
process.on('exit', () => running.forEach((kill) => kill()));

export function runListen(args: string[], env: Record<string, string>, script = program): Listener {
  const child = spawn(process.execPath, [script, 'listen', ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => void child.kill('SIGKILL');
  running.add(kill);
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const exited = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => {
      running.delete(kill);
      resolve(code ?? signal ?? 'unknown');
    }),
  );
  const lines = (type?: string) =>
    output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => type === undefined || line.type === type);
  async function end(signal: NodeJS.Signals = 'SIGINT') {
    const startedAt = Date.now();
    child.kill(signal);
    return { code: await exited, afterMs: Date.now() - startedAt };
  }
  return { lines, output: () => output, errors: () => errors, exited, end };
}

export const credentials = (url: string, { accountKey, email, password }: Account) => ({
  PARCELHOOK_URL: url,
  PARCELHOOK_KEY: accountKey,
  PARCELHOOK_EMAIL: email,
  PARCELHOOK_PASSWORD: password,
});

/** Starts it with `--json`; resolves when it listens. */
export async function startListener(
  url: string,
  account: Account,
  forward: string,
  args: string[] = [],
  script?: string,
): Promise<Listener> {
  const env = credentials(url, account);
  const listener = runListen(['--forward', forward, '--json', ...args], env, script);
  await until('the listener is ready', () => listener.lines('listening').length === 1, 60_000);
  return listener;
}
