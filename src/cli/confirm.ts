import { createInterface } from 'node:readline/promises';
import { UsageError } from './options.js';
import { printable, write, type Io } from './terminal.js';

export const yesOption = ['--yes', 'do not ask'] as const;

/** Asks before something that cannot be undone, unless `yes` is given. Throws UsageError for any other answer than y or yes. */
export async function confirm(io: Io, question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  await write(io.stderr, printable(`${question} [y/N] `));
  const lines = createInterface({ input: io.stdin });
  try {
    for await (const line of lines) {
      if (/^y(es)?$/i.test(line.trim())) return;
      break;
    }
  } finally {
    lines.close();
  }
  throw new UsageError('Nothing was done. Answer y, or give --yes where nobody is there to answer.');
}
