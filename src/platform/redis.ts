import { Cluster, Redis } from 'ioredis';

/**
 * A connection whose reply is overdue by this much is closed and reopened: it may be half open, and TCP alone takes a
 * quarter of an hour to notice. A worker waits at most 10 s for a job.
 */
const silentMs = { fast: 5_000, blocking: 15_000 };

/**
 * Forms of REDIS_URL: redis://, rediss://, redis+sentinel://user:password@h1:26379,h2:26379/master-name/db,
 * redis+cluster://user:password@h1,h2. `fast` is for producers: a command fails at once while Redis is unavailable
 * instead of piling up in memory, and never waits longer than `commandTimeoutMs`. `blocking` is for workers, which wait
 * for Redis to come back.
 */
export function connectRedis(
  url: string,
  kind: 'fast' | 'blocking',
  commandTimeoutMs = 1_000,
): Redis | Cluster {
  const options =
    kind === 'fast'
      ? { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: commandTimeoutMs }
      : { maxRetriesPerRequest: null };
  const socketTimeout = silentMs[kind];
  const shared = {
    ...options,
    socketTimeout,
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 2_000),
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  };
  const { mode, tls, hosts, username, password, master, db } = parseRedisUrl(url);
  if (mode === 'single') return onlyInItsDatabase(new Redis(url, shared));

  const secure = {
    ...(tls && { tls: {} }),
    ...(username && { username }),
    ...(password && { password }),
  };
  if (mode === 'cluster') {
    return new Cluster(hosts, {
      redisOptions: { ...shared, ...secure },
      enableOfflineQueue: kind === 'blocking',
      // ioredis never settles a connect() whose ready check fails, as during an election of a primary: a worker waiting
      // for it would take no job again. Commands that such a cluster refuses are retried anyway.
      enableReadyCheck: false,
      clusterRetryStrategy: (times) => Math.min(100 * times, 2_000),
    });
  }
  return onlyInItsDatabase(
    new Redis({
      ...shared,
      ...secure,
      sentinels: hosts,
      name: master,
      db,
    }),
  );
}

/** If the database of the address cannot be selected, ioredis would continue in database 0. */
function onlyInItsDatabase(redis: Redis): Redis {
  redis.on('error', (error: Error & { command?: { name: string } }) => {
    if (error.command?.name === 'select') redis.disconnect(true);
  });
  return redis;
}

interface RedisAddress {
  mode: 'single' | 'sentinel' | 'cluster';
  tls: boolean;
  hosts: { host: string; port: number }[];
  username: string | undefined;
  password: string | undefined;
  master: string;
  db: number;
}

/** See `connectRedis`. Throws if the text has none of its forms. */
function parseRedisUrl(url: string): RedisAddress {
  const [start, tls, mode = 'single'] = /^redis(s)?(?:\+(sentinel|cluster))?:\/\//.exec(url) ?? [];
  if (start === undefined) throw new Error('not a Redis scheme');
  const [authority = '', ...path] = url.slice(start.length).replace(/\?.*$/s, '').split('/');
  const at = authority.lastIndexOf('@');
  const [username, password] = at < 0 ? [] : authority.slice(0, at).split(':').map(decodeURIComponent);
  const hosts = authority
    .slice(at + 1)
    .split(',')
    .map(parseHost);
  if (mode === 'single' && (hosts.length > 1 || !URL.canParse(url)))
    throw new Error('exactly one host expected');
  const names = path.filter(Boolean);
  const [db = '0', master = 'mymaster'] = mode === 'sentinel' ? [names[1], names[0]] : [names[0]];
  if (!/^\d+$/.test(db)) throw new Error('the database is not a number');
  return {
    mode: mode as RedisAddress['mode'],
    tls: tls !== undefined,
    hosts,
    username,
    password,
    master,
    db: Number(db),
  };
}

function parseHost(text: string): RedisAddress['hosts'][number] {
  const { hostname, port } = new URL(`redis://${text}`);
  if (hostname === '') throw new Error('no host');
  return { host: hostname, port: Number(port || 6379) };
}

export function isRedisUrl(text: string): boolean {
  try {
    return parseRedisUrl(text).hosts.length > 0;
  } catch {
    return false;
  }
}
