import { Queue, Worker } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { reopened, workerOptions, type Backend, type Opened } from './queue-backend.js';
import { connectRedis } from './redis.js';

export function redisBackend(
  url: string,
  prefix: string,
  opened: Opened,
  onError: (error: Error) => void,
): Backend {
  const open = (kind: 'fast' | 'blocking') => {
    const connection = connectRedis(url, kind);
    connection.on('error', onError);
    // QUIT would wait for ever for a Redis that is away.
    opened.push({
      close: async () => {
        if (connection.status === 'ready') await connection.quit().catch(() => undefined);
        connection.disconnect();
      },
    });
    return connection;
  };
  const producing = open('fast');
  // The hash tag keeps all keys of one queue on one node of a Redis Cluster, different queues on different ones.
  const tagged = (name: string) => `{${prefix}-${name}}`;
  return {
    // Redis may be away for as long as it likes; a start waits a moment for it, no more.
    prepare: async () => {
      if (producing.status === 'ready') return;
      await Promise.race([new Promise((resolve) => producing.once('ready', resolve)), sleep(1_000)]);
    },
    queue: (name) =>
      reopened(() => {
        if (producing.status !== 'ready') throw new Error(`Redis is away (${producing.status})`);
        const queue = new Queue(name, { connection: producing, prefix: tagged(name) });
        queue.on('error', onError);
        return queue;
      }),
    worker: (name, concurrency, handle, listen) => {
      const worker = new Worker(name, handle, {
        ...workerOptions,
        connection: open('blocking'),
        prefix: tagged(name),
        concurrency,
        drainDelay: 5,
      });
      listen(worker);
      return worker;
    },
    check: async () => {
      if ('nodes' in producing) return void (await producing.cluster('INFO'));
      const memory = await producing.info('memory');
      const policy = /maxmemory_policy:(\S+)/.exec(memory)?.[1];
      if (policy && policy !== 'noeviction') {
        throw new Error(`Redis may drop jobs: its maxmemory-policy is ${policy}, it must be noeviction`);
      }
    },
  };
}
