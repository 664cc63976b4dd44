import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/redis.js';
import { until } from '../bench/scenarios/scenario.js';
import { sql } from '../chaos/world/engines.js';
import { makeCertificates } from './certificates.js';
import { write } from './configuration.js';
import type { Drill, DrillOptions, Scene } from './drill.js';
import { deploy } from './load.js';
import { finish, makeFolder, run, start, type Daemon } from './processes.js';

export const programs = {
  etcd: { file: '/usr/bin/etcd', debian: 'etcd-server' },
  patroni: { file: '/usr/bin/patroni', debian: 'patroni' },
  patronictl: { file: '/usr/bin/patronictl', debian: 'patroni' },
  haproxy: { file: '/usr/sbin/haproxy', debian: 'haproxy' },
  postgres: { file: '/usr/lib/postgresql/15/bin/postgres', debian: 'postgresql-15' },
  pgbackrest: { file: '/usr/bin/pgbackrest', debian: 'pgbackrest' },
};

export const withinMs = 120_000;
const members = ['db1', 'db2'];

export interface Member {
  name: string;
  restUrl: string;
  data: string;
  configuration: string;
  /** The environment of pgBackRest: its configuration of this member. Both have one repository. */
  backups: { PGBACKREST_CONFIG: string };
  daemon: Daemon;
}

export const patroni: Drill = {
  promise: 'the primary killed, then a switchover: nothing accepted is lost; orders again within 60 and 15 s',
  programs: Object.values(programs),
  run: async (options): Promise<Scene[]> => {
    const { url, cluster } = await startCluster(options);
    const deployment = await deploy(url, options);
    const untilAccepted = async (what: () => Promise<void>) => {
      const from = Date.now();
      await what();
      const struckAt = Date.now();
      await until('another member leads', withinMs, async () => (await leaderOf(cluster)) !== undefined);
      // A response may be that of a request that the old primary still committed.
      await until('an order is accepted', withinMs, () => deployment.hasAcceptedSince(struckAt + settleMs));
      return (Date.now() - from) / 1_000;
    };
    const killed = await deployment.scene('kill -9 of the primary and its Patroni', async () => {
      const leader = (await leaderOf(cluster))!;
      const pid = Number(readFileSync(join(leader.data, 'postmaster.pid'), 'utf8').split('\n')[0]);
      const seconds = await untilAccepted(async () => {
        await leader.daemon.end('SIGKILL');
        process.kill(pid, 'SIGKILL');
      });
      leader.daemon = startMember(leader.configuration, leader.name, options);
      return seconds;
    });
    await untilSynchronous(cluster);
    const switched = await deployment.scene('a switchover', async () => {
      const leader = (await leaderOf(cluster))!;
      return untilAccepted(async () => {
        run(
          programs.patronictl.file,
          ['-c', leader.configuration, 'switchover', '--master', leader.name, '--force'],
          '/',
        );
        await Promise.resolve();
      });
    });
    killed.figures.push({
      name: 'orders accepted again after',
      value: killed.seconds,
      unit: 's',
      atMost: 60,
    });
    switched.figures.push({
      name: 'orders accepted again after',
      value: switched.seconds,
      unit: 's',
      atMost: 15,
    });
    return [killed, switched];
  },
};

const settleMs = 500;

