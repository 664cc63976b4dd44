import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { until } from '../../bench/scenarios/scenario.js';
import { freePort, redisProgram, startRedis, type RedisServer } from '../../../support/redis.js';
import { NotRunnable } from './disk.js';
import type { Closing } from './engines.js';

export interface FailingOver {
  url: string;
  /** Kills the leader; resolves when another leads in its place. */
  failOver(): Promise<void>;
}

const takenOverWithinMs = 60_000;
const portOf = (server: RedisServer) => new URL(server.url).port;

async function server(folder: string, closing: Closing, settings: string[] = []): Promise<RedisServer> {
  const started = await startRedis(folder, undefined, settings);
  if (!started) throw new NotRunnable('no redis-server or valkey-server on PATH');
  closing.push(started.stop);
  return started;
}

async function ask<Result>(url: string, ...[name, ...words]: string[]): Promise<Result> {
  const client = new Redis(url, { maxRetriesPerRequest: 0, commandTimeout: 10_000, protocol: 2 });
  client.on('error', () => undefined);
  return client.call(name!, ...words).finally(() => client.disconnect()) as Promise<Result>;
}

const holds = (check: () => Promise<boolean>) => () => check().catch(() => false);

/** Three primaries and three replicas; the leader has the queue of deliveries. */
export async function redisCluster(folder: string, closing: Closing): Promise<FailingOver> {
  const nodes: RedisServer[] = [];
  const addresses: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    // The default would be among the ephemeral ports.
    const busPort = String(await freePort());
    const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '5000'];
    const node = await server(folder, closing, [...settings, '--cluster-port', busPort]);
    nodes.push(node);
    addresses.push(`127.0.0.1:${portOf(node)}@${busPort}`);
  }
  const client = redisProgram!.replace('-server', '-cli');
  const words = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'];
  const made = spawnSync(client, words, { encoding: 'utf8', timeout: 60_000 });
  if (made.error) throw new NotRunnable(`no ${client} on PATH`);
  if (made.status !== 0) throw new Error(`no cluster was made:\n${made.stdout}${made.stderr}`);

  const isWhole = async (url: string) => {
    const state = await ask<string>(url, 'CLUSTER', 'INFO');
    const replication = await ask<string>(url, 'INFO', 'replication');
    return state.includes('cluster_state:ok') && /connected_slaves:1|master_link_status:up/.test(replication);
  };
  for (const { url } of nodes)
    await until('the cluster is whole', takenOverWithinMs, holds(isWhole.bind(null, url)));

  const slot = await ask<number>(nodes[0]!.url, 'CLUSTER', 'KEYSLOT', '{parcelhook-deliver-0}');
  const leads = async (node: RedisServer) =>
    /\bmyself,master\b[^\n]*/.test(await ask<string>(node.url, 'CLUSTER', 'NODES')) &&
    (await leaderPort(node)) === portOf(node);
  const leaderPort = async (asked: RedisServer) => {
    const slots = await ask<[number, number, [string, number]][]>(asked.url, 'CLUSTER', 'SLOTS');
    const range = slots.find(([first, last]) => slot >= first && slot <= last);
    return String(range?.[2][1]);
  };
  return {
    url: `redis+cluster://${nodes.map(({ url }) => new URL(url).host).join(',')}`,
    failOver: async () => {
      const isLeader = await Promise.all(nodes.map(leads));
      const victim = nodes[isLeader.indexOf(true)]!;
      const others = nodes.filter((node) => node !== victim);
      await victim.stop();
      const anotherLeads = async () => (await Promise.all(others.map(leads))).includes(true);
      await until('another primary leads', takenOverWithinMs, holds(anotherLeads));
    },
  };
}

/** A primary, its replica, and three Sentinels that watch them. */
export async function redisWithSentinels(folder: string, closing: Closing): Promise<FailingOver> {
  const primary = await server(folder, closing);
  const replica = await server(folder, closing, ['--replicaof', '127.0.0.1', portOf(primary)]);
  const sentinels: string[] = [];
  for (let n = 0; n < 3; n += 1) sentinels.push(await startSentinel(folder, portOf(primary), closing));
  const asMap = (words: string[]) =>
    new Map(words.flatMap((word, n) => (n % 2 ? [] : [[word, words[n + 1]]])));
  for (const url of sentinels) {
    const knowsAll = async () => {
      const primary = asMap(await ask<string[]>(url, 'SENTINEL', 'MASTER', 'mymaster'));
      return primary.get('num-slaves') === '1' && primary.get('num-other-sentinels') === '2';
    };
    await until('the Sentinels know each other', takenOverWithinMs, holds(knowsAll));
  }
  const replicaLeads = async () => {
    const [, port] = await ask<string[]>(sentinels[0]!, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster');
    const replication = await ask<string>(replica.url, 'INFO', 'replication');
    return port === portOf(replica) && replication.includes('role:master');
  };
  return {
    url: `redis+sentinel://${sentinels.map((url) => new URL(url).host).join(',')}/mymaster`,
    failOver: async () => {
      await primary.stop();
      await until('the replica leads', takenOverWithinMs, holds(replicaLeads));
    },
  };
}

async function startSentinel(folder: string, primaryPort: string, closing: Closing): Promise<string> {
  const port = await freePort();
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor mymaster 127.0.0.1 ${primaryPort} 2`,
    'sentinel down-after-milliseconds mymaster 2000',
    'sentinel failover-timeout mymaster 10000',
  ];
  const file = join(mkdtempSync(join(folder, 'sentinel-')), 'sentinel.conf');
  writeFileSync(file, settings.map((line) => `${line}\n`).join(''));
  const child = spawn(redisProgram!, [file, '--sentinel'], { stdio: 'ignore' });
  closing.push(() => child.kill('SIGKILL'));
  await sleep(100);
  return `redis://127.0.0.1:${port}`;
}
