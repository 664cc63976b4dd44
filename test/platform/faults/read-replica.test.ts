import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { refreshCopies } from '../../../src/observe/infrastructure.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { sql, type Closing } from '../../programs/chaos/world/engines.js';
import { proxyTo, type Proxy } from '../../programs/chaos/world/proxied.js';
import { postgresWithStandby, type PostgresPair } from '../../programs/chaos/world/standby.js';
import {
  figureIn,
  metricsOf,
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { openPool } from '../../support/core/world.js';
import { accountAt, crashTraces, deployment, newFolder, type Folder } from '../../support/deployment.js';
import { expectSuccess } from '../../support/expect.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { until } from '../../support/until.js';

let folder: Folder;
let postgres: PostgresPair;
/** It stands before the standby, and can cut it off. */
let proxy: Proxy;
/** Two services: the standby of one falls behind, that of the other, whose role lacks pg_monitor, goes away. */
let behind: RunningProcess;
let away: RunningProcess;
let account: Account;
let env: Record<string, string>;
const closing: Closing = [];

beforeAll(async () => {
  folder = newFolder();
  postgres = await postgresWithStandby(folder.path, closing, false);
  const standby = postgres.standbyUrl.replace(/postgres$/, 'parcelhook');
  proxy = await proxyTo(standby, closing);
  env = deployment(postgres.primaryUrl.replace(/postgres$/, 'parcelhook'));
  behind = await startProcess({ ...env, DATABASE_READ_URL: standby });
  await sql(postgres.primaryUrl, `create role service login password 'service'`);
  const url = new URL(env.DATABASE_URL!);
  [url.username, url.password] = ['service', 'service'];
  away = await startProcess({
    ...env,
    DATABASE_URL: url.href,
    MIGRATION_DATABASE_URL: env.DATABASE_URL!,
    DATABASE_READ_URL: proxy.url,
  });
  account = await registerAccount(behind);
});
afterAll(async () => {
  for (const one of [behind, away]) if (one) expect(await stopProcess(one)).toBe(0);
  for (const close of closing.reverse()) await close();
  folder.remove();
  for (const one of [behind, away]) expect(crashTraces(one.output())).toEqual([]);
});

const told = ({ output }: RunningProcess, what: string) =>
  output().split(`"read replica is ${what}`).length - 1;
const untilUsed = (one: RunningProcess) =>
  until('the replica is used', () => Promise.resolve(told(one, 'used') > 0));
const replay = (what: 'pause' | 'resume') => sql(postgres.standbyUrl, `select pg_wal_replay_${what}()`);
const scrape = async (process: RunningProcess) => {
  let text = '';
  const isRead = async () => {
    text = await metricsOf(process);
    const [runs, failures] = ['duration_seconds_count', 'failures_total'].map((name) =>
      figureIn(text, `background_task_${name}{task="sizes"}`),
    );
    return runs! > failures!;
  };
  await until('sizes and copies are read', isRead, 180_000); // at once, or 50 s after a failure
  return text;
};
/** By what follows `standby` in the name. */
const standbyFigures = (text: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(/^parcelhook_postgres_standby_?(\S+) (.+)$/gm)].map(([, name, value]) => [
      name!,
      Number(value),
    ]),
  );
const listed = async (at: Account, path = '/v1/shipments') => {
  const response = await at.call(path);
  expectSuccess(response, 200);
  return (response.data.shipments as { trackingId: string }[]).map(({ trackingId }) => trackingId);
};

test('a standby that falls behind shows what it has, never older than about ten seconds; then the primary is read, and the log says so once', async () => {
  await untilUsed(behind);
  const first = await placeOrder(account);
  await until('the standby has it', async () => (await listed(account)).includes(first));
  await replay('pause');
  const pausedAt = performance.now();
  const second = await placeOrder(account, 'OF-MY-OWN');

  // From the standby.
  expect(await listed(account)).toEqual([first]);
  expect((await operator(behind, `/shipments?shipperId=${account.shipperId}`)).data.shipments).toHaveLength(
    1,
  );
  // From the primary, because somebody may rely on it.
  expect((await account.call(`/v1/shipment-tracking/${second}`)).data.shipperTrackingId).toBe('OF-MY-OWN');
  expect(await listed(account, '/v1/shipments?shipperTrackingId=OF-MY-OWN')).toEqual([second]);
  const { webhookId } = await registerWebhook(account, 'http://127.0.0.1:9/');
  expectSuccess(await account.call(`/v1/webhooks/${webhookId}`), 200);
  expectSuccess(await account.call(`/v1/webhooks/${webhookId}/stats`), 200);
  const sent = await account.call(`/v1/webhooks/${webhookId}/test`, { body: {} });
  expectSuccess(await account.call(`/v1/deliveries/${sent.data.deliveryId as string}`), 200);

  await until('the primary is read', async () => (await listed(account)).includes(second));
  expect(performance.now() - pausedAt).toBeLessThan(20_000);
  expect(told(behind, 'not used')).toBe(1);
  expect(behind.output()).toContain('it is more than 10 s behind');
  expect((await account.call(`/v1/deliveries?webhookId=${webhookId}`)).data.deliveries).not.toEqual([]);
  await replay('resume');
});

test('how far a standby is behind is a figure: about 0 once it has caught up, and none for a role without pg_monitor', async () => {
  const [bytes, seconds] = [
    'lag_bytes{standby="walreceiver"}',
    'lag_seconds{standby="walreceiver"}',
  ] as const;
  await replay('pause');
  const seen = `select from pg_stat_replication where replay_lag > '1 s'`;
  await until('the primary knows it', async () => {
    await placeOrder(account); // makes the standby answer
    return (await sql(postgres.primaryUrl, seen)).length > 0;
  });
  const figures = standbyFigures(await scrape(behind));
  expect(figures.s).toBe(1);
  expect(figures[bytes]).toBeGreaterThan(1_000);
  expect(figures[seconds]).toBeGreaterThan(1);
  expect(standbyFigures(await scrape(away))).toEqual({});

  await replay('resume');
  const db = openPool(postgres.primaryUrl, 1); // a process reads them once in 50 s
  const metrics = createMetrics();
  await until('it has caught up', async () => {
    await placeOrder(account);
    await refreshCopies({ db, metrics });
    const { [bytes]: bytesNow = Infinity, [seconds]: secondsNow = Infinity } = standbyFigures(
      await metrics.text(),
    );
    return bytesNow < 100_000 && secondsNow < 1;
  });
  await db.end();
});

test('a standby that goes away fails no request, and is mentioned once', async () => {
  const elsewhere = accountAt(account, away);
  await untilUsed(away);
  const trackingId = await placeOrder(elsewhere);
  await proxy.send({ resetShare: 1 });
  for (let n = 0; n < 30; n += 1) expect(await listed(elsewhere)).toContain(trackingId);
  expect(told(away, 'not used')).toBe(1);
});

test.each([
  ['the primary', () => env.DATABASE_URL!, 'it is no standby'],
  ['another database', () => postgres.standbyUrl, 'it is not of the same cluster and database'],
])('%s is not taken for a standby', async (_, url, reason) => {
  const service = await startProcess({ ...env, DATABASE_READ_URL: url() }, 'api');
  await until('it says so', () => Promise.resolve(service.output().includes(`"reason":"${reason}"`)));
  await listed(accountAt(account, service));
  expect(await stopProcess(service)).toBe(0);
});
