import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compose } from '../support/compose.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Ran {
  /** 0 when it did what it should; a search that finds nothing counts as that. */
  exit: number;
  stdout: string;
  stderr: string;
}

export interface Shell {
  /** Where the commands run: a checkout with a built program, and space for their files. */
  folder: string;
  logFile: string;
  /** Fills placeholders in; answers what the command asks with yes. */
  run(command: string): Promise<Ran>;
  remove(): void;
}

/**
 * `env` is set for the commands, and for programs that would run in a container. `programs` are folders that are looked
 * into first. `fill` gives the value of a placeholder, such as deliveryId; it throws where it knows none.
 */
export function openShell(
  env: Record<string, string>,
  fill: (name: string) => string | Promise<string>,
  programs: string[] = [],
): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-runbook-'));
  chmodSync(folder, 0o755);
  const logFile = join(folder, 'service.log');
  for (const part of ['package.json', 'dist']) symlinkSync(join(root, part), join(folder, part));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const docker = `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'test/docs/docker.js')}" "$@"\n`;
  writeFileSync(join(bin, 'docker'), docker, { mode: 0o755 });
  const services = Object.fromEntries(
    Object.entries(compose.services).map(([name, { environment = {} }]) => [name, Object.keys(environment)]),
  );
  const standIn = JSON.stringify({ services, root, logFile, env });
  const path = [bin, ...programs, process.env.PATH ?? ''].join(':');
  const environment = { ...env, PATH: path, HOME: folder, DOCKER_STAND_IN: standIn };

  return {
    folder,
    logFile,
    run: async (command) => {
      const script = `set -euo pipefail\ngrep() { command grep "$@" || [ $? -eq 1 ]; }\n${await filledIn(command, fill)}`;
      return new Promise((resolve) => {
        const options = { cwd: folder, env: environment, timeout: 50_000, maxBuffer: 64 * 1024 ** 2 };
        const child = execFile('bash', ['-c', script], options, (error, stdout, stderr) =>
          resolve({ exit: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
        );
        child.stdin!.on('error', () => undefined).end(/ (erase|remove) /.test(command) ? 'y\n' : '');
      });
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function filledIn(command: string, fill: (name: string) => string | Promise<string>): Promise<string> {
  let filled = command;
  for (const [placeholder, name] of command.matchAll(/<(\w+)>/g))
    filled = filled.replace(placeholder, await fill(name!));
  return filled;
}
