import pRetry from 'p-retry';
import { parseConfig } from './config/config.js';
import { migrateUnderOwnRole } from './platform/database/migration-role.js';
import { isOutOfReach } from './platform/database/postgres.js';
import { describeError } from './platform/errors.js';
import { createLogger } from './platform/logger.js';

/** Time for a server that is just starting, or for a lock that is about to be released. */
const patience = { retries: Infinity, minTimeout: 250, maxTimeout: 5_000, maxRetryTime: 120_000 };

/**
 * Brings the schema up to date and prints what was done. It uses the role of MIGRATION_DATABASE_URL, so that no process
 * of the service has to know that role's password; if both addresses are given, the role of DATABASE_URL is granted
 * access.
 */
export async function migrateHere(): Promise<void> {
  const { DATABASE_URL, MIGRATION_DATABASE_URL, REDIS_URL } = parseConfig(process.env, 'migrate');
  const options = {
    migrationUrl: (MIGRATION_DATABASE_URL ?? DATABASE_URL)!,
    databaseUrl: MIGRATION_DATABASE_URL === undefined ? undefined : DATABASE_URL,
    withQueue: REDIS_URL === undefined,
    logger: createLogger('silent'),
  };
  // The first process of a container receives no signal that it does not handle.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const done = await pRetry(() => migrateUnderOwnRole(options), {
    ...patience,
    shouldRetry: ({ error }) => isOutOfReach(error),
    onFailedAttempt: ({ error }) => void process.stderr.write(`${describeError(error)}; trying again\n`),
  });
  const told = done.length > 0 ? done.map((name) => `Migrated: ${name}`) : ['The schema is up to date.'];
  process.stdout.write(`${told.join('\n')}\n`);
}
