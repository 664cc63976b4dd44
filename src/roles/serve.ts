import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { service } from '../accounts/audit.js';
import { registerShipper } from '../accounts/shippers.js';
import { registerUser, type NewUserLinks } from '../accounts/users.js';
import { completeConfig, parseConfig, requireSecretsDiffer, type Config } from '../config/config.js';
import { generatedSecrets } from '../config/secrets.js';
import type { Database } from '../platform/database/postgres.js';
import { prepareFolder } from '../platform/embedded/folder.js';
import { startEmbeddedPostgres } from '../platform/embedded/index.js';
import { describeError } from '../platform/errors.js';
import { createLogger, type Logger } from '../platform/telemetry/logger.js';
import { startApp, type App } from './app.js';
import { firstGreeting, laterGreeting, type FirstAccount } from './greeting.js';
import type { Role } from './resources.js';

const failure = 1;
/** Time for an unfinished start to end in good order after SIGTERM. */
const startGraceMs = 3_000;

export async function serve(role: Role): Promise<void> {
  const config = parseConfig(process.env, role);
  const logger = createLogger(config.LOG_LEVEL, { role, process: `${hostname()}/${process.pid}` });
  for (const problem of config.misspelt) logger.warn(problem);
  // A worker serves no requests, so there are none to redirect first.
  const delayMs = role === 'worker' ? 0 : config.SHUTDOWN_DELAY;
  const stopOnce = stopOnSignal(logger, delayMs, config.SHUTDOWN_TIMEOUT);
  stopOnce(await start(config, role, logger));
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
    if (role === 'all') await greet(app, config);
    return {
      stop: async (delayMs) => {
        await app.stop(delayMs);
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** npm forwards a Ctrl-C that the terminal already sent to every process, so it may arrive twice. */
const sameCtrlCMs = 500;

/**
 * On a signal the process is no longer ready, drains after `delayMs`, and exits 0. A second signal, or a drain beyond
 * `timeoutMs`, exits 1.
 */
function stopOnSignal(logger: Logger, delayMs: number, timeoutMs: number): (app: Pick<App, 'stop'>) => void {
  let app: Pick<App, 'stop'> | undefined;
  let stoppingSinceMs: number | null = null;
  const stop = (started: Pick<App, 'stop'>, afterMs: number) => {
    started.stop(afterMs).then(
      () => {
        logger.info('stopped');
        process.exit(0);
      },
      (error: unknown) => {
        process.stderr.write(`${describeError(error)}\n`);
        process.exit(failure);
      },
    );
  };
  let timer: NodeJS.Timeout | undefined;
  const giveUpAfter = (afterMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // A start that waits for PostgreSQL has accepted nothing, so it counts as drained.
      logger.error({ timeoutMs }, app ? 'not drained in time' : 'stopped before it had started');
      process.exit(app ? failure : 0);
    }, afterMs);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (stoppingSinceMs !== null) {
      if (signal === 'SIGINT' && performance.now() - stoppingSinceMs < sameCtrlCMs) return;
      process.exit(failure);
    }
    stoppingSinceMs = performance.now();
    logger.info({ signal }, 'stopping');
    giveUpAfter(app ? delayMs + timeoutMs : Math.min(timeoutMs, startGraceMs));
    if (app) stop(app, delayMs);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return (started) => {
    app = started;
    if (stoppingSinceMs === null) return;
    giveUpAfter(timeoutMs);
    stop(app, 0); // the signal came during the start
  };
}

/** The first start creates an account and prints commands that are ready to paste; later ones are brief. */
async function greet(
  { db, url }: App,
  { DATA_DIR: dataDir, SIMULATE: simulates, CELL: cell }: Config,
): Promise<void> {
  const file = join(dataDir, 'account.json');
  const webhook = join(dataDir, 'first-webhook.json'); // the printed commands append the webhook with its secret
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FirstAccount) : null;
  const account = known ?? (await createAccount(db, { publicUrl: url, cell, mails: false }, file));
  // Created here so that only its owner can read it.
  closeSync(openSync(webhook, 'a', 0o600));
  for (const name of [file, webhook]) chmodSync(name, 0o600);
  process.stdout.write(
    known
      ? laterGreeting(url, known, file)
      : firstGreeting(url, account, { dataDir, account: file, webhook }, simulates),
  );
}

async function createAccount(db: Database, links: NewUserLinks, file: string): Promise<FirstAccount> {
  const email = 'you@example.com';
  const password = randomBytes(12).toString('base64url');
  const { shipperId, accountKey } = await registerShipper(db, service, 'First shipper', links.cell);
  await registerUser(db, links, service, { shipperId, email, password });
  const account = { accountKey, email, password };
  writeFileSync(`${file}.new`, JSON.stringify(account, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return account;
}
