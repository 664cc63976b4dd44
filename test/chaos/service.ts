import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { operatorToken, startProcess, stopProcess, type RunningProcess } from '../process.js';
import { freePort } from '../redis.js';
import type { Closing } from './engines.js';

export const retryScheduleMs = [1_000, 2_000, 4_000, 8_000, 8_000, 8_000];
export const concurrency = 50;
const endsWithinMs = 60_000;

export interface Service {
  url: string;
  /** The one that runs now. */
  api: RunningProcess;
  /** The oldest first. */
  workers: RunningProcess[];
  /** Ends a process on purpose; resolves with its exit code or signal, or 'late'. */
  end(running: RunningProcess, signal: NodeJS.Signals): Promise<number | string>;
  /** Processes that ended although nobody asked them to. */
  deserters(): string[];
  /** Another API on the same port: the one before must be gone. */
  startApi(): Promise<void>;
  startWorker(): Promise<RunningProcess>;
  /** Of all processes there have been. */
  output(): string;
}

/** One API on a port that stays, and workers. */
export async function serviceOn(
  databaseUrl: string,
  redisUrl: string | undefined,
  closing: Closing,
): Promise<Service> {
  const secret = () => randomBytes(32).toString('hex');
  const env = {
    DATABASE_URL: databaseUrl,
    ...(redisUrl && { REDIS_URL: redisUrl }),
    TOKEN_SECRET: secret(),
    SECRETS_KEY: secret(),
    OPERATOR_TOKEN: operatorToken,
    ALLOW_PRIVATE_TARGETS: 'true',
    ALLOW_HTTP_TARGETS: 'true',
    API_RATE_LIMIT: '10000',
    DELIVERY_CONCURRENCY: String(concurrency),
    RETRY_SCHEDULE: retryScheduleMs.map((ms) => `${ms}ms`).join(','),
    PORT: String(await freePort()),
  };
  const all: RunningProcess[] = [];
  const asked = new Set<RunningProcess>();
  const deserters: string[] = [];
  const start = async (role: 'api' | 'worker') => {
    const running = await startProcess({ ...env, ...(role === 'worker' && { PORT: '0' }) }, role);
    all.push(running);
    void running.exited.then((exit) => {
      if (!asked.has(running)) deserters.push(`${role} ${running.pid} ended with ${exit}`);
    });
    return running;
  };
  closing.push(() => {
    for (const running of all) asked.add(running);
    return Promise.all(all.map(stopProcess));
  });
  const service: Service = {
    api: await start('api'),
    url: '',
    workers: [],
    startApi: async () => void (service.api = await start('api')),
    startWorker: async () => {
      const worker = await start('worker');
      service.workers.push(worker);
      return worker;
    },
    end: async (running, signal) => {
      asked.add(running);
      running.kill(signal);
      return Promise.race([running.exited, sleep(endsWithinMs, 'late')]);
    },
    deserters: () => deserters,
    output: () => all.map((running) => running.output()).join('\n'),
  };
  service.url = service.api.url;
  return service;
}