export async function startCluster(
  options: DrillOptions,
): Promise<{ url: string; superuserUrl: string; cluster: Member[] }> {
  const { folder, closing, say } = options;
  const certificates = makeCertificates(join(folder, 'certificates'));
  const clients = new Map<string, string>();
  const peers = new Map<string, string>();
  for (const host of ['10.0.0.11', '10.0.0.12', '10.0.0.13']) {
    clients.set(host, `127.0.0.1:${await freePort()}`);
    peers.set(host, `127.0.0.1:${await freePort()}`);
  }
  const own = (addresses: Map<string, string>, port: string): [string, string][] =>
    [...addresses].map(([host, address]) => [`${host}:${port}`, address]);
  say('starting etcd, Patroni and HAProxy …');
  for (const [index, host] of [...clients.keys()].entries()) {
    const name = `db${index + 1}`;
    const data = makeFolder(join(folder, `etcd-${name}`));
    const file = write('etcd.yml', join(folder, `etcd-${name}.yml`), [
      ['name: db1', `name: ${name}`],
      ['/var/lib/etcd/parcelhook', data],
      ['urls: http://10.0.0.11:2379', `urls: http://${clients.get(host)!}`],
      ['urls: http://10.0.0.11:2380', `urls: http://${peers.get(host)!}`],
      ...own(peers, '2380'),
    ]);
    start(programs.etcd.file, ['--config-file', file], join(folder, `etcd-${name}.log`), closing);
  }
  const cluster: Member[] = [];
  const repository = makeFolder(join(folder, 'repository'));
  const forProxy: [string, string][] = [];
  for (const [index, name] of members.entries()) {
    const [rest, port] = [await freePort(), await freePort()];
    const home = makeFolder(join(folder, name));
    const data = join(home, 'data');
    const backups = write('pgbackrest.conf', join(folder, `${name}-pgbackrest.conf`), [
      ['/var/lib/pgbackrest', `${repository}\nlog-path=${home}\nlock-path=${join(home, 'locks')}`],
      ['/var/lib/postgresql/15/parcelhook', data],
      ['/var/run/postgresql', home],
      ['pg1-port=5432', `pg1-port=${port}`],
    ]);
    const configuration = write('patroni.yml', join(folder, `${name}.yml`), [
      ['name: db1', `name: ${name}`],
      ...own(clients, '2379'),
      ['10.0.0.11:8008', `127.0.0.1:${rest}`],
      ['10.0.0.11:5432', `127.0.0.1:${port}`],
      ['/var/lib/postgresql/15/parcelhook', data],
      ['/var/lib/postgresql/.pgpass-patroni', join(home, 'pgpass')],
      ['/var/run/postgresql', home],
      ['pgbackrest --stanza', `pgbackrest --config=${backups} --stanza`],
      // Only root can be postgres.
      ['local all postgres peer', `local all postgres ${process.getuid?.() === 0 ? 'peer' : 'trust'}`],
      ['/etc/parcelhook/ca.crt', certificates.ca],
      ['/etc/parcelhook/server.crt', certificates.certificate],
      ['/etc/parcelhook/server.key', certificates.key],
    ]);
    forProxy.push([`10.0.0.1${index + 1}:5432 check port 8008`, `127.0.0.1:${port} check port ${rest}`]);
    const daemon = startMember(configuration, name, options);
    cluster.push({
      name,
      restUrl: `http://127.0.0.1:${rest}`,
      data,
      configuration,
      backups: { PGBACKREST_CONFIG: backups },
      daemon,
    });
    if (index > 0) continue;
    await until('the first member leads', withinMs, () => isLeader(cluster[0]!));
    await backUp(cluster[0]!, ['stanza-create'], options);
  }
  const entrance = await freePort();
  const proxy = write('haproxy.cfg', join(folder, 'haproxy.cfg'), [
    ['127.0.0.1:5000', `127.0.0.1:${entrance}`],
    ...forProxy,
  ]);
  start(programs.haproxy.file, ['-db', '-f', proxy], join(folder, 'haproxy.log'), closing);
  await untilSynchronous(cluster);
  const at = (login: string, database: string) =>
    `postgresql://${login}@localhost:${entrance}/${database}?sslmode=verify-full&sslrootcert=${certificates.ca}`;
  const superuserUrl = at('postgres:change-me-1', 'postgres');
  await until('the primary responds through HAProxy', withinMs, () =>
    sql(superuserUrl, 'select 1').then(
      () => true,
      () => false,
    ),
  );
  await sql(superuserUrl, `create role parcelhook login password 'of-the-drill'`);
  await sql(superuserUrl, 'create database parcelhook owner parcelhook');
  return { url: at('parcelhook:of-the-drill', 'parcelhook'), superuserUrl, cluster };
}

/** Runs pgBackRest beside the member; resolves with what it printed, and its seconds. */
export const backUp = ({ name, backups }: Member, words: string[], { folder, closing }: DrillOptions) =>
  finish(
    programs.pgbackrest.file,
    ['--stanza=parcelhook', ...words],
    join(folder, `${name}-${words.at(-1)!}-${Date.now()}.log`),
    closing,
    backups,
  );

export const startMember = (configuration: string, name: string, { folder, closing }: DrillOptions): Daemon =>
  start(programs.patroni.file, [configuration], join(folder, `${name}.log`), closing);

const responds = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
const isLeader = ({ restUrl }: Member) => responds(`${restUrl}/primary`);

export async function leaderOf(cluster: Member[]): Promise<Member | undefined> {
  for (const member of cluster) if (await isLeader(member)) return member;
  await sleep(200);
  return undefined;
}

export const untilSynchronous = (cluster: Member[]) =>
  until('a standby is synchronous', withinMs, async () =>
    (await Promise.all(cluster.map(({ restUrl }) => responds(`${restUrl}/sync`)))).includes(true),
  );
