import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './redis.js';

/** Debian keeps it outside the PATH of everybody but root. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/** `PgBouncer 1.18.0`; null where none is installed. */
export const pgbouncerVersion =
  spawnSync('pgbouncer', ['--version'], { encoding: 'utf8', env: { PATH } }).stdout?.split('\n')[0] ?? null;
if (!pgbouncerVersion) console.warn('\n  NO pgbouncer ON PATH: the service behind a pooler is NOT TESTED.\n');

export interface Pgbouncer {
  url(databaseUrl: string): string;
  console(command: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

const nobody = 65_534; // PgBouncer refuses to run as root

/** Starts it in transaction mode, as its package sets it up but for `settings`; `connections` are per database. */
export async function startPgbouncer(
  serverUrl: string,
  { connections, settings = {} }: { connections: number; settings?: Record<string, string> },
): Promise<Pgbouncer> {
  const { hostname, port: serverPort, username } = new URL(serverUrl);
  const secret = await scramSecret(serverUrl);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  const isRoot = process.getuid?.() === 0;
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    if (isRoot) chownSync(file, nobody, nobody);
    return file;
  };
  chmodSync(folder, 0o755);
  const users = write('users.txt', `"${username}" "${secret}"\n`);
  const all: Record<string, string | number> = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: users,
    admin_users: username,
    pool_mode: 'transaction',
    default_pool_size: connections,
    max_client_conn: 1_000,
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const file = write(
    'pgbouncer.ini',
    `[databases]\n* = host=${hostname} port=${serverPort}\n[pgbouncer]\n${lines.join('\n')}\n`,
  );
  const child = spawn('pgbouncer', [file], {
    env: { PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot && { uid: nobody, gid: nobody }),
  });
  let printed = '';
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = (databaseUrl: string) => {
    const own = new URL(databaseUrl);
    [own.hostname, own.port] = ['127.0.0.1', String(port)];
    return own.toString();
  };
  const pgbouncer: Pgbouncer = {
    url,
    console: async (command) => {
      const admin = new URL(url(serverUrl));
      admin.pathname = '/pgbouncer';
      const client = new pg.Client({ connectionString: admin.toString() });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(command)).rows;
      } finally {
        await client.end();
      }
    },
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await untilUp(
    () => pgbouncer.console('show version'),
    () => child.exitCode === null,
  ).catch(async (error) => {
    await pgbouncer.stop();
    throw new Error(`pgbouncer did not start:\n${printed}`, { cause: error });
  });
  return pgbouncer;
}

/** With the password itself, PgBouncer would hash it thousands of times for every login, one after the other. */
async function scramSecret(serverUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ rolpassword: string }>(
      'select rolpassword from pg_authid where rolname = current_user',
    );
    return rows[0]!.rolpassword;
  } finally {
    await client.end();
  }
}

async function untilUp(ask: () => Promise<unknown>, isAlive: () => boolean): Promise<void> {
  const until = Date.now() + 10_000;
  for (;;) {
    const error = await ask().then(
      () => null,
      (reason: Error) => reason,
    );
    if (!error) return;
    if (!isAlive() || Date.now() > until) throw error;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
