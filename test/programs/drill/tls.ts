import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from '../../support/client.js';
import { deployment } from '../../support/deployment.js';
import { operatorToken } from '../../support/process.js';
import { runProgram } from '../../support/program.js';
import { freePort, startRedis } from '../../support/redis.js';
import { until } from '../bench/scenarios/scenario.js';
import { sql } from '../chaos/world/engines.js';
import { issue, makeCertificates, type Certificate } from './certificates.js';
import { write } from './configuration.js';
import type { Drill, DrillOptions, Scene } from './drill.js';
import { deploy, type Deployment } from './load.js';
import { give, makeFolder, runUnprivileged, start } from './processes.js';
import { isServed, presented, present, type TlsServer } from './tls-server.js';

const bin = '/usr/lib/postgresql/15/bin';
const programs = {
  initdb: { file: `${bin}/initdb`, debian: 'postgresql-15' },
  postgres: { file: `${bin}/postgres`, debian: 'postgresql-15' },
  pgbouncer: { file: '/usr/sbin/pgbouncer', debian: 'pgbouncer' },
  redis: { file: '/usr/bin/redis-server', debian: 'redis-server' },
  openssl: { file: '/usr/bin/openssl', debian: 'openssl' },
};

const withinMs = 120_000;
const password = 'of-the-drill';

interface Postgres extends TlsServer {
  /** Applied by the next SIGHUP. */
  setTls(setting: 'on' | 'off'): void;
}

interface World {
  options: DrillOptions;
  postgres: Postgres;
  pgbouncer: TlsServer;
  pgbouncerLog: string;
  right: Certificate;
  /** Of the same CA, for the same names. */
  renew(file: string): Certificate;
  wrong: Refused[];
  urlAt(server: TlsServer, database: string, login?: string): string;
}

/** A certificate that is presented instead of the right one (null: no TLS), and how it is refused. */
interface Refused {
  what: string;
  certificate: Certificate | null;
  says: RegExp;
}

export const tls: Drill = {
  promise: 'verify-full, direct and through PgBouncer: wrong certificates are refused; new ones cost nothing',
  programs: Object.values(programs),
  run: async (options): Promise<Scene[]> => {
    options.say('starting PostgreSQL and PgBouncer …');
    const world = await startWorld(options);
    const scenes: Scene[] = [];
    for (const wrong of world.wrong) scenes.push(await refusal(world, wrong));
    const { postgres, pgbouncer, renew, urlAt } = world;
    const direct = await deploy(urlAt(postgres, 'direct'), options);
    scenes.push(
      await renewal(world, direct, 'PostgreSQL gets a new certificate, and its sessions are ended', () =>
        present(postgres, renew('renewed')),
      ),
    );
    const redis = await startRedis(options.folder);
    options.closing.push(() => redis!.stop());
    const pooled = await deploy(urlAt(pgbouncer, 'parcelhook'), options, {
      REDIS_URL: redis!.url,
      DATABASE_POOLER: 'transaction',
    });
    scenes.push(
      await renewal(world, pooled, 'through PgBouncer, both get one', async () => {
        await present(pgbouncer, renew('renewed-pgbouncer'));
        await present(postgres, renew('renewed-again'));
      }),
    );
    return scenes;
  },
};

