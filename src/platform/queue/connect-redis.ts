import { Cluster, Redis } from 'ioredis';
import { parseRedisUrl } from './redis-url.js';

/**
 * A connection on which an answer has been owed for this long is cut, and made anew: it may be half open, and TCP alone
 * would take a quarter of an hour to say so. A worker's longest wait for a job is 10 s.
 */
const silentMs = { fast: 5_000, blocking: 15_000 };

/**
 * Opens a connection for one form of REDIS_URL: redis://, rediss://,
 * redis+sentinel://user:password@h1:26379,h2:26379/master-name/db, redis+cluster://user:password@h1,h2.
 *
 * `fast` is for producers: a command fails at once while Redis is away instead of piling up in memory, and
 * never waits longer than `commandTimeoutMs`. `blocking` is for workers, which wait for Redis to come back.
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
  if (mode === 'single') return new Redis(url, shared);

  const secure = {
    ...(tls && { tls: {} }),
    ...(username && { username }),
    ...(password && { password }),
  };
  if (mode === 'cluster') {
    return new Cluster(hosts, {
      redisOptions: { ...shared, ...secure },
      enableOfflineQueue: kind === 'blocking',
      // ioredis never settles a connect() whose check fails, as it does while another primary is elected: a worker that
      // waits for it would take no job again. What such a cluster refuses is asked again anyhow.
      enableReadyCheck: false,
      clusterRetryStrategy: (times) => Math.min(100 * times, 2_000),
    });
  }
  return new Redis({
    ...shared,
    ...secure,
    sentinels: hosts,
    name: master,
    db,
  });
}
