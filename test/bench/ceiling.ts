import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startReceiverProcess } from './processes.js';

export interface Ceiling {
  perSecond: number;
  /** Of the poster, a post. */
  cpuUs: number;
}

const connections = 100;
const timeoutMs = 120_000;

/** What the same receiver takes from the leanest bare node:http poster on this machine just now. */
export async function measureCeiling(posts: number): Promise<Ceiling> {
  const receiver = await startReceiverProcess();
  try {
    const poster = fileURLToPath(new URL('./poster.ts', import.meta.url));
    const args = ['--import', 'tsx', poster, receiver.url, String(posts), String(connections)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: timeoutMs });
    return JSON.parse(stdout) as Ceiling;
  } finally {
    receiver.stop();
  }
}
