import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createDatabase, templateDatabase } from './database.js';
import { deployment } from './deployment.js';
import { operatorToken, productionOptions } from './process.js';
import { programFile } from './program.js';

/** Runs as long as the tests do: no test stops it, changes what accounts share, or counts what others do. */
export interface SharedService {
  url: string;
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Its lines since this file asked for it. */
  log(): string;
  /** The settings of a program that speaks to the same deployment. */
  env: Record<string, string>;
}

interface Running {
  url: string;
  pid: number;
  env: Record<string, string>;
}

/** Tokens of narrow scope; `operatorToken` may do everything. */
export const scopedTokens = { reader: 'token-of-the-reader', scanner: 'token-of-the-scanner' };

/** Nothing that a customer could notice, but for logins: all come from one address. */
const plain = {
  LOGIN_LIMIT_ACCOUNT: '1000',
  LOGIN_LIMIT_IP: '100000',
  SIMULATE: 'true',
  OPERATOR_TOKENS: `reader:read:${scopedTokens.reader},scanner:events:${scopedTokens.scanner}`,
};
const settingsOf = {
  plain,
  /**
   * It gives up a delivery after four attempts in two thirds of a second, sweeps often, and keeps all of each attempt.
   */
  impatient: {
    ...plain,
    RETRY_SCHEDULE: '200ms,200ms,200ms',
    DELIVERY_TIMEOUT: '2s',
    TIME_SCALE: '0.25',
    LOG_DETAIL: 'all',
  },
};
type Kind = keyof typeof settingsOf;

const prefix = 'shared-service-';
const fileOf = (kind: Kind, worker: string) => join(tmpdir(), `${prefix}${kind}-${worker}.json`);

const starting = new Map<string, Promise<Running>>(); // two tests at once start one service

/**
 * The service of this jest worker, which its files use one after another: a file takes an account of its own, because
 * accounts isolate. Its first user starts it; test/run.ts ends it.
 */
export async function sharedService(kind: Kind = 'plain'): Promise<SharedService> {
  const file = fileOf(kind, process.env.JEST_WORKER_ID ?? '1');
  const { url, pid, env } = existsSync(file) ? readRunning(file) : await startOnce(file, settingsOf[kind]);
  if (!isAlive(pid)) {
    rmSync(file);
    throw new Error(
      `the service that tests share has ended:\n${readFileSync(logOf(file), 'utf8').slice(-10_000)}`,
    );
  }
  const pool = new pg.Pool({
    connectionString: env.DATABASE_URL!,
    max: 2,
    idleTimeoutMillis: 500,
    allowExitOnIdle: true,
  });
  pool.on('error', () => undefined);
  const sql = async <Row>(text: string, values: unknown[] = []) =>
    (await pool.query(text, values)).rows as Row[];
  const { size } = statSync(logOf(file));
  return { url, env, sql, log: () => readFileSync(logOf(file)).subarray(size).toString() };
}

const readRunning = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Running;
const logOf = (file: string) => file.replace(/json$/, 'log');

function startOnce(file: string, settings: Record<string, string>): Promise<Running> {
  if (!starting.has(file)) starting.set(file, start(file, settings));
  return starting.get(file)!;
}

async function start(file: string, settings: Record<string, string>): Promise<Running> {
  const databaseUrl = process.env.TEST_DATABASE_URL ?? '';
  const name = `shared_${randomBytes(6).toString('hex')}`;
  const env = deployment(await createDatabase(databaseUrl, name, templateDatabase), {
    ...settings,
    OPERATOR_TOKEN: operatorToken,
    ...(process.env.TEST_QUEUE === 'redis' && { REDIS_URL: process.env.TEST_REDIS_URL ?? '' }),
  });
  const log = openSync(logOf(file), 'a');
  const child = spawn(process.execPath, [...productionOptions(programFile), programFile, 'all'], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', log, log],
    detached: true,
  });
  child.unref();
  for (const until = Date.now() + 60_000; ; await sleep(20)) {
    const output = readFileSync(logOf(file), 'utf8');
    const url = /"url":"([^"]+)"[^\n]*"msg":"started"/.exec(output)?.[1];
    if (url) {
      const running = { url, pid: child.pid!, env };
      writeFileSync(file, JSON.stringify(running));
      return running;
    }
    if (child.exitCode !== null || Date.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`the service that tests share did not start:\n${output}`);
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Returns the lines of their logs that tell of a crash or of an error that nobody expected. */
export function endSharedServices(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const { pid } = readRunning(join(folder, name));
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  }
  return names
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => /unhandled|uncaught|FATAL ERROR/i.test(line));
}
