import { afterAll, beforeAll, test } from '@jest/globals';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/embedded/index.js';
import { createLogger } from '../../src/platform/telemetry/logger.js';

const logger = createLogger('silent');
export const isRoot = process.getuid?.() === 0;
export const NOBODY = 65_534;
const moduleUrl = new URL('../../src/platform/embedded/index.ts', import.meta.url).href;
const loggerUrl = new URL('../../src/platform/telemetry/logger.ts', import.meta.url).href;
const projectDir = fileURLToPath(new URL('../../', import.meta.url));

/** Root can start children as another user, who must be able to read this project. */
const canBeNobody =
  isRoot && spawnSync('ls', [projectDir], { uid: NOBODY, gid: NOBODY, cwd: '/' }).status === 0;
export const testAsOther = !isRoot || canBeNobody ? test.concurrent : test.concurrent.skip;
if (isRoot && !canBeNobody) console.warn('LEFT OUT: tests as an ordinary user, who cannot read this folder');
if (!isRoot) console.warn('LEFT OUT: tests of what is done for root');

const folders: string[] = [];
export const children: ChildProcess[] = [];
const running: EmbeddedPostgres[] = [];
/** A cluster that was created, used and stopped. */
let made: string;

beforeAll(async () => {
  made = newDataDir();
  await (await startEmbeddedPostgres({ dataDir: made, logger })).stop();
  fs.rmSync(path.join(made, 'postgres.port')); // each copy chooses its own
});
afterAll(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  for (const child of children.splice(0)) await end(child);
  for (const folder of folders.splice(0)) {
    const lockFile = path.join(folder, 'data dir', 'postgres', 'postmaster.pid');
    const pid = fs.existsSync(lockFile) ? runningPid(path.join(folder, 'data dir')) : undefined;
    if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
});

/** A name with a space, below a folder that all users may enter; does not exist yet. */
export function newDataDir(): string {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'parcelhook-'));
  fs.chmodSync(folder, 0o755);
  folders.push(folder);
  return path.join(folder, 'data dir');
}

/** A copy, for tests that do not depend on the creation of the cluster. */
export async function copiedDataDir(): Promise<string> {
  const dataDir = newDataDir();
  await promisify(execFile)('cp', ['-a', made, dataDir]);
  return dataDir;
}

export async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, logger });
  running.push(server);
  return server;
}

/** It reports the result, and stops the server on SIGTERM. */
export async function startInChild(dataDir: string, options: { uid?: number; env?: NodeJS.ProcessEnv } = {}) {
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(moduleUrl)});
    const { createLogger } = await import(${JSON.stringify(loggerUrl)});
    const keepAlive = setInterval(() => undefined, 1000);
    try {
      const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, logger: createLogger('silent') });
      process.on('SIGTERM', () => server.stop().then(() => clearInterval(keepAlive)));
      console.log(JSON.stringify({ connectionString: server.connectionString }));
    } catch (error) {
      console.log(JSON.stringify({ error: error.message }));
      clearInterval(keepAlive);
    }`;
  const { uid, env } = options;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    cwd: projectDir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  children.push(child);
  let output = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes('\n')) break;
  }
  if (!output.includes('\n')) throw new Error('the child process ended without a result');
  return { child, ...(JSON.parse(output) as { connectionString?: string; error?: string }) };
}

export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

export async function query<Row extends pg.QueryResultRow>(
  connectionString: string,
  sql: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Once the server responds, for up to 15 s. */
export async function queryEventually<Row extends pg.QueryResultRow>(connectionString: string, sql: string) {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; await sleep(50)) {
    const rows = await query<Row>(connectionString, sql).catch(() => undefined);
    if (rows) return rows;
  }
  throw new Error('the server did not come back');
}

export function runningPid(dataDir: string): number {
  return Number(fs.readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** A zombie that init has not reaped yet counts as dead. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
