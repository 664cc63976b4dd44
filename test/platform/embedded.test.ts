import { describe, expect, test } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { generatedSecrets } from '../../src/config/secrets.js';
import { prepareFolder } from '../../src/platform/embedded/folder.js';
import { ConfigError } from '../../src/platform/errors.js';
import {
  isRoot,
  NOBODY,
  testAsOther,
  children,
  copiedDataDir,
  newDataDir,
  start,
  startInChild,
  end,
  query,
  queryEventually,
  runningPid,
  isAlive,
} from './embedded-support.js';
import { until } from '../support/until.js';

/** PostgreSQL removes its file, which says that it runs, right before it exits. */
const untilEnded = (pid: number) => until('PostgreSQL has exited', () => !isAlive(pid), 5_000);

describe('the embedded PostgreSQL', () => {
  test.concurrent('starts in a path with spaces, durable and private, and is gone after stop', async () => {
    const dataDir = newDataDir();
    const server = await start(dataDir);
    const url = new URL(server.connectionString);
    expect([url.username, url.pathname, url.hostname]).toEqual([
      ...['parcelhook_service', '/parcelhook', '127.0.0.1'],
    ]);
    const [settings] = await query(
      server.superuserConnectionString,
      `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('fsync') AS fsync,
        current_setting('synchronous_commit') AS commit, current_setting('data_checksums') AS checksums,
        current_setting('server_encoding') AS encoding, current_setting('unix_socket_directories') AS sockets,
        current_setting('password_encryption') AS passwords, current_setting('listen_addresses') AS addresses`,
    );
    expect(settings).toEqual({
      ...{ version: 18, fsync: 'on', commit: 'on', checksums: 'on' },
      ...{ encoding: 'UTF8', sockets: '', passwords: 'scram-sha-256' },
      ...{ addresses: '127.0.0.1' },
    });
    const might =
      'SELECT rolsuper OR rolcreatedb OR rolcreaterole AS mighty FROM pg_roles WHERE rolname = current_user';
    expect(await query(server.connectionString, might)).toEqual([{ mighty: false }]);
    for (const address of [url, new URL(server.superuserConnectionString)]) {
      address.password = 'wrong';
      await expect(query(address.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    }

    const pid = runningPid(dataDir);
    await server.stop();
    await server.stop();
    await untilEnded(pid);
  });

  test.concurrent(
    'makes its folder private, even an open one, and every file with a secret in it',
    async () => {
      const dataDir = newDataDir();
      fs.mkdirSync(dataDir, { mode: 0o755 });
      generatedSecrets(await prepareFolder(dataDir), {});
      await start(dataDir);
      const mode = (name: string) => fs.statSync(path.join(dataDir, name)).mode & 0o777;
      expect(mode('.')).toBe(0o700);
      for (const file of ['postgres.password', 'secrets.json', 'postgres.log'])
        expect(mode(file)).toBe(0o600);
      expect(fs.statSync(dataDir).uid).toBe(fs.statSync(`/proc/${runningPid(dataDir)}`).uid);
    },
  );

  test.concurrent('refuses a folder shared by all users', async () => {
    await expect(start(tmpdir())).rejects.toThrow(/not a folder for the service alone.*set DATA_DIR/s);
  });

  test.concurrent('retains data and address over a kill -9 of the server, which is restarted', async () => {
    const dataDir = await copiedDataDir();
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

  test.concurrent('retains data and address over a stop and a new start', async () => {
    const dataDir = await copiedDataDir();
    const first = await start(dataDir);
    await query(first.connectionString, 'CREATE TABLE kept AS SELECT 1 AS n');
    await first.stop();
    const second = await start(dataDir);
    expect(second.connectionString).toBe(first.connectionString);
    expect(await query(second.connectionString, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });

  test.concurrent('recreates an incomplete cluster', async () => {
    const dataDir = newDataDir();
    const halfMade = path.join(dataDir, 'postgres.new-1', 'data');
    fs.mkdirSync(halfMade, { recursive: true });
    fs.writeFileSync(path.join(halfMade, 'PG_VERSION'), '18\n');
    fs.writeFileSync(path.join(dataDir, 'postgres.owner'), '{"pid":');
    const server = await start(dataDir);
    expect(await query(server.connectionString, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(fs.existsSync(path.dirname(halfMade))).toBe(false);
  });

  test.concurrent('starts despite a lock file whose process id now belongs to another process', async () => {
    const dataDir = await copiedDataDir();
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    children.push(bystander);
    const lock = [bystander.pid, path.join(dataDir, 'postgres'), 1, 20_000, '', '127.0.0.1', '1 1', 'ready'];
    fs.writeFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), lock.join('\n'));
    const server = await start(dataDir);
    expect(await query(server.connectionString, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  });

  test.concurrent(
    'refuses the folder of a living process, names it, and adopts its server once it is killed',
    async () => {
      const dataDir = await copiedDataDir();
      const first = await startInChild(dataDir);
      const pid = runningPid(dataDir);
      const refused = start(dataDir);
      await expect(refused).rejects.toThrow(ConfigError);
      await expect(refused).rejects.toThrow(
        `Embedded PostgreSQL: process ${first.child.pid} uses ${dataDir}. What to do: stop it`,
      );
      expect(isAlive(pid)).toBe(true);

      await end(first.child, 'SIGKILL');
      expect(isAlive(pid)).toBe(true);
      const second = await start(dataDir);
      expect(runningPid(dataDir)).toBe(pid);
      expect(second.connectionString).toBe(first.connectionString);
      await second.stop();
      await untilEnded(pid);
    },
  );

  test.concurrent('goes to one of several that start it at the same time', async () => {
    const dataDir = newDataDir();
    const starts = await Promise.allSettled([start(dataDir), start(dataDir), start(dataDir)]);
    const [server, ...others] = starts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(others).toEqual([]);
    expect(await query(server!.connectionString, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  test.concurrent('refuses a DATA_DIR that is a file, and suggests a fix', async () => {
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

  test.concurrent('reports the output of a server that does not start', async () => {
    const dataDir = await copiedDataDir();
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
    await untilEnded(pid);
  });

  test.concurrent.each([
    ['where it can reach the folder', 0o755],
    ['where the folder is out of its reach', 0o700],
  ])('runs as another user %s, even on files owned by root before', async (_, mode) => {
    const dataDir = await copiedDataDir();
    fs.chmodSync(path.dirname(dataDir), mode);
    const first = await start(dataDir);
    expect(fs.statSync(`/proc/${runningPid(dataDir)}`).uid).not.toBe(0);
    await query(first.connectionString, 'CREATE TABLE kept AS SELECT 1 AS n');
    await first.stop();
    spawnSync('chown', ['-R', '0:0', dataDir]);
    fs.chmodSync(dataDir, 0o755);

    const second = await start(dataDir);
    expect(await query(second.connectionString, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    expect(fs.statSync(`/proc/${runningPid(dataDir)}`).uid).not.toBe(0);
  });
});
