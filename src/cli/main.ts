#!/usr/bin/env node
import { listenHere } from '../client/listen/command.js';
import { runOperator } from './program.js';

// Who reads our output may stop early, as `head` does: that is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.exitCode = 1;
  });
}

const args = process.argv.slice(2);
if (args[0] === 'listen') await listenHere(args.slice(1));

const code = await runOperator(args, process);
process.exitCode ??= code;
