import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleOrder } from '../../support/client.js';
import { operatorToken } from '../../support/process.js';
import { runProgram } from '../../support/program.js';
import { until, type Figure } from '../bench/scenarios/scenario.js';
import { sql as tryOnce } from '../chaos/world/engines.js';
import type { AcceptedEvent } from '../chaos/model.js';
import type { Drill, DrillOptions, Scene } from './drill.js';
import { deploy, type Deployment } from './load.js';
import {
  backUp,
  leaderOf,
  programs as ofCluster,
  startCluster,
  startMember,
  untilSynchronous,
  withinMs,
  type Member,
} from './patroni.js';
import { finish, makeFolder, run } from './processes.js';

const bin = '/usr/lib/postgresql/15/bin';
const programs = {
  ...ofCluster,
  pgCtl: { file: `${bin}/pg_ctl`, debian: 'postgresql-15' },
  isReady: { file: `${bin}/pg_isready`, debian: 'postgresql-15' },
  amcheck: { file: `${bin}/pg_amcheck`, debian: 'postgresql-15' },
};
const figure = 'parcelhook_backup_verified_timestamp_seconds';
const calmMs = 5_000;

interface World {
  options: DrillOptions;
  url: string;
  superuserUrl: string;
  cluster: Member[];
  deployment: Deployment;
}

/** The steps of docs/high-availability, on the cluster of its files. */
export const pgbackrest: Drill = {
  promise: 'backups under load, the newest verified; after a mistake, all accepted before it is there again',
  programs: Object.values(programs),
  run: async (options): Promise<Scene[]> => {
    const cluster = await startCluster(options);
    const world = { ...cluster, options, deployment: await deploy(cluster.url, options) };
    const restored = await backUpAndRestore(world);
    const after = await world.deployment.scene('a full backup of the restored cluster', async () => {
      const leader = (await leaderOf(world.cluster))!;
      return (await backUp(leader, ['--type=full', 'backup'], options)).seconds;
    });
    return [restored, after];
  },
};

async function backUpAndRestore(world: World): Promise<Scene> {
  const { options, deployment, cluster, url, superuserUrl } = world;
  const { service } = deployment;
  const primary = (await leaderOf(cluster))!;
  const load = deployment.startLoad();
  options.say('backups under load …');
  await until('orders are accepted', withinMs, () => load.accepted.length > 0);
  await sleep(calmMs);
  const full = await backUp(primary, ['--type=full', 'backup'], options);
  await sleep(calmMs);
  const incremental = await backUp(primary, ['--type=incr', 'backup'], options);
  options.say('verifying the newest …');
  const verified = await verify(primary, options);

  // The database is asked for the time after these were accepted: they were committed before.
  const accepted = [...load.accepted];
  const [{ moment }] = await one<{ moment: string }>(url, `select clock_timestamp()::text as moment`);
  const received = await firstReceived(deployment, accepted);
  await operate(service.url, ['shipment', 'erase', '--tracking-id', received, '--yes']);
  const ledger = await operate(service.url, ['erasures', 'export']);
  options.say(`a mistake after ${moment} …`);
  await sql(url, 'delete from shipments');
  const struckAt = performance.now();
  await load.stop(0);
  const gone = load.accepted.length - accepted.length;
  for (const running of [service.api, ...service.workers]) await service.end(running, 'SIGTERM');

  options.say('restoring …');
  const { restoring, replaying } = await restore(primary, moment, world);
  await service.startApi();
  await service.startWorker();
  await until('the service is ready', withinMs, () => isReady(service.url));
  const seconds = (performance.now() - struckAt) / 1_000;
  await operate(service.url, ['feed', 'renew']);
  const personalData = async () => (await orderOf(url, received)).includes(recipient);
  const violations = [...verified.violations];
  if (!(await personalData()))
    violations.push('the restored order is the erased one: nothing went back in time');
  const replayed = await operate(service.url, ['--json', 'erasures', 'replay', '-', '--yes'], ledger);
  if (await personalData())
    violations.push(`the ledger was replayed, and the order is not erased: ${replayed}`);
  const check = ['--install-missing', '--heapallindexed', superuserUrl.replace(/postgres\?/, 'parcelhook?')];
  const checked = await finish(
    programs.amcheck.file,
    check,
    join(options.folder, 'amcheck.log'),
    options.closing,
  );

  const arrived = await deployment.arrivals(accepted);
  const rows = await sql<{ event: string }>(
    url,
    `select tracking_id || ' ' || state as event from events join shipments using (shipment_id)`,
  );
  const known = new Set(rows.map(({ event }) => event));
  const absent = accepted.filter(({ trackingId, state }) => !known.has(`${trackingId} ${state}`));
  const [{ mb }] = await one<{ mb: number }>(
    url,
    'select pg_database_size(current_database())::float8 / 1e6 as mb',
  );
  const figures: Figure[] = [
    { name: 'accepted, and not in the database', value: absent.length, unit: '', atMost: 0 },
    { name: 'accepted after that moment, and gone', value: gone, unit: '' },
    { name: 'database', value: mb, unit: 'MB' },
    { name: 'full backup', value: full.seconds, unit: 's' },
    { name: 'incremental backup', value: incremental.seconds, unit: 's' },
    { name: 'verify-backup.sh', value: verified.seconds, unit: 's' },
    { name: 'restore', value: restoring, unit: 's' },
    { name: 'replay of the log', value: replaying, unit: 's' },
    { name: 'pg_amcheck', value: checked.seconds, unit: 's' },
  ];
  const name = 'back to the moment before a mistake';
  return { name, ...arrived, seconds, figures, violations: [...violations, ...arrived.violations] };
}

