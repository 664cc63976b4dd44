import pRetry from 'p-retry';
import { parseConfig } from '../config/config.js';
import { migrateUnderOwnRole } from '../platform/database/migration-role.js';
import { isOutOfReach } from '../platform/database/postgres.js';
import { describeError } from '../platform/errors.js';
import { createLogger } from '../platform/telemetry/logger.js';

/** Covers a server that is starting, or a lock that will soon be released. */
const patience = { retries: Infinity, minTimeout: 250, maxTimeout: 5_000, maxRetryTime: 120_000 };

/**
 * Prints the migrations. It uses the role of MIGRATION_DATABASE_URL, so that no process of the service needs that
 * role's password. If both addresses are set, it grants the role of DATABASE_URL access.
 */
export async function runMigrations(): Promise<void> {
  const { DATABASE_URL, MIGRATION_DATABASE_URL, REDIS_URL } = parseConfig(process.env, 'migrate');
  const options = {
    migrationUrl: (MIGRATION_DATABASE_URL ?? DATABASE_URL)!,
    databaseUrl: MIGRATION_DATABASE_URL === undefined ? undefined : DATABASE_URL,
    withQueue: REDIS_URL === undefined,
    logger: createLogger('silent'),
  };
  // The first process of a container receives only signals that it handles.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const done = await pRetry(() => migrateUnderOwnRole(options), {
    ...patience,
    shouldRetry: ({ error }) => isOutOfReach(error),
    onFailedAttempt: ({ error }) => void process.stderr.write(`${describeError(error)}; trying again\n`),
  });
  const lines = done.length > 0 ? done.map((name) => `Migrated: ${name}`) : ['The schema is up to date.'];
  process.stdout.write(`${lines.join('\n')}\n`);
}
