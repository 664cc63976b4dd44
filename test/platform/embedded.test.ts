import { afterEach, describe, expect, test } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/embedded/index.js';
import { createLogger } from '../../src/platform/logger.js';

const logger = createLogger('silent');
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const moduleUrl = new URL('../../src/platform/embedded/index.ts', import.meta.url).href;
const loggerUrl = new URL('../../src/platform/logger.ts', import.meta.url).href;
const projectDir = fileURLToPath(new URL('../../', import.meta.url));

/** Root may start children as somebody else, who must be able to read this project. */
const canBeNobody =
  isRoot && spawnSync('ls', [projectDir], { uid: NOBODY, gid: NOBODY, cwd: '/' }).status === 0;
const testAsOther = !isRoot || canBeNobody ? test : test.skip;
if (isRoot && !canBeNobody) console.warn('LEFT OUT: tests as an ordinary user, who cannot read this folder');
if (!isRoot) console.warn('LEFT OUT: tests of what is done for root');

const folders: string[] = [];
const children: ChildProcess[] = [];
const running: EmbeddedPostgres[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  for (const child of children.splice(0)) await end(child);
  for (const folder of folders.splice(0)) {
    const lockFile = path.join(folder, 'data dir', 'postgres', 'postmaster.pid');
    const pid = fs.existsSync(lockFile) ? runningPid(path.join(folder, 'data dir')) : undefined;
    if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
});

/** A path with a space in it, below a folder that everybody may enter; not made yet. */
function newDataDir(): string {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'parcelhook-'));
  fs.chmodSync(folder, 0o755);
  folders.push(folder);
  return path.join(folder, 'data dir');
}

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, logger });
  running.push(server);
  return server;
}

/** Another Node process that starts the server, says what came of it, and stops it on SIGTERM. */
async function startInChild(dataDir: string, options: { uid?: number; env?: NodeJS.ProcessEnv } = {}) {
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
  if (!output.includes('\n')) throw new Error('the child process ended without a word');
  return { child, ...(JSON.parse(output) as { connectionString?: string; error?: string }) };
}

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

async function query<Row extends pg.QueryResultRow>(connectionString: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The query's rows as soon as the server answers it, for 15 s. */
async function queryEventually<Row extends pg.QueryResultRow>(connectionString: string, sql: string) {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; await sleep(50)) {
    const rows = await query<Row>(connectionString, sql).catch(() => undefined);
    if (rows) return rows;
  }
  throw new Error('the server did not come back');
}

