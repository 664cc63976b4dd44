#!/usr/bin/env node
import { version } from './api/generated.js';
import { listenHere } from './listen/command.js';

const usage = `Usage: parcelhook listen --forward <url> [options]

  listen     forwards an account's notifications to your own machine; listen --help tells its options
  --version  prints ${version}
`;

const [command, ...args] = process.argv.slice(2);
if (command === 'listen') await listenHere(args);
else if (command === '--version') process.stdout.write(`${version}\n`);
else if (command === '--help' || command === '-h') process.stdout.write(usage);
else {
  process.stderr.write(usage);
  process.exitCode = 2;
}
