import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';

/** Asks for a password on a terminal and shows nothing of it. Null if the caller ends it with Ctrl-C or Ctrl-D. */
export async function askPassword(
  stdin: Readable,
  stderr: Writable,
  signal: AbortSignal,
): Promise<string | null> {
  stderr.write('Password: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true, signal });
  try {
    return await new Promise((resolve) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () => resolve(null));
      lines.once('close', () => resolve(null));
    });
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
