import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface RawClients {
  url: string;
  connections: number;
  /** What each sends in one piece, so many times over. */
  text: string;
  repeat: number;
  /** Whether they read what they are answered. */
  reads: boolean;
  /** The piece is one request: sent again after each answer, and on another connection where one has ended. */
  again: boolean;
}

/** Starts them in a process of their own; `stop` resolves with how often they were answered what. */
export function startRawClients(clients: RawClients): { stop(): Promise<string> } {
  const child = fork(fileURLToPath(new URL('./raw-clients.ts', import.meta.url)), [], {
    execArgv: ['--import', 'tsx'],
    env: { PATH: process.env.PATH ?? '' },
  });
  child.send(clients);
  return {
    stop: async () => {
      const answered = once(child, 'message') as Promise<[Record<string, number>]>;
      child.send('stop');
      const [counts] = await answered;
      child.kill();
      return Object.entries(counts)
        .map(([status, count]) => `${count} × ${status}`)
        .join(', ');
    },
  };
}
