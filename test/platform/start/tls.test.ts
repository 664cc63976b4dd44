/** Engines that speak TLS, with a certificate of a private CA, by the commands and settings of docs/operating.md. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from '../../programs/chaos/world/engines.js';
import { request } from '../../support/client.js';
import { newFolder, type Folder } from '../../support/deployment.js';
import {
  operatorToken,
  startProcess,
  startServiceToBreak,
  stopProcess,
  type Service,
} from '../../support/harness.js';
import { runProgram } from '../../support/program.js';
import { freePort, redisProgram, startRedis, type RedisServer } from '../../support/redis.js';
import { until } from '../../support/until.js';

const server = process.env.TEST_DATABASE_URL ?? '';
const names = ['ssl', 'ssl_cert_file', 'ssl_key_file'];
let folder: Folder;
let service: Service;
let redis: RedisServer | null;
let tlsPort: number;

const setOnServer = async (statements: string[]) => {
  for (const statement of statements) await sql(server, `alter system ${statement}`);
  await sql(server, 'select pg_reload_conf()');
};

beforeAll(async () => {
  folder = newFolder();
  const openssl = (args: string) =>
    execFileSync('openssl', args.split(' '), { cwd: folder.path, stdio: 'pipe' });
  openssl('req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=Engines -keyout ca.key -out ca.crt');
  openssl('req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr');
  writeFileSync(join(folder.path, 'names'), 'subjectAltName=DNS:localhost');
  openssl(
    'x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt',
  );

  const [{ data } = { data: '' }] = await sql<{ data: string }>(
    server,
    `select current_setting('data_directory') as data`,
  );
  const { uid, gid } = statSync(data);
  for (const file of ['server.crt', 'server.key']) {
    copyFileSync(join(folder.path, file), join(data, file));
    chmodSync(join(data, file), 0o600);
    chownSync(join(data, file), uid, gid);
  }
  await setOnServer([`set ssl_cert_file = 'server.crt'`, `set ssl_key_file = 'server.key'`, 'set ssl = on']);
  tlsPort = await freePort();
  const tls = {
    'tls-port': tlsPort,
    'tls-cert-file': 'server.crt',
    'tls-key-file': 'server.key',
    'tls-ca-cert-file': 'ca.crt',
    'tls-auth-clients': 'no',
  };
  const settings = Object.entries(tls).flatMap(([name, value]) => [
    `--${name}`,
    name.endsWith('-file') ? join(folder.path, String(value)) : String(value),
  ]);
  redis = await startRedis(folder.path, undefined, settings);
  service = await startServiceToBreak({}, 'api');
  await stopProcess(service.process);
});
afterAll(async () => {
  await setOnServer(names.map((name) => `reset ${name}`));
  await service.stop();
  await redis?.stop();
  folder.remove();
});

/** The section's text, with the names of this machine. */
function documented(): string {
  const [, section] = /\n## TLS to PostgreSQL and Redis\n([^]*?)\n## /.exec(
    readFileSync('docs/operating.md', 'utf8'),
  )!;
  const database = new URL(service.env.DATABASE_URL!);
  return section!
    .replaceAll('ca.crt', join(folder.path, 'ca.crt'))
    .replaceAll(
      'user:password@db.internal:5432/parcelhook',
      `${database.username}:${database.password}@localhost:${database.port}${database.pathname}`,
    )
    .replaceAll('user:password@redis.internal', 'redis.internal')
    .replaceAll('db.internal:5432', `localhost:${database.port}`)
    .replaceAll('redis.internal:6379', `localhost:${tlsPort}`);
}
const settings = () =>
  Object.fromEntries(
    [...documented().matchAll(/^([A-Z_]+)='?([^'\n]+)'?$/gm)].map(([, name, value]) => [name!, value!]),
  );

const reasons = async (url: string) => {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const answer = await request(`${url}/readyz`, { headers }).catch(() => null);
  return ((answer?.body ?? {}) as { checks?: Record<string, string> }).checks ?? {};
};

(redisProgram ? test : test.skip)(
  'the documented commands verify both servers, and with the documented settings a worker is ready',
  async () => {
    const commands = documented().match(/^openssl .*$/gm)!;
    expect(commands).toHaveLength(2);
    for (const command of commands)
      expect(execFileSync('bash', ['-c', command], { encoding: 'utf8', stdio: 'pipe' })).toContain(
        'Verify return code: 0 (ok)',
      );
    expect(Object.keys(settings())).toEqual(['DATABASE_URL', 'REDIS_URL', 'NODE_EXTRA_CA_CERTS']);
    const worker = await startProcess({ ...service.env, ...settings() }, 'worker');
    try {
      await until('ready', async () => (await request(`${worker.url}/readyz`)).httpStatus === 200);
      const plain = `select 1 from pg_stat_activity join pg_stat_ssl using (pid)
      where datname = $1 and application_name like 'parcelhook%' and not ssl`;
      expect(await sql(server, plain, [new URL(service.env.DATABASE_URL!).pathname.slice(1)])).toEqual([]);
    } finally {
      expect(await stopProcess(worker)).toBe(0);
    }
  },
);

test.each([
  ['sslmode=verify-full', /unable to verify the first certificate/],
  ['sslmode=require', /unable to verify the first certificate/],
])('%s without the CA is refused, and the reason said', async (query, reason) => {
  const port = await freePort();
  const url = new URL(settings().DATABASE_URL!.replace(/\?.*/, `?${query}`)).href;
  let stop: () => void = () => undefined;
  const stopWhen = new Promise<void>((resolve) => (stop = resolve));
  const env = { ...service.env, DATABASE_URL: url, PORT: String(port) };
  const ended = runProgram(['worker'], env, { stopWhen });
  await until('said', async () =>
    reason.test((await reasons(`http://127.0.0.1:${port}`)).postgres ?? ''),
  ).finally(stop);
  expect(await ended).toMatchObject({ exit: 0, stderr: '' });
});
