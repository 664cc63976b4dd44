import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerAccount, registerWebhook, type Account } from '../../../support/client.js';
import { hugeResponse, startDnsServer, type DnsServer } from '../../../support/dns-server.js';
import { clocksIn, type Clocks } from './clock.js';
import { startEngines, type Engines, type Needs } from './deployment.js';
import type { Closing } from './engines.js';
import { startReceiver } from '../load/journal.js';
import type { Entry, Hook, LoggedAttempt } from '../model.js';
import { serviceOn, type ApiSettings, type Service } from './service.js';

const shippers = 4;

export interface World extends Engines {
  service: Service;
  clocks: Clocks | null;
  accounts: Account[];
  hooks: Hook[];
  /** It wants all states in order; `-slow` at the end of its name makes its receiver slow. */
  addHook(account: Account, path: string, shipper: number): Promise<void>;
  /** Silent about hostnames that begin with `dead-`; `huge-` have 6,100 addresses, all others are this machine. */
  dns: DnsServer;
  journal(): Entry[];
  log(): Promise<LoggedAttempt[]>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  queue: string;
  needs: Needs;
  workers: number;
  seed: number;
  /** Each webhook has its own hostname, and each notification needs its own connection and lookup. */
  byName: boolean;
  api: ApiSettings | undefined;
}

/** Null if Redis is requested and none is installed. */
export async function startWorld(options: WorldOptions): Promise<World | null> {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-chaos-'));
  const closing: Closing = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
  const stop = async () => {
    for (const close of closing.splice(0).reverse())
      await Promise.resolve(close()).catch((error: unknown) => console.error(error));
  };
  try {
    const engines = await startEngines(folder, options.queue, options.needs, closing);
    if (engines) return await worldIn(folder, engines, options, closing, stop);
  } catch (error) {
    await stop();
    throw error;
  }
  await stop();
  return null;
}

async function worldIn(
  folder: string,
  engines: Engines,
  options: WorldOptions,
  closing: Closing,
  stop: () => Promise<void>,
): Promise<World> {
  const receiver = await startReceiver(join(folder, 'journal.ndjson'), closing);
  const dns = await startDnsServer((name) => {
    if (name.startsWith('huge-')) return hugeResponse;
    return name.startsWith('dead-') ? 'SILENT' : { addresses: ['127.0.0.1'] };
  });
  closing.push(dns.close);
  const clocks = options.needs.clocks ? clocksIn(folder) : null;
  const { databaseUrl, redisUrl } = engines;
  const service = await serviceOn(databaseUrl, redisUrl, dns.address, clocks, closing, options.api);
  for (let n = 0; n < options.workers; n += 1) await service.startWorker();
  const accounts = await Promise.all(Array.from({ length: shippers }, () => registerAccount(service)));
  const urlOf = (path: string) => {
    const url = new URL(path, receiver.url);
    if (options.byName) url.hostname = `${path.replace(/^.*\//, '')}.example.org`;
    return url.href;
  };
  const hooks = (await Promise.all(accounts.map((account, n) => hooksOf(account, n, urlOf)))).flat();
  const expectAll = () => receiver.expect(options.seed, hooks, options.byName);
  await expectAll();
  const addHook = async (account: Account, path: string, shipper: number) => {
    hooks.push(await hookOf(account, shipper, path, urlOf(path), null, 'SHIPMENT'));
    await expectAll();
  };
  const log = () => engines.sql<LoggedAttempt>(logQuery, [hooks.map(({ webhookId }) => webhookId)]);
  return { ...engines, service, clocks, accounts, hooks, addHook, dns, journal: receiver.journal, log, stop };
}

/** Earlier attempts, and the last one of finished deliveries, which is in the delivery's own row. */
const logQuery = `
  select regexp_replace(w.target_address, '^https?://[^/]+', '') as path, coalesce(e.external_id, e.event_id::text) as id, a.number,
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
    ) a join webhooks w using (webhook_id) join events e using (event_id)
   where w.webhook_id = any($1::uuid[])`;

/** All states in order; only two of them; all states in any order, for a receiver that often fails. */
async function hooksOf(account: Account, shipper: number, urlOf: (path: string) => string): Promise<Hook[]> {
  const register = (name: string, interests: string[] | null, ordering: 'SHIPMENT' | 'NONE') => {
    const path = `/h/${shipper}-${name}`;
    return hookOf(account, shipper, path, urlOf(path), interests, ordering);
  };
  return [
    await register('all', null, 'SHIPMENT'),
    await register('ends', ['CREATED', 'DELIVERED'], 'SHIPMENT'),
    await register('flaky', null, 'NONE'),
  ];
}

async function hookOf(
  account: Account,
  shipper: number,
  path: string,
  url: string,
  interests: string[] | null,
  ordering: 'SHIPMENT' | 'NONE',
): Promise<Hook> {
  const { webhookId, secret } = await registerWebhook(account, url, {
    interests: interests ?? ['*'],
    ordering,
  });
  return { path, webhookId, secret, shipper, interests, ordered: ordering === 'SHIPMENT' };
}
