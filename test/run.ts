/**
 * `npm test`: starts the real engines once, runs jest against them, stops them. Without paths it runs the tiers of
 * `tiers` below: `npm test` the first, `npm run test:all` each of them, or those named, as in `-- --tiers=second,redis`.
 * Paths and options go to jest, on the queue that TEST_QUEUE names; TEST_DEFAULTS=hostile gives PostgreSQL the defaults
 * of support/hostile-defaults.ts. Uses the Redis (or Valkey) on PATH; without one, its tests are left out with a warning.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/platform/embedded/index.js';
import { createLogger } from '../src/platform/telemetry/logger.js';
import { migrate } from '../src/platform/database/migrate.js';
import { startRedis } from './support/redis.js';
import { createDatabase, templateDatabase } from './support/database.js';
import { setDefaults, usualOptions } from './support/hostile-defaults.js';
import { endSharedServices } from './support/shared-service.js';

interface Tier {
  name: string;
  folders: string[];
  queue: 'postgres' | 'redis';
  /** Files at once, where tests bound a time. */
  atOnce?: number;
  /** Properties and simulations of support/runs.ts get all their runs. */
  runs?: 'full';
  /** Every session of the service has others than PostgreSQL's own, unless it sets them. */
  defaults?: 'hostile';
}

/** Each is one run of jest. */
const tiers: Tier[] = [
  { name: 'first', folders: ['unit', 'core', 'races', 'api', 'flows'], queue: 'postgres' },
  { name: 'second', folders: ['portal', 'monitoring', 'docs', 'client', 'platform'], queue: 'postgres' },
  {
    name: 'redis',
    folders: ['core/database', 'flows/jobs', 'api/limits'],
    queue: 'redis',
    defaults: 'hostile',
  },
  {
    name: 'full',
    folders: [
      'unit/engine/schedule',
      'races/(cancel-)?pairs',
      'core/erasure/erasure.test',
      'core/deliveries/outbox-property',
    ],
    queue: 'postgres',
    runs: 'full',
  },
  { name: 'waits', folders: ['timed/waits'], queue: 'redis', atOnce: 3 },
  { name: 'alone', folders: ['timed/[^/]+$'], queue: 'redis', atOnce: 1 },
];

const args = process.argv.slice(2);
const named = args.find((arg) => arg.startsWith('--tiers='));
const names = named ? named.slice('--tiers='.length).split(',') : [tiers[0]!.name];
const chosen = args.includes('--all') && !named ? tiers : tiers.filter(({ name }) => names.includes(name));
if (named && chosen.length < names.length)
  throw new Error(`The tiers are ${tiers.map(({ name }) => name).join(', ')}.`);
/** Arguments for jest. */
const rest = args.filter((arg) => arg !== '--all' && arg !== named);
const hasPaths = rest.some((arg) => !arg.startsWith('-'));

/** Tests mostly wait; but too many at once distort those that measure time. */
const workersPerCore = 2;
/** A server allows 300 connections; a test file needs up to eighty. */
const workersPerServer = 2;
const workers = Number(
  process.env.TEST_WORKERS ?? Math.min(8, Math.ceil(workersPerCore * availableParallelism())),
);

const logger = createLogger('warn');
/** The engines' folders are in memory if there is space; the engines still write through. */
const memory = '/dev/shm';
const roomyBytes = 6 * 1024 ** 3;
const folder = mkdtempSync(join(freeBytes(memory) > roomyBytes ? memory : tmpdir(), 'parcelhook-test-'));
chmodSync(folder, 0o755); // some tests run programs as another user
/** TMPDIR of the tests: creating a PostgreSQL cluster is three times as fast in memory. */
const temporary = join(folder, 'tmp');
mkdirSync(temporary);
chmodSync(temporary, 0o1777);
const servers = await Promise.all(
  Array.from({ length: Math.ceil(workers / workersPerServer) }, (_, index) =>
    startPostgres(join(folder, `postgres-${index + 1}`)),
  ),
);
const redis = await startRedis(folder);
if (!redis) {
  console.warn('\n  NO redis-server OR valkey-server ON PATH: every test of the Redis queue is LEFT OUT.\n');
}

function freeBytes(path: string): number {
  if (!existsSync(path)) return 0;
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

async function startPostgres(dataDir: string) {
  const server = await startEmbeddedPostgres({ dataDir, logger });
  goFirst(Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8')));
  await stretchPasswordLess(server.superuserConnectionString);
  await migrate(await createDatabase(server.superuserConnectionString, templateDatabase, null), logger);
  return server;
}

/** On a busy machine, what all tests wait for runs before them; only root may ask for that. */
function goFirst(pid: number): void {
  try {
    setPriority(pid, -10);
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Tests open four thousand connections; 4,096 rounds of hashing take 2 ms each, for a random password. */
async function stretchPasswordLess(connectionString: string): Promise<void> {
  const { username, password } = new URL(connectionString);
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('set scram_iterations = 1');
  await client.query(
    `alter role ${pg.escapeIdentifier(username)} password ${pg.escapeLiteral(decodeURIComponent(password))}`,
  );
  await client.end();
}

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const nodeOptions = ['--import=./test/support/jest/register.js'];
let running: ChildProcess | undefined;
let stopped = false;

/** Resolves with jest's exit code. */
async function runJest(
  args: string[],
  queue: string,
  {
    maxWorkers = workers,
    runs = process.env.TEST_RUNS ?? '',
    defaults = process.env.TEST_DEFAULTS === 'hostile' ? ('hostile' as const) : undefined,
  } = {},
): Promise<number> {
  for (const server of servers) await setDefaults(server.superuserConnectionString, defaults ?? 'usual');
  running = spawn(process.execPath, [...nodeOptions, jest, `--maxWorkers=${maxWorkers}`, ...args], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_TMPDIR: temporary,
      TEST_DATABASE_URLS: servers.map((server) => server.superuserConnectionString).join(' '),
      TEST_REDIS_URL: redis?.url ?? '',
      TEST_QUEUE: queue,
      TEST_RUNS: runs,
      ...(defaults && { PGOPTIONS: usualOptions }),
    },
  });
  return new Promise((resolve) => running!.once('exit', (code) => resolve(code ?? 1)));
}

async function runTiers(): Promise<number> {
  let exitCode = 0;
  for (const { folders, queue, atOnce: maxWorkers, runs, defaults } of chosen) {
    if (stopped || (queue === 'redis' && !redis)) continue;
    const how = `${runs ? `, ${runs} runs` : ''}${defaults ? `, ${defaults} defaults` : ''}`;
    console.log(`\n== ${folders.join(', ')}${how}: the queue on ${queue} ==`); // .ci/run reads it
    const paths = folders.map((one) => `${process.cwd()}/test/${one}`);
    const code = await runJest([...rest, ...paths], queue, { maxWorkers, runs, defaults });
    exitCode = Math.max(exitCode, code);
  }
  return exitCode;
}

const forward = (signal: NodeJS.Signals) => {
  stopped = true;
  running?.kill(signal);
};
process.on('SIGINT', forward);
process.on('SIGTERM', forward);

let exitCode = hasPaths ? await runJest(rest, process.env.TEST_QUEUE ?? 'postgres') : await runTiers();

const crashes = endSharedServices(temporary);
if (crashes.length > 0) {
  console.error(`\nA service that tests share wrote of a fault of its own:\n${crashes.join('\n')}`);
  exitCode ||= 1;
}
await Promise.allSettled([redis?.stop(), ...servers.map((server) => server.stop())]);
rmSync(folder, { recursive: true, force: true });
process.exit(exitCode);
