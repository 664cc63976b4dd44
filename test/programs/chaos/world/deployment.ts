import pg from 'pg';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { smallDisk, type Disk } from './disk.js';
import { postgresIn, redisIn, type Closing, type PostgresEngine, type RedisEngine } from './engines.js';
import { proxyTo, type Proxy } from './proxied.js';
import { redisCluster, redisWithSentinels, type FailingOver } from './redis-fail-over.js';
import { postgresWithStandby, type PostgresPair } from './standby.js';

export interface Needs {
  disks?: boolean;
  proxies?: boolean;
  clocks?: boolean;
  postgresClock?: boolean;
  /** An engine with a substitute. */
  failOver?: 'cluster' | 'sentinel' | 'standby' | 'asynchronous standby';
}

type PerEngine<Thing> = { postgres?: Thing; redis?: Thing };

/** Null if not requested. */
export interface Engines {
  databaseUrl: string;
  redisUrl: string | undefined;
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  postgres: PostgresEngine | null;
  redis: RedisEngine | null;
  proxies: PerEngine<Proxy>;
  disks: PerEngine<Disk>;
  failOver: FailingOver['failOver'] | null;
  standby: PostgresPair | null;
}

/** PostgreSQL's takes more than its write-ahead log may take before a checkpoint. */
const diskMb = { postgres: 2_048, redis: 256 };

/** Null if a Redis is needed and none is installed. */
export async function startEngines(
  folder: string,
  queue: string,
  needs: Needs,
  closing: Closing,
): Promise<Engines | null> {
  const onRedis = queue === 'redis';
  const disks: Engines['disks'] = {};
  const folderFor = (engine: 'postgres' | 'redis') => {
    const path = join(folder, `${engine}-data`);
    if (needs.disks) disks[engine] = smallDisk(path, diskMb[engine], closing);
    else mkdirSync(path);
    return path;
  };
  const standby = needs.failOver?.endsWith('standby')
    ? await postgresWithStandby(folder, closing, needs.failOver === 'standby')
    : null;
  const postgres = standby ? null : await postgresIn(folderFor('postgres'), closing, needs.postgresClock);
  const group = onRedis ? await redisGroup(folder, needs, closing) : null;
  const redis = onRedis && !group ? await redisIn(folderFor('redis'), closing) : null;
  if (onRedis && !group && !redis) return null;

  const proxies: Engines['proxies'] = {};
  const reach = async (engine: 'postgres' | 'redis', url: string) =>
    needs.proxies ? (proxies[engine] = await proxyTo(url, closing)).url : url;
  const url = (standby ?? postgres)!.url;
  return {
    databaseUrl: await reach('postgres', url),
    redisUrl: group?.url ?? (redis ? await reach('redis', redis.url) : undefined),
    sql: postgres?.sql ?? sqlAt(url, closing),
    postgres,
    redis,
    proxies,
    disks,
    failOver: (standby ?? group)?.failOver ?? null,
    standby,
  };
}

async function redisGroup(folder: string, { failOver }: Needs, closing: Closing) {
  if (failOver === 'cluster') return redisCluster(folder, closing);
  return failOver === 'sentinel' ? redisWithSentinels(folder, closing) : null;
}

/** The bench's own connection: bypasses all proxies, and is patient. */
function sqlAt(connectionString: string, closing: Closing): Engines['sql'] {
  const pool = new pg.Pool({ connectionString, max: 3 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  closing.push(() => pool.end());
  return async <Row>(text: string, values: unknown[] = []) => (await pool.query(text, values)).rows as Row[];
}
