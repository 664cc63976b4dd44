import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startReceiverProcess } from './processes.js';

export interface Ceiling {
  perSecond: number;
  cpuUs: number;
}

const connections = 100;
const timeoutMs = 120_000;

/** Posted by the leanest node:http client on this machine. */
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
