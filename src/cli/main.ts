#!/usr/bin/env node
import { runOperator } from './program.js';

// Who reads our output may stop early, as `head` does: that is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.exitCode = 1;
  });
}

const code = await runOperator(process.argv.slice(2), process);
process.exitCode ??= code;
