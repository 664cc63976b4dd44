/**
 * `npm test`: starts the real engines once, runs jest against them, stops them. Arguments go to jest.
 * Redis (or Valkey) is taken from PATH; where there is none, what needs it is left out, loudly.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/platform/embedded/index.js';
import { createLogger } from '../src/platform/logger.js';
import { migrate } from '../src/platform/migrate.js';
import { startRedis } from './redis.js';
import { createDatabase, templateDatabase } from './database.js';

const logger = createLogger('warn');
const folder = mkdtempSync(join(tmpdir(), 'parcelhook-test-'));
const postgres = await startEmbeddedPostgres({ dataDir: folder, logger });
const template = await createDatabase(postgres.connectionString, templateDatabase, null);
await migrate(template, logger);
const redis = await startRedis(folder);
if (!redis) {
  console.warn('\n  NO redis-server OR valkey-server ON PATH: every test of the Redis queue is LEFT OUT.\n');
}

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const child = spawn(
  process.execPath,
  ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest, ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_DATABASE_URL: postgres.connectionString,
      TEST_REDIS_URL: redis?.url ?? '',
    },
  },
);
const forward = (signal: NodeJS.Signals) => void child.kill(signal);
process.on('SIGINT', forward);
process.on('SIGTERM', forward);
child.on('exit', (code) => {
  void Promise.allSettled([redis?.stop(), postgres.stop()]).then(() => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(code ?? 1);
  });
});
