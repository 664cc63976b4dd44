import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql, type Closing } from '../../programs/chaos/world/engines.js';
import { postgresWithStandby, type PostgresPair } from '../../programs/chaos/world/standby.js';
import { expectSuccess, expectWrong, untilState } from '../../support/expect.js';
import {
  metricsOf,
  operator,
  registerAccount,
  request,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import { operatorToken, startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { accountAt, crashTraces, deployment, newFolder, type Folder } from '../../support/deployment.js';
import { placeOrders } from '../../support/load.js';
import { until } from '../../support/until.js';

let folder: Folder;
let postgres: PostgresPair;
let service: RunningProcess;
/** Knows the addresses of both servers, the standby's first. */
let several: RunningProcess;
let account: Account;
const closing: Closing = [];

beforeAll(async () => {
  folder = newFolder();
  postgres = await postgresWithStandby(folder.path, closing, false);
  const env = deployment(postgres.url);
  service = await startProcess(env);
  const [{ username, password, host }, standby] = [
    new URL(postgres.primaryUrl),
    new URL(postgres.standbyUrl),
  ];
  const both = `postgresql://${username}:${password}@${standby.host},${host}/parcelhook`;
  several = await startProcess({ ...env, DATABASE_URL: `${both}?target_session_attrs=read-write` });
  account = await registerAccount(service);
});
afterAll(async () => {
  const exit = service && (await stopProcess(service));
  if (several) expect(await stopProcess(several)).toBe(0);
  for (const close of closing.reverse()) await close();
  folder.remove();
  expect(exit).toBe(0);
  for (const one of [service, several]) expect(crashTraces(one.output())).toEqual([]);
});

const setReadOnly = async (setting: 'on' | 'off') => {
  await sql(postgres.primaryUrl, `alter system set default_transaction_read_only = ${setting}`);
  await sql(postgres.primaryUrl, 'select pg_reload_conf()');
};
const order = (at = service) => accountAt(account, at).call('/v1/shipments', { body: sampleOrder() });
const untilAccepting = (at = service) => until('accepting', async () => (await order(at)).httpStatus === 201);
const readyz = async (headers = {}, at = service) => {
  const { httpStatus, body } = await request(`${at.url}/readyz`, { headers });
  return { httpStatus, postgres: (body as unknown as { checks: Record<string, string> }).checks.postgres };
};
const readyGauge = async () => /^parcelhook_ready\{role="\w+"\} (\d)/m.exec(await metricsOf(service))?.[1];
const created = async () => {
  const [trackingId] = await placeOrders(account, 1);
  await untilState(account, trackingId!, 'CREATED');
  return trackingId!;
};

test('a read-only PostgreSQL is unavailable: 503 with Retry-After, not ready, and normal operation once it accepts writes again', async () => {
  await until('ready', async () => (await readyz()).httpStatus === 200);
  await setReadOnly('on');
  // Idle sessions take the setting over.
  await until('read-only', async () => (await order()).httpStatus !== 201);
  for (let n = 0; n < 10; n += 1) {
    const refused = await order();
    expect([refused.httpStatus, refused.body.status]).toEqual([503, 'UNAVAILABLE']);
    expect(refused.headers.get('retry-after')).toBe('1');
  }
  await until('reads work', async () => (await account.call('/v1/webhooks')).httpStatus === 200);
  await until('not ready', async () => (await readyz()).httpStatus === 503);
  expect(await readyz()).toEqual({ httpStatus: 503, postgres: 'PostgreSQL cannot be used' });
  const byOperator = { authorization: `Bearer ${operatorToken}` };
  await until('it says why', async () => (await readyz(byOperator)).postgres === 'PostgreSQL is read-only');
  expect(await readyGauge()).toBe('0');
  await setReadOnly('off');
  await untilAccepting();
  await until('ready', async () => (await readyz()).httpStatus === 200);
  await created();
});

test('a standby promoted without all commits voids earlier cursors, in a running process; one that knows both servers goes over to it', async () => {
  await setReadOnly('off'); // the test before may have failed
  await untilAccepting();
  const kept = await created();
  await untilAccepting(several);
  await postgres.cutOff();
  const lost = await created();
  const before = (await account.call('/v1/events?after=latest')).data.nextCursor as string;

  // It is as after a fail-over: the old primary is still up, and read-only.
  await setReadOnly('on');
  await postgres.promote();
  await untilAccepting();
  await untilAccepting(several);
  const stillAtPrimary = `select from pg_stat_activity where datname = 'parcelhook'`; // those that LISTEN, too
  await until('moved', async () => (await sql(postgres.primaryUrl, stillAtPrimary)).length === 0);
  for (const one of [service, several])
    await until('ready', async () => (await readyz({}, one)).httpStatus === 200);
  expect((await account.call(`/v1/shipment-tracking/${lost}`)).httpStatus).toBe(404);
  // Transaction ids reach the old values; events recorded then would be behind the cursor.
  await sql(
    postgres.standbyUrl,
    `do $$ begin for n in 1..2000 loop perform pg_current_xact_id(); commit; end loop; end $$`,
  );
  const after = await created();

  const refused = await account.call(`/v1/events?after=${before}`);
  expectWrong(refused, ['after']);
  expect(refused.body.error.details![0]!.message).toMatch(/standby/);
  const whole = await account.call('/v1/events');
  expectSuccess(whole, 200);
  const seen = (whole.data.events as { trackingId: string }[]).map(({ trackingId }) => trackingId);
  expect(seen).toContain(kept);
  expect(seen).toContain(after);
  expectSuccess(await account.call(`/v1/events?after=${whole.data.nextCursor as string}`), 200);
  const { entries } = (await operator(service, '/audit?action=FEED_RENEWED')).data;
  expect(entries).toMatchObject([{ actor: { kind: 'SERVICE' }, outcome: 'DONE' }]);
}, 120_000);