async function startWorld(options: DrillOptions): Promise<World> {
  const { folder } = options;
  const certificates = join(folder, 'certificates');
  const { ca, ...right } = makeCertificates(certificates);
  const ofAnother = makeCertificates(join(folder, 'other-certificates'));
  const ofAnotherName = issue(certificates, 'other-name', 'DNS:db.internal');
  const urlAt = ({ port }: TlsServer, database: string, login = 'parcelhook') =>
    `postgresql://${login}:${password}@localhost:${port}/${database}?sslmode=verify-full&sslrootcert=${ca}`;
  const postgres = await startPostgres(options, right);
  const administer = (text: string) => sql<{ secret: string }>(urlAt(postgres, 'postgres', 'postgres'), text);
  await until('PostgreSQL responds', withinMs, () => isServed(() => administer('select 1')));
  await administer(`create role parcelhook login password '${password}'`);
  for (const name of ['refused', 'direct', 'parcelhook'])
    await administer(`create database ${name} owner parcelhook`);
  const [row] = await administer(`select rolpassword as secret from pg_authid where rolname = 'parcelhook'`);
  const pgbouncerLog = join(folder, 'pgbouncer.log');
  const pgbouncer = await startPgbouncer(options, { postgres, ca, secret: row!.secret, log: pgbouncerLog });
  return {
    options,
    postgres,
    pgbouncer,
    pgbouncerLog,
    right,
    renew: (file) => issue(certificates, file),
    wrong: [
      { what: 'of another CA', certificate: ofAnother, says: /unable to verify/ },
      { what: 'for another name', certificate: ofAnotherName, says: /db\.internal/ },
      { what: 'none', certificate: null, says: /does not support SSL/ },
    ],
    urlAt,
  };
}

async function startPostgres({ folder, closing }: DrillOptions, first: Certificate): Promise<Postgres> {
  const home = makeFolder(join(folder, 'postgres'));
  const data = join(home, 'data');
  const file = (name: string, text: string) => {
    writeFileSync(join(home, name), text, { mode: 0o600 });
    return give(join(home, name));
  };
  const account = ['-U', 'postgres', '--auth=scram-sha-256', '--pwfile', file('password', password)];
  runUnprivileged(programs.initdb.file, ['-D', data, ...account, '--no-locale', '-E', 'UTF8', '--no-sync']);
  const setTls = (setting: 'on' | 'off') => void file('tls.conf', `ssl = ${setting}\n`);
  setTls('on');
  const [certificate, key] = ['server.crt', 'server.key'].map((name) => join(home, name)) as [string, string];
  const port = await freePort();
  const settings = [
    `listen_addresses = '127.0.0.1'`,
    `port = ${port}`,
    `unix_socket_directories = ''`,
    `max_connections = 200`,
    `ssl_cert_file = '${certificate}'`,
    `ssl_key_file = '${key}'`,
    `include '${join(home, 'tls.conf')}'`,
  ];
  appendFileSync(join(data, 'postgresql.conf'), `${settings.join('\n')}\n`);
  writeFileSync(join(data, 'pg_hba.conf'), 'hostssl all all all scram-sha-256\n');
  for (const [from, to] of [
    [first.certificate, 'server.crt'],
    [first.key, 'server.key'],
  ] as const)
    file(to, readFileSync(from, 'utf8'));
  const daemon = start(programs.postgres.file, ['-D', data], join(folder, 'postgres.log'), closing);
  return { certificate, key, port, daemon, setTls };
}

interface Upstream {
  postgres: Postgres;
  ca: string;
  secret: string;
  log: string;
}

async function startPgbouncer(
  { folder, closing }: DrillOptions,
  { postgres, ca, secret, log }: Upstream,
): Promise<TlsServer> {
  const home = makeFolder(join(folder, 'pgbouncer'));
  const [certificate, key, users] = ['pgbouncer.crt', 'pgbouncer.key', 'userlist.txt'].map((name) =>
    join(home, name),
  ) as [string, string, string];
  writeFileSync(users, `"parcelhook" "${secret}"\n`, { mode: 0o600 });
  give(users);
  for (const [from, to] of [
    [postgres.certificate, certificate],
    [postgres.key, key],
  ] as const) {
    writeFileSync(to, readFileSync(from), { mode: 0o600 });
    give(to);
  }
  const port = await freePort();
  const file = write('pgbouncer.ini', join(folder, 'pgbouncer.ini'), [
    ['port=5000', `port=${postgres.port}`],
    ['listen_port = 6432', `listen_port = ${port}`],
    ['/etc/pgbouncer/userlist.txt', users],
    ['/etc/parcelhook/pgbouncer.crt', certificate],
    ['/etc/parcelhook/pgbouncer.key', key],
    ['/etc/parcelhook/ca.crt', ca],
  ]);
  const daemon = start(programs.pgbouncer.file, [file], log, closing);
  const pgbouncer = { certificate, key, port, daemon };
  await until('PgBouncer responds', withinMs, () => isServed(() => presented(port)));
  return pgbouncer;
}

