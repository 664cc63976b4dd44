import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';

/** Asks for a password on a terminal and shows nothing of it. Null if the caller ends it with Ctrl-C or Ctrl-D. */
export function askPassword(stdin: Readable, stderr: Writable, signal: AbortSignal): Promise<string | null> {
  stderr.write('Password: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  return new Promise((resolve) => {
    const end = (password: string | null) => {
      lines.close();
      stderr.write('\n');
      resolve(password);
    };
    lines.once('line', end);
    lines.once('SIGINT', () => end(null));
    lines.once('close', () => resolve(null));
    signal.addEventListener('abort', () => end(null), { once: true });
  });
}
