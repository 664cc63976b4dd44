import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { operatorToken, startProcess, stopProcess, type RunningProcess } from '../../../support/process.js';
import { placesOf } from '../../../../src/engine/schedule/places.js';
import { freePort } from '../../../support/redis.js';
import type { Clocks } from './clock.js';
import type { Closing } from './engines.js';

export const retryScheduleMs = [1_000, 2_000, 4_000, 8_000, 8_000, 8_000];
export const concurrency = 50;
/**
 * Attempts that a process may have in flight when it ends, each of which may be repeated: the places of all pools. An
 * attempt keeps its place until it is recorded. A webhook without a response yet has a place of the unknown pool, a
 * long attempt exchanges its place for one of the slow pool; DELIVERY_CONCURRENCY counts the quick pool alone.
 */
export const inFlightOfProcess = Object.values(placesOf(concurrency).places).reduce(
  (sum, places) => sum + places,
  0,
);
const endsWithinMs = 60_000;

type Settings = Record<string, string>;
export interface ApiSettings {
  env?: Record<string, string>;
  openFiles?: number;
}

export interface Service {
  url: string;
  /** The settings of the API, and of a worker except for the port. */
  env: Settings;
  api: RunningProcess;
  workers: RunningProcess[];
  /** Resolves with the exit code or signal, or 'late'. */
  end(running: RunningProcess, signal: NodeJS.Signals): Promise<number | string>;
  deserters(): string[];
  startApi(settings?: Settings): Promise<void>;
  startWorker(settings?: Settings): Promise<RunningProcess>;
  output(): string;
}

export async function serviceOn(
  databaseUrl: string,
  redisUrl: string | undefined,
  dnsServer: string,
  clocks: Clocks | null,
  closing: Closing,
  api: ApiSettings = {},
): Promise<Service> {
  const secret = () => randomBytes(32).toString('hex');
  const env: Settings = {
    DATABASE_URL: databaseUrl,
    ...(redisUrl && { REDIS_URL: redisUrl }),
    TOKEN_SECRET: secret(),
    SECRETS_KEY: secret(),
    OPERATOR_TOKEN: operatorToken,
    ALLOW_PRIVATE_TARGETS: 'true',
    ALLOW_HTTP_TARGETS: 'true',
    DNS_SERVERS: dnsServer,
    API_RATE_LIMIT: '10000',
    TRUST_PROXY: '1',
    TOKEN_TTL: '1d', // also for one whose clock is wrong
    ...clocks?.env,
    DELIVERY_CONCURRENCY: String(concurrency),
    RETRY_SCHEDULE: retryScheduleMs.map((ms) => `${ms}ms`).join(','),
    PORT: String(await freePort()),
  };
  const all: RunningProcess[] = [];
  const asked = new Set<RunningProcess>();
  const deserters: string[] = [];
  const start = async (role: 'api' | 'worker', settings: Settings = {}) => {
    const running = await startProcess(
      { ...env, ...(role === 'worker' ? { PORT: '0' } : api.env), ...settings },
      role,
      clocks?.nodeOptions,
      role === 'api' ? api.openFiles : undefined,
    );
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
    env,
    api: await start('api'),
    url: '',
    workers: [],
    startApi: async (settings) => void (service.api = await start('api', settings)),
    startWorker: async (settings) => {
      const worker = await start('worker', settings);
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