/** At start: a worker waits and says why, `migrate` gives up, PgBouncer does not connect. Then the cause is removed. */
async function refusal(world: World, { what, certificate, says }: Refused): Promise<Scene> {
  const { options, postgres, pgbouncer, pgbouncerLog, right, urlAt } = world;
  const name = `PostgreSQL’s certificate: ${what}`;
  options.say(`${name} …`);
  await endSessions(world); // PgBouncer would use its own again
  postgres.setTls(certificate ? 'on' : 'off');
  await present(postgres, certificate);
  const violations: string[] = [];
  const check = (holds: boolean, why: string) => void (holds || violations.push(why));
  const port = await freePort();
  const env = { ...envOfRefused, DATABASE_URL: urlAt(postgres, 'refused'), PORT: String(port) };
  let stop: () => void = () => undefined;
  const stopWhen = new Promise<void>((resolve) => (stop = resolve));
  const ended = runProgram(['worker'], env, { stopWhen, timeoutMs: 3 * withinMs });
  const headers = { authorization: `Bearer ${operatorToken}` };
  const ready = async () => {
    const { httpStatus, body } = await request(`http://127.0.0.1:${port}/readyz`, { headers });
    const { checks } = body as unknown as { checks?: Record<string, string> };
    return { isReady: httpStatus === 200, reason: checks?.postgres ?? '' };
  };
  let seconds = NaN;
  let reason = '';
  try {
    const migrated = await runProgram(['migrate'], env, { timeoutMs: withinMs });
    check(migrated.exit === 1, `migrate exits with ${migrated.exit}`);
    check(says.test(migrated.stderr), `migrate says ${migrated.stderr}`);
    await until('the worker says why', withinMs, async () => {
      ({ reason } = await ready().catch(() => ({ reason: '' })));
      return says.test(reason);
    }).catch((error: Error) => violations.push(`${error.message}; it says ${reason}`));
    const before = readFileSync(pgbouncerLog, 'utf8').length;
    const pooled = urlAt(pgbouncer, 'parcelhook');
    check(!(await isServed(() => sql(pooled, 'select 1'))), 'PgBouncer connects');
    const logged = readFileSync(pgbouncerLog, 'utf8').slice(before);
    check(/TLS handshake error|server refused SSL/.test(logged), `PgBouncer says ${logged}`);

    postgres.setTls('on');
    await present(postgres, right);
    seconds = (await until('the worker is ready', withinMs, async () => (await ready()).isReady)) / 1_000;
    await until('PgBouncer connects', withinMs, () => isServed(() => sql(pooled, 'select 1')));
  } finally {
    stop();
  }
  const { exit } = await ended;
  check(exit === 0, `the worker exits with ${exit}`);
  const figures = [
    { name: 'ready after it was put right', value: seconds, unit: 's', atMost: 30, note: reason },
  ];
  return { name, accepted: 0, lost: 0, twice: 0, seconds, figures, violations };
}

const envOfRefused = deployment('');

const endSessions = ({ postgres, urlAt }: World) =>
  sql(
    urlAt(postgres, 'postgres', 'postgres'),
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'parcelhook'`,
  );

/** Ends all sessions, since an established one goes on with the old certificate. */
async function renewal(
  world: World,
  deployed: Deployment,
  name: string,
  presentNew: () => Promise<void>,
): Promise<Scene> {
  const scene = await deployed.scene(name, async () => {
    const from = Date.now();
    await presentNew();
    await endSessions(world);
    const endedAt = Date.now();
    await until('an order is accepted', withinMs, () => deployed.hasAcceptedSince(endedAt));
    return (Date.now() - from) / 1_000;
  });
  const again = { name: 'orders accepted again after', value: scene.seconds, unit: 's', atMost: 10 };
  return { ...scene, figures: [...scene.figures, again] };
}
