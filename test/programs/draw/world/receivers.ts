import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Closing } from '../../chaos/world/engines.js';
import type { Answering } from './receivers-process.js';

export type Behaviour = Answering | 'dead';

/** Nobody listens there: a connection is refused. */
const deadUrl = 'http://127.0.0.1:9/dead';

/** They run in a process of their own: receivers are to be as quick while this one draws. */
export async function startReceivers(closing: Closing): Promise<(behaviour: Behaviour, n: number) => string> {
  const program = fileURLToPath(new URL('./receivers-process.ts', import.meta.url));
  const child = fork(program, { execArgv: ['--import', 'tsx'] });
  closing.push(() => child.kill('SIGKILL'));
  const [port] = (await once(child, 'message')) as [number];
  return (behaviour, n) =>
    behaviour === 'dead' ? `${deadUrl}/${n}` : `http://127.0.0.1:${port}/${behaviour}/${n}`;
}
