import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface RawClients {
  url: string;
  connections: number;
  text: string;
  repeat: number;
  reads: boolean;
  /** The piece is one request: sent again after each response, on a new connection if the old one has ended. */
  again: boolean;
  /** Sent after the piece again and again, by all together at 100 Mbit/s. */
  pours?: string;
}

/** Runs them in their own process; `stop` resolves with the count of each response. */
export function startRawClients(clients: RawClients): { stop(): Promise<string> } {
  const child = fork(fileURLToPath(new URL('./raw-clients.ts', import.meta.url)), [], {
    execArgv: ['--import', 'tsx'],
    env: { PATH: process.env.PATH ?? '' },
  });
  child.send(clients);
  return {
    stop: async () => {
      const replied = once(child, 'message') as Promise<[Record<string, number>]>;
      child.send('stop');
      const [counts] = await replied;
      child.kill();
      return Object.entries(counts)
        .map(([status, count]) => `${count} × ${status}`)
        .join(', ');
    },
  };
}
