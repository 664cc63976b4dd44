import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerAccount, registerWebhook, type Account } from '../client.js';
import { postgresIn, redisIn, type Closing, type PostgresEngine, type RedisEngine } from './engines.js';
import { startReceiver } from './journal.js';
import type { Entry, Hook, LoggedAttempt } from './model.js';
import { serviceOn, type Service } from './service.js';

const shippers = 4;

/** A deployment on engines of its own, and all a fault may do to it. */
export interface World {
  service: Service;
  accounts: Account[];
  hooks: Hook[];
  postgres: PostgresEngine;
  /** Null where the queue is on PostgreSQL. */
  redis: RedisEngine | null;
  journal(): Entry[];
  log(): Promise<LoggedAttempt[]>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  queue: string;
  workers: number;
  seed: number;
}

/** Null where Redis is asked for and none is installed. */
export async function startWorld(options: WorldOptions): Promise<World | null> {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-chaos-'));
  const closing: Closing = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
  const stop = async () => {
    for (const close of closing.splice(0).reverse())
      await Promise.resolve(close()).catch((error: unknown) => console.error(error));
  };
  try {
    const redis = options.queue === 'redis' ? await redisIn(folder, closing) : null;
    if (redis || options.queue !== 'redis') return await worldIn(folder, redis, options, closing, stop);
  } catch (error) {
    await stop();
    throw error;
  }
  await stop();
  return null;
}

async function worldIn(
  folder: string,
  redis: RedisEngine | null,
  options: WorldOptions,
  closing: Closing,
  stop: () => Promise<void>,
): Promise<World> {
  const postgres = await postgresIn(folder, closing);
  const receiver = await startReceiver(join(folder, 'journal.ndjson'), closing);
  const service = await serviceOn(postgres.url, redis?.url, closing);
  for (let n = 0; n < options.workers; n += 1) await service.startWorker();
  const accounts = await Promise.all(Array.from({ length: shippers }, () => registerAccount(service)));
  const hooks = (await Promise.all(accounts.map((account, n) => hooksOf(account, n, receiver.url)))).flat();
  await receiver.expect(options.seed, hooks);
  const log = () => postgres.sql<LoggedAttempt>(logQuery, [new URL(receiver.url).origin]);
  return { service, accounts, hooks, postgres, redis, journal: receiver.journal, log, stop };
}

/** The attempts before the last one, and the last one of what is finished: it is in the delivery's own row. */
const logQuery = `
  select replace(w.target_address, $1, '') as path, coalesce(e.external_id, e.event_id::text) as id, a.number,
         a.status_code as "statusCode", a.duration_ms as "durationMs"
    from (
      select delivery_id, event_id, webhook_id, number, a.status_code, a.duration_ms
        from attempts a
        join (select delivery_id, event_id, webhook_id from outbox
              union all
              select delivery_id, event_id, webhook_id from deliveries) d using (delivery_id)
      union all
      select delivery_id, event_id, webhook_id, attempt_count, status_code, duration_ms
        from deliveries where started_at is not null
    ) a join webhooks w using (webhook_id) join events e using (event_id)`;

/** All states in order; only two of them; all states in any order, from a receiver that often fails. */
async function hooksOf(account: Account, shipper: number, receiverUrl: string): Promise<Hook[]> {
  const register = async (name: string, interests: string[] | null, ordering: 'SHIPMENT' | 'NONE') => {
    const path = `/h/${shipper}-${name}`;
    const { webhookId, secret } = await registerWebhook(account, new URL(path, receiverUrl).href, {
      interests: interests ?? ['*'],
      ordering,
    });
    return { path, webhookId, secret, shipper, interests, ordered: ordering === 'SHIPMENT' };
  };
  return [
    await register('all', null, 'SHIPMENT'),
    await register('ends', ['CREATED', 'DELIVERED'], 'SHIPMENT'),
    await register('flaky', null, 'NONE'),
  ];
}
