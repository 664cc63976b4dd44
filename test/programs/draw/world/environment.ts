import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import {
  postgresIn,
  redisIn,
  type Closing,
  type PostgresEngine,
  type RedisEngine,
} from '../../chaos/world/engines.js';
import { registerAccount, registerWebhook, type Account } from '../../../support/client.js';
import { operatorToken, startProcess, type RunningProcess } from '../../../support/process.js';
import type { ScrapeTarget } from '../prometheus.js';
import { startReceivers, type Behaviour } from './receivers.js';

/** One deployment as it stands in `environment`: an api and two workers on engines of their own, and their callers. */
export interface Environment {
  name: string;
  api: RunningProcess;
  workers: RunningProcess[];
  postgres: PostgresEngine;
  redis: RedisEngine;
  accounts: Account[];
  targets: ScrapeTarget[];
  start(role: 'api' | 'worker', settings?: Record<string, string>): Promise<RunningProcess>;
  addWebhook(account: Account, behaviour: Behaviour): Promise<string>;
}

const accountCount = 3;
const webhooksPerAccount = 2;

export async function startEnvironment(
  folder: string,
  name: string,
  settings: Record<string, string>,
  closing: Closing,
): Promise<Environment> {
  const home = mkdtempSync(join(folder, `${name}-`));
  mkdirSync(join(home, 'postgres'));
  mkdirSync(join(home, 'redis'));
  const postgres = await postgresIn(join(home, 'postgres'), closing);
  const redis = await redisIn(join(home, 'redis'), closing);
  if (!redis) throw new Error('no redis-server or valkey-server on PATH');
  await redis.command('config', 'set', 'maxmemory', '256mb');
  const secret = () => randomBytes(32).toString('hex');
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    TOKEN_SECRET: secret(),
    SECRETS_KEY: secret(),
    OPERATOR_TOKEN: operatorToken,
    ALLOW_PRIVATE_TARGETS: 'true',
    ALLOW_HTTP_TARGETS: 'true',
    WEBHOOK_CREATION_LIMIT: '0',
    BY_HAND_LIMIT: '0',
    DATABASE_SIZE_LIMIT: '500GiB',
    PORT: '0',
    ...settings,
  };
  const targets: ScrapeTarget[] = [];
  const start = async (role: 'api' | 'worker', own: Record<string, string> = {}) => {
    const running = await startProcess({ ...env, ...own }, role);
    targets.push({ url: running.url, job: `parcelhook-${role}`, environment: name });
    closing.push(async () => {
      running.kill('SIGKILL'); // nothing is to be drained
      await running.exited;
    });
    return running;
  };
  const api = await start('api');
  const workers = [await start('worker'), await start('worker')];
  const urlOf = await startReceivers(closing);
  let webhooks = 0;
  const addWebhook = async (account: Account, behaviour: Behaviour) =>
    (await registerWebhook(account, urlOf(behaviour, (webhooks += 1)))).webhookId;
  const accounts: Account[] = [];
  for (let n = 0; n < accountCount; n += 1) {
    const account = await registerAccount(api, `user-${n}@example.com`);
    for (let m = 0; m < webhooksPerAccount; m += 1) await addWebhook(account, 'well');
    accounts.push(account);
  }
  return {
    name,
    api,
    workers,
    postgres,
    redis,
    accounts,
    targets,
    start,
    addWebhook,
  };
}