function runningPid(dataDir: string): number {
  return Number(fs.readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** A zombie that init has not reaped yet is dead. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('the embedded PostgreSQL', () => {
  test('starts in a path with spaces, durable and closed to others, and is gone after stop', async () => {
    const dataDir = newDataDir();
    const server = await start(dataDir);
    const url = new URL(server.connectionString);
    expect([url.username, url.pathname, url.hostname]).toEqual(['parcelhook', '/parcelhook', '127.0.0.1']);
    const [settings] = await query(
      server.connectionString,
      `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('fsync') AS fsync,
        current_setting('synchronous_commit') AS commit, current_setting('data_checksums') AS checksums,
        current_setting('server_encoding') AS encoding, current_setting('unix_socket_directories') AS sockets,
        current_setting('password_encryption') AS passwords`,
    );
    expect(settings).toEqual({
      ...{ version: 18, fsync: 'on', commit: 'on', checksums: 'on' },
      ...{ encoding: 'UTF8', sockets: '', passwords: 'scram-sha-256' },
    });
    expect(fs.statSync(path.join(dataDir, 'postgres.password')).mode & 0o777).toBe(0o600);
    url.password = 'wrong';
    await expect(query(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });

    const pid = runningPid(dataDir);
    await server.stop();
    await server.stop();
    expect(isAlive(pid)).toBe(false);
  });

  test('keeps data and address over a kill -9 of the server, which is restarted', async () => {
    const dataDir = newDataDir();
    const server = await start(dataDir);
    await query(server.connectionString, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n');
    for (let round = 0; round < 2; round += 1) {
      const pid = runningPid(dataDir);
      process.kill(pid, 'SIGKILL');
      const rows = await queryEventually(server.connectionString, 'SELECT count(*)::int AS n FROM kept');
      expect(rows).toEqual([{ n: 1000 }]);
      expect(runningPid(dataDir)).not.toBe(pid);
    }
  });

  test('keeps data and address over a stop and a new start', async () => {
    const dataDir = newDataDir();
    const first = await start(dataDir);
    await query(first.connectionString, 'CREATE TABLE kept AS SELECT 1 AS n');
    await first.stop();
    const second = await start(dataDir);
    expect(second.connectionString).toBe(first.connectionString);
    expect(await query(second.connectionString, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });

  test('makes a half-made cluster anew', async () => {
    const dataDir = newDataDir();
    const halfMade = path.join(dataDir, 'postgres.new-1', 'data');
    fs.mkdirSync(halfMade, { recursive: true });
    fs.writeFileSync(path.join(halfMade, 'PG_VERSION'), '18\n');
    fs.writeFileSync(path.join(dataDir, 'postgres.owner'), '{"pid":');
    const server = await start(dataDir);
    expect(await query(server.connectionString, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(fs.existsSync(path.dirname(halfMade))).toBe(false);
  });

  test('is not kept from starting by a lock file whose number another process has now', async () => {
    const dataDir = newDataDir();
    await (await start(dataDir)).stop();
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    children.push(bystander);
    const lock = [bystander.pid, path.join(dataDir, 'postgres'), 1, 20_000, '', '127.0.0.1', '1 1', 'ready'];
    fs.writeFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), lock.join('\n'));
    const server = await start(dataDir);
    expect(await query(server.connectionString, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  });

  test('uses the server of a living process without stopping it, and inherits it on its death', async () => {
    const dataDir = newDataDir();
    const owner = await startInChild(dataDir);
    const pid = runningPid(dataDir);
    const guest = await start(dataDir);
    expect(guest.connectionString).toBe(owner.connectionString);
    await guest.stop();
    expect(isAlive(pid)).toBe(true);

    await end(owner.child, 'SIGKILL');
    expect(isAlive(pid)).toBe(true);
    const heir = await start(dataDir);
    expect(runningPid(dataDir)).toBe(pid);
    expect(heir.connectionString).toBe(owner.connectionString);
    await heir.stop();
    expect(isAlive(pid)).toBe(false);
  });

  test('starts again after a kill -9 of its owner and of the server', async () => {
    const dataDir = newDataDir();
    const owner = await startInChild(dataDir);
    const pid = runningPid(dataDir);
    await end(owner.child, 'SIGKILL');
    process.kill(pid, 'SIGKILL');
    const server = await start(dataDir);
    expect(server.connectionString).toBe(owner.connectionString);
    expect(await query(server.connectionString, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  test('is made once when several start it at the same time', async () => {
    const dataDir = newDataDir();
    const servers = await Promise.all([start(dataDir), start(dataDir), start(dataDir)]);
    expect(new Set(servers.map((server) => server.connectionString)).size).toBe(1);
    const pid = runningPid(dataDir);
    await Promise.all(servers.map((server) => server.stop()));
    expect(isAlive(pid)).toBe(false);
  });

  test('refuses a DATA_DIR that is a file, and says what to do', async () => {
    const dataDir = newDataDir();
    fs.writeFileSync(dataDir, '');
    await expect(start(dataDir)).rejects.toThrow(/is or lies under a file.*What to do: set DATA_DIR/s);
    await expect(start(path.join(dataDir, 'below'))).rejects.toThrow(/is or lies under a file/);
  });

  testAsOther('refuses a DATA_DIR that cannot be written, and says what to do', async () => {
    const dataDir = newDataDir();
    fs.mkdirSync(dataDir, { mode: 0o555 });
    const { error } = await startInChild(dataDir, isRoot ? { uid: NOBODY } : {});
    expect(error).toMatch(/data dir cannot be written.*What to do: set DATA_DIR.*DATABASE_URL/s);
  });

  test('says what the server said when it does not start', async () => {
    const dataDir = newDataDir();
    await (await start(dataDir)).stop();
    fs.writeFileSync(path.join(dataDir, 'postgres', 'postgresql.conf'), 'nonsense = 1\n');
    await expect(start(dataDir)).rejects.toThrow(
      /does not start:.*nonsense.*What to do: see .*postgres\.log/s,
    );
  });
});

(isRoot && process.platform === 'linux' ? describe : describe.skip)('started on behalf of root', () => {
  testAsOther('runs as an ordinary user too', async () => {
    const dataDir = newDataDir();
    fs.mkdirSync(dataDir);
    fs.chownSync(dataDir, NOBODY, NOBODY);
    const { child, connectionString, error } = await startInChild(dataDir, { uid: NOBODY });
    expect(error).toBeUndefined();
    expect(await query(connectionString ?? '', 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    const pid = runningPid(dataDir);
    expect(fs.statSync(`/proc/${pid}`).uid).toBe(NOBODY);
    await end(child);
    expect(isAlive(pid)).toBe(false);
  });

  test.each([
    ['where user namespaces are off', []],
    ['where they are off and the folder is out of its reach', ['setpriv']],
  ])('runs as another user %s, on the same data before and after', async (_, programs) => {
    const dataDir = newDataDir();
    const PATH = path.join(path.dirname(dataDir), 'bin');
    fs.mkdirSync(PATH);
    for (const program of programs) fs.symlinkSync(`/usr/bin/${program}`, path.join(PATH, program));
    if (programs.length > 0) fs.chmodSync(path.dirname(dataDir), 0o700);

    const first = await start(dataDir);
    await query(first.connectionString, 'CREATE TABLE kept AS SELECT 1 AS n');
    await first.stop();
    const { child, connectionString, error } = await startInChild(dataDir, { env: { PATH } });
    expect(error).toBeUndefined();
    expect(await query(connectionString ?? '', 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    expect(fs.statSync(`/proc/${runningPid(dataDir)}`).uid).not.toBe(0);
    await end(child);

    const last = await start(dataDir);
    expect(await query(last.connectionString, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });
});
