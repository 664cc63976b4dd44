import { Cluster, Redis } from 'ioredis';
/**
 * Opens a connection for one form of REDIS_URL: redis://, rediss://,
 * redis+sentinel://user:password@h1:26379,h2:26379/master-name/db, redis+cluster://user:password@h1,h2.
 *
 * `fast` is for producers: a command fails at once while Redis is away instead of piling up in memory, and
 * never waits longer than `commandTimeoutMs`. `blocking` is for workers, which wait for Redis to come back.
 */
export declare function connectRedis(url: string, kind: 'fast' | 'blocking', commandTimeoutMs?: number): Redis | Cluster;
