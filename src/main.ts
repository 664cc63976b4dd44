#!/usr/bin/env node
import { helpWidth, wrapped } from './client/listen/text.js';
import { ConfigError, describeError } from './platform/errors.js';
import { version } from './platform/version.js';

const exitCode = { usage: 64, config: 78, failure: 1 }; // sysexits.h

const helpText = `Parcelhook ${version}: a webhook relay for shipments

Usage: parcelhook [command]

The service:
  all        API and worker in one process (default)
  api        serves the API
  worker     creates shipments, fans out, delivers and sweeps
  migrate    brings the schema up to date and exits

Other programs:
  operator   the operator's command line: shippers, users, state events, status
  listen     forwards an account's notifications to your own machine
  receiver   prints the notifications that arrive and whether their signatures verify

operator, listen and receiver list their options with --help.
Environment variables configure the service: see docs/configuration.md.
Without DATABASE_URL an embedded PostgreSQL runs under DATA_DIR (./data).
`;

const help = wrapped(helpText, helpWidth(process.stdout, process.env));

/** Commands are loaded on use, so none loads the code of another. */
const commands: Record<string, (args: string[]) => Promise<unknown>> = {
  all: withoutArguments(async () => (await import('./roles/serve.js')).serve('all')),
  api: withoutArguments(async () => (await import('./roles/serve.js')).serve('api')),
  worker: withoutArguments(async () => (await import('./roles/serve.js')).serve('worker')),
  migrate: withoutArguments(async () => (await import('./roles/migrate.js')).runMigrations()),
  operator: async (args) => (await import('./cli/main.js')).runOperator(args),
  listen: async (args) => (await import('./client/listen/command.js')).runListen(args),
  receiver: async (args) => (await import('./receiver.js')).runReceiver(args),
};

function withoutArguments(run: () => Promise<unknown>): (args: string[]) => Promise<unknown> {
  return async (args) => {
    if (isHelp(args[0])) return void process.stdout.write(help);
    if (args.length > 0)
      fail(exitCode.usage, `This command takes no arguments, but got "${args.join(' ')}".\n\n${help}`);
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
    fail(exitCode.failure, `Port ${port} is in use: set ${variable} to another port.`);
  }
  fail(exitCode.failure, `Parcelhook could not start: ${describeError(error)}`);
});
