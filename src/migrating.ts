import pRetry from 'p-retry';
import { parseConfig } from './config/config.js';
import { migrateUnderOwnRole } from './platform/database/migration-role.js';
import { isOutOfReach } from './platform/database/postgres.js';
import { describeError } from './platform/errors.js';
import { createLogger } from './platform/logger.js';

/** For a server that is just starting, or a lock that somebody is about to give back. */
const patience = { retries: Infinity, minTimeout: 250, maxTimeout: 5_000, maxRetryTime: 120_000 };

/**
 * Brings the schema up to date and prints what was done. Under the role of MIGRATION_DATABASE_URL, so that no process of
 * the service has to know its password; that of DATABASE_URL is let in, where both are given.
 */
export async function migrateHere(): Promise<void> {
  const { DATABASE_URL, MIGRATION_DATABASE_URL, REDIS_URL } = parseConfig(process.env, 'migrate');
  const options = {
    migrationUrl: (MIGRATION_DATABASE_URL ?? DATABASE_URL)!,
    databaseUrl: MIGRATION_DATABASE_URL === undefined ? undefined : DATABASE_URL,
    withQueue: REDIS_URL === undefined,
    logger: createLogger('silent'),
  };
  // The first process of a container hears no signal that it has not asked for.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const done = await pRetry(() => migrateUnderOwnRole(options), {
    ...patience,
    shouldRetry: ({ error }) => isOutOfReach(error),
    onFailedAttempt: ({ error }) => void process.stderr.write(`${describeError(error)}; trying again\n`),
  });
  const told = done.length > 0 ? done.map((name) => `Migrated: ${name}`) : ['The schema is up to date.'];
  process.stdout.write(`${told.join('\n')}\n`);
}
