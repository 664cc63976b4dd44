#!/usr/bin/env node
import { version } from './api/generated.js';
import { runListen } from './listen/command.js';

const usage = `Usage: parcelhook listen --forward <url> [options]

  listen     forwards an account's notifications to your own machine; see listen --help
  --version  prints ${version}
`;

const [command, ...args] = process.argv.slice(2);
if (command === 'listen') await runListen(args);
else if (command === '--version') process.stdout.write(`${version}\n`);
else if (command === '--help' || command === '-h') process.stdout.write(usage);
else {
  const unknown = command === undefined ? '' : `Unknown command "${command}".\n\n`;
  process.stderr.write(unknown + usage);
  process.exitCode = 2;
}
