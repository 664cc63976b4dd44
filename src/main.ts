#!/usr/bin/env node
import { startApp, type App } from './app.js';
import { completeConfig, parseConfig, requireSecretsDiffer, type Config } from './config/config.js';
import { generatedSecrets } from './config/generated-secrets.js';
import { greet } from './greeting.js';
import { prepareFolder } from './platform/embedded/folder.js';
import { startEmbeddedPostgres } from './platform/embedded/index.js';
import { ConfigError, describeError } from './platform/errors.js';
import { createLogger, type Logger } from './platform/logger.js';
import type { Role } from './resources.js';
import { version } from './version.js';

const exitCode = { usage: 64, config: 78, failure: 1 }; // sysexits.h
/** How long a start may go on after SIGTERM, to end in good order. */
const startGraceMs = 3_000;
const roles: readonly string[] = ['all', 'api', 'worker'];

const help = `Parcelhook ${version}: webhook relay and notification gateway for shipments

Usage: parcelhook [all|api|worker]

  all      API and worker in one process (default)
  api      takes orders and requests
  worker   creates shipments, fans out, delivers and sweeps

Everything is set by environment variables: see README.md, "Configuration".
Without DATABASE_URL an embedded PostgreSQL runs under DATA_DIR (./data).
`;

async function main(): Promise<void> {
  const [argument = 'all', ...rest] = process.argv.slice(2);
  if (argument === '--help' || argument === '-h') return void process.stdout.write(help);
  if (argument === '--version') return void process.stdout.write(`${version}\n`);
  if (!roles.includes(argument)) return fail(exitCode.usage, `Unknown role "${argument}".\n\n${help}`);
  if (rest.length > 0)
    return fail(exitCode.usage, `One role at a time, not "${rest.join(' ')}" too.\n\n${help}`);

  const config = parseConfig(process.env, argument);
  const logger = createLogger(config.LOG_LEVEL);
  const stopOnce = stopOnSignal(logger, config.SHUTDOWN_TIMEOUT);
  const app = await start(config, argument as Role, logger);
  stopOnce(app);
}

/** Embedded mode brings its own PostgreSQL, secrets and greeting; everything above `platform/` is the same. */
async function start(config: Config, role: Role, logger: Logger): Promise<Pick<App, 'stop'>> {
  if (config.DATABASE_URL !== undefined) {
    return startApp(completeConfig(config), config.DATABASE_URL, role, logger);
  }
  const complete = { ...config, ...generatedSecrets(await prepareFolder(config.DATA_DIR), config) };
  requireSecretsDiffer(complete);
  const postgres = await startEmbeddedPostgres({ dataDir: config.DATA_DIR, logger });
  try {
    const app = await startApp(complete, postgres.connectionString, role, logger);
    if (role === 'all') await greet(app, config.DATA_DIR, config.SIMULATE);
    return {
      stop: async () => {
        await app.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** npm passes on a Ctrl-C that the terminal has given to all: one may come twice. */
const togetherMs = 500;

/** SIGTERM and SIGINT drain and exit 0; a later signal, or a drain that takes too long, exits 1. */
function stopOnSignal(logger: Logger, timeoutMs: number): (app: Pick<App, 'stop'>) => void {
  let app: Pick<App, 'stop'> | undefined;
  let stoppingSinceMs: number | null = null;
  const drain = (started: Pick<App, 'stop'>) => {
    started.stop().then(
      () => {
        logger.info('stopped');
        process.exit(0);
      },
      (error: unknown) => fail(exitCode.failure, describeError(error)),
    );
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (stoppingSinceMs !== null) {
      if (signal === 'SIGINT' && performance.now() - stoppingSinceMs < togetherMs) return;
      process.exit(exitCode.failure);
    }
    stoppingSinceMs = performance.now();
    logger.info({ signal }, 'stopping');
    // A start that waits for PostgreSQL has accepted nothing: it ends as if it had been drained.
    setTimeout(
      () => {
        logger.error({ timeoutMs }, app ? 'not drained in time' : 'stopped before it had started');
        process.exit(app ? exitCode.failure : 0);
      },
      app ? timeoutMs : Math.min(timeoutMs, startGraceMs),
    );
    if (app) drain(app);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return (started) => {
    app = started;
    if (stoppingSinceMs !== null) drain(app); // asked to stop while still starting
  };
}

function fail(code: number, message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) fail(exitCode.config, error.message);
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') {
    const variable = String(port) === process.env.METRICS_PORT ? 'METRICS_PORT' : 'PORT';
    fail(exitCode.failure, `Port ${port} is in use: set ${variable} to another one.`);
  }
  fail(exitCode.failure, `Parcelhook could not start: ${describeError(error)}`);
});
