import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Closing } from '../world/engines.js';
import type { Entry, Hook } from '../model.js';
import type { PathOptions } from './receiver.js';

/** Long enough for many to be in flight at any time. */
const respondAfterMs = 100;
/** Far more than makes a receiver slow. */
export const slowResponseAfterMs = 3_000;

export async function startReceiver(journalFile: string, closing: Closing) {
  const child: ChildProcess = fork(fileURLToPath(new URL('./receiver.ts', import.meta.url)), [journalFile], {
    execArgv: ['--import', 'tsx'],
  });
  closing.push(() => child.kill());
  const [port] = (await once(child, 'message')) as [number];
  return {
    url: `http://127.0.0.1:${port}/`,
    expect: async (seed: number, hooks: Hook[], closes: boolean) => {
      const paths: PathOptions[] = hooks.map(({ path, secret }) => ({
        path,
        secret,
        failing: path.endsWith('-flaky') ? 0.1 : 0.002,
        respondAfterMs: path.endsWith('-slow') ? slowResponseAfterMs : respondAfterMs,
      }));
      child.send({ seed, paths, closes });
      await once(child, 'message');
    },
    journal: () =>
      readFileSync(journalFile, 'utf8')
        .trimEnd()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Entry),
  };
}
