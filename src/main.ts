#!/usr/bin/env node
import { ConfigError, describeError } from './platform/errors.js';
import { version } from './version.js';

const exitCode = { usage: 64, config: 78, failure: 1 }; // sysexits.h

const help = `Parcelhook ${version}: webhook relay and notification gateway for shipments

Usage: parcelhook [command]

The service:
  all        API and worker in one process (default)
  api        takes orders and requests
  worker     creates shipments, fans out, delivers and sweeps
  migrate    brings the schema up to date, and ends

Besides it:
  operator   the operator's command line: shippers, users, state events, status
  listen     forwards an account's notifications to your own machine
  receiver   prints the notifications that arrive and whether their signatures verify

operator, listen and receiver list their options with --help.
The service is set by environment variables: see README.md, "Configuration".
Without DATABASE_URL an embedded PostgreSQL runs under DATA_DIR (./data).
`;

/** Each command is loaded when it is run, so none loads the code of the others. */
const commands: Record<string, (args: string[]) => Promise<unknown>> = {
  all: alone(async () => (await import('./serve.js')).serve('all')),
  api: alone(async () => (await import('./serve.js')).serve('api')),
  worker: alone(async () => (await import('./serve.js')).serve('worker')),
  migrate: alone(async () => (await import('./migrating.js')).migrateHere()),
  operator: async (args) => (await import('./cli/main.js')).operateHere(args),
  listen: async (args) => (await import('./client/listen/command.js')).listenHere(args),
  receiver: async (args) => (await import('./receiver/main.js')).receiveHere(args),
};

/** For a command that takes no arguments. */
function alone(run: () => Promise<unknown>): (args: string[]) => Promise<unknown> {
  return async (args) => {
    if (isHelp(args[0])) return void process.stdout.write(help);
    if (args.length > 0)
      fail(exitCode.usage, `One command at a time, not "${args.join(' ')}" too.\n\n${help}`);
    await run();
  };
}

const isHelp = (argument: string | undefined) => argument === '--help' || argument === '-h';

async function main([name = 'all', ...args]: string[]): Promise<void> {
  if (isHelp(name) || name === 'help') return void process.stdout.write(help);
  if (name === '--version') return void process.stdout.write(`${version}\n`);
  if (!Object.hasOwn(commands, name)) fail(exitCode.usage, `Unknown command "${name}".\n\n${help}`);
  await commands[name]!(args);
}

function fail(code: number, message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof ConfigError) fail(exitCode.config, error.message);
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE' && port !== undefined) {
    const variable = String(port) === process.env.METRICS_PORT ? 'METRICS_PORT' : 'PORT';
    fail(exitCode.failure, `Port ${port} is in use: set ${variable} to another one.`);
  }
  fail(exitCode.failure, `Parcelhook could not start: ${describeError(error)}`);
});
