import { Queue, Worker } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { reopened, workerOptions, type Backend, type Opened, type QueueMemory } from './backend.js';
import { describeError } from '../errors.js';
import { connectRedis } from '../redis.js';

export function redisBackend(
  url: string,
  prefix: string,
  opened: Opened,
  onError: (error: Error) => void,
): Backend {
  let lastError: Error | null = null;
  const open = (kind: 'fast' | 'blocking') => {
    const connection = connectRedis(url, kind);
    connection.on('error', (error: Error & { lastNodeError?: Error }) => {
      lastError = error.lastNodeError ?? error; // a cluster's own error does not say why
      onError(lastError);
    });
    // QUIT would wait for ever while Redis is unavailable.
    opened.push({
      close: async () => {
        if (connection.status === 'ready') await connection.quit().catch(() => undefined);
        connection.disconnect();
      },
    });
    return connection;
  };
  const producing = open('fast');
  // The hash tag keeps all keys of a queue on one node of a Redis Cluster, and spreads the queues over the nodes.
  const tagged = (name: string) => `{${prefix}-${name}}`;
  const over = url.startsWith('rediss') ? ' over TLS' : '';
  const requireConnection = () => {
    if (producing.status === 'ready') return;
    const reason = lastError ? describeError(lastError) : producing.status;
    throw new Error(`Redis is not connected${over}: ${reason}`);
  };
  const memories = async (): Promise<string[]> => {
    requireConnection();
    const nodes = 'nodes' in producing ? producing.nodes('master') : [producing];
    const texts = await Promise.all(nodes.map((node) => node.info('memory')));
    lastError = null; // not when it is ready: one whose database is refused is ready for a moment, again and again
    return texts;
  };
  return {
    // A start waits briefly for Redis, which may stay unavailable for any time.
    prepare: async () => {
      if (producing.status === 'ready') return;
      await Promise.race([new Promise((resolve) => producing.once('ready', resolve)), sleep(1_000)]);
    },
    queue: (name) =>
      reopened(() => {
        requireConnection();
        const queue = new Queue(name, { connection: producing, prefix: tagged(name) });
        queue.on('error', onError);
        return queue;
      }),
    worker: (name, concurrency, handle) => {
      const connection = open('blocking');
      return () =>
        new Worker(name, handle, {
          ...workerOptions,
          connection,
          prefix: tagged(name),
          concurrency,
          drainDelay: 5,
        });
    },
    check: async () => {
      const policies = (await memories()).map((text) => /maxmemory_policy:(\S+)/.exec(text)?.[1]);
      const wrong = policies.find((policy) => policy && policy !== 'noeviction');
      if (wrong)
        throw new Error(`Redis may drop jobs: its maxmemory-policy is ${wrong} and must be noeviction`);
    },
    memory: async () => nearestToLimit((await memories()).map(memoryOf)),
  };
}

/** Reads a node's INFO; a `maxmemory` of 0 is no limit. */
function memoryOf(info: string): QueueMemory {
  const bytes = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? NaN);
  return { usedBytes: bytes('used_memory'), limitBytes: bytes('maxmemory') || null };
}

const nearestToLimit = (nodes: QueueMemory[]): QueueMemory =>
  nodes.reduce((a, b) => (shareOf(b) > shareOf(a) ? b : a));

const shareOf = ({ usedBytes, limitBytes }: QueueMemory) =>
  usedBytes / (limitBytes ?? Number.MAX_SAFE_INTEGER);
