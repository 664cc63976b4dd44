import { runOperator } from './program.js';

/** The operator's command line, in this process. */
export async function operateHere(args: string[]): Promise<void> {
  // The reader of our output may stop early, as `head` does: that is no error.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') process.exitCode = 1;
    });
  }
  const code = await runOperator(args, process);
  process.exitCode ??= code;
}