/** By the script that is scheduled: it writes the figure only if all is well. */
async function verify(
  { backups, ...member }: Member,
  options: DrillOptions,
): Promise<{ seconds: number; violations: string[] }> {
  const { folder, closing } = options;
  const script = join(folder, 'verify-backup.sh');
  copyFileSync(resolve('docs/high-availability/verify-backup.sh'), script);
  const textfiles = makeFolder(join(folder, 'textfiles'));
  const scratch = makeFolder(join(folder, 'scratch'));
  const { printed, seconds } = await finish(
    '/bin/sh',
    [script, textfiles, scratch],
    join(folder, 'verify.log'),
    closing,
    backups,
  );
  options.say(printed.trim());
  const info = await backUp({ backups, ...member }, ['--output=json', 'info'], options);
  const [{ backup }] = JSON.parse(info.printed) as [{ backup: { timestamp: { stop: number } }[] }];
  const expected = `${figure} ${backup.at(-1)!.timestamp.stop}\n`;
  const file = join(textfiles, 'backup.prom');
  const written = readFileSync(file, 'utf8');
  if (options.textfile !== undefined) {
    const to = join(options.textfile, 'backup.prom');
    copyFileSync(file, `${to}.new`);
    renameSync(`${to}.new`, to);
  }
  return { seconds, violations: written === expected ? [] : [`${written} is not ${expected}`] };
}

/** Stops the cluster, restores one member, and lets Patroni make the other anew. */
async function restore(
  primary: Member,
  moment: string,
  { cluster, options }: World,
): Promise<{ restoring: number; replaying: number }> {
  const { folder, closing } = options;
  const standby = cluster.find((member) => member !== primary)!;
  const isRunning = ({ data }: Member) => existsSync(join(data, 'postmaster.pid'));
  for (const member of [standby, primary]) {
    await member.daemon.end('SIGTERM');
    await until('PostgreSQL has ended', withinMs, () => !isRunning(member));
    renameSync(member.data, `${member.data}.before`);
  }
  makeFolder(primary.data);
  const target = ['--type=time', `--target=${moment}`, '--target-action=promote'];
  const restoring = await backUp(primary, [...target, 'restore'], options);
  const control = (...words: string[]) =>
    finish(
      programs.pgCtl.file,
      ['--pgdata', primary.data, ...words],
      join(folder, 'pg_ctl.log'),
      closing,
      primary.backups, // PostgreSQL calls pgBackRest for its log
    );
  closing.push(() => isRunning(primary) && control('stop', '--mode=immediate'));
  const log = join(primary.data, 'restore.log');
  const from = performance.now();
  await control('start', '--log', log, '--options', '-c hot_standby=off -c listen_addresses=');
  await until('all until that moment is replayed', withinMs, () => takesConnections(primary));
  const replaying = (performance.now() - from) / 1_000;
  await control('stop');
  const confirmed = 'parcelhook\nYes I am aware\n';
  run(programs.patronictl.file, ['-c', primary.configuration, 'remove', 'parcelhook'], '/', confirmed);
  for (const member of [primary, standby]) {
    member.daemon = startMember(member.configuration, member.name, options);
    if (member === primary)
      await until('the restored member leads', withinMs, async () => (await leaderOf(cluster)) === primary);
  }
  await untilSynchronous(cluster);
  return { restoring: restoring.seconds, replaying };
}

function takesConnections({ data }: Member): boolean {
  const [, , , port, socketFolder] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  try {
    run(programs.isReady.file, ['--host', socketFolder!, '--port', port!], '/');
    return true;
  } catch {
    return false;
  }
}

const recipient = sampleOrder().recipientInformation.fullName;

const orderOf = async (url: string, trackingId: string): Promise<string> => {
  const text = 'select order_data as data from shipments where tracking_id = $1';
  return (await sql<{ data: string }>(url, text, [trackingId]))[0]?.data ?? '';
};

/** A shipment of which nothing is owed any more: an erasure takes back nothing that was accepted. */
async function firstReceived(deployment: Deployment, accepted: AcceptedEvent[]): Promise<string> {
  let trackingId: string | undefined;
  await until('all states of a shipment are received', withinMs, () => {
    const journal = deployment.journal().filter(({ statusCode }) => statusCode === 200);
    const received = new Set(journal.map((entry) => `${entry.trackingId} ${entry.state}`));
    const owed = new Set(
      accepted
        .filter((event) => !received.has(`${event.trackingId} ${event.state}`))
        .map((event) => event.trackingId),
    );
    trackingId = accepted.find((event) => !owed.has(event.trackingId))?.trackingId;
    return trackingId !== undefined;
  });
  return trackingId!;
}

async function operate(url: string, words: string[], input = ''): Promise<string> {
  const env = { PARCELHOOK_URL: url, OPERATOR_TOKEN: operatorToken };
  const { exit, stdout, stderr } = await runProgram(['operator', ...words], env, { input });
  if (exit !== 0) throw new Error(`operator ${words.join(' ')} ended with ${exit}: ${stderr}`);
  return stdout;
}

/** HAProxy may find the primary late on a busy machine. */
async function sql<Row>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  let rows: Row[] = [];
  await until(text, withinMs, () =>
    tryOnce<Row>(url, text, values).then(
      (found) => ((rows = found), true),
      () => false,
    ),
  );
  return rows;
}

const one = async <Row>(url: string, text: string): Promise<[Row]> => (await sql<Row>(url, text)) as [Row];

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
