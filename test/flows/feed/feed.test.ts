import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { expectFailure, expectSuccess, expectWrong, untilState } from '../../support/expect.js';
import {
  figureOf,
  operator,
  placeOrder,
  registerAccount,
  type Account,
  type ApiResponse,
} from '../../support/client.js';
import {
  startProcess,
  startServiceToBreak,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { accountAt, crashTraces } from '../../support/deployment.js';
import { until } from '../../support/until.js';
import { cursorOf, latest, poll, statesOf, untilWaiting } from '../../support/feed.js';

let service: Service;
let another: RunningProcess;
let accounts = 0;

beforeAll(async () => {
  service = await startServiceToBreak();
  another = await startProcess(service.env, 'api');
});
afterAll(async () => {
  if (another) await stopProcess(another);
  await service?.stop();
});

const newAccount = () => registerAccount(service, `feed${(accounts += 1)}@example.com`);
const connections = async () =>
  (
    await service.sql<{ open: number; busy: number }>(
      `select count(*)::int as open, count(*) filter (where state like 'idle in%')::int as busy from pg_stat_activity
        where datname = current_database() and application_name like 'parcelhook%'`,
    )
  )[0]!;

test('a wait ends when access ends, on every process', async () => {
  const changes: [number, (of: Account) => Promise<ApiResponse>][] = [
    [
      403,
      ({ shipperId }) =>
        operator(service, `/shippers/${shipperId}`, { method: 'PATCH', body: { status: 'SUSPENDED' } }),
    ],
    [401, ({ shipperId }) => operator(service, `/shippers/${shipperId}`, { method: 'DELETE' })],
    [401, ({ userId }) => operator(service, `/users/${userId}/sign-out`, { method: 'POST' })],
    [401, ({ userId }) => operator(service, `/users/${userId}`, { method: 'DELETE' })],
    [
      401,
      ({ shipperId }) => operator(service, `/shippers/${shipperId}/rotate-key`, { body: { overlap: '0s' } }),
    ],
  ];
  const waits = changes.flatMap(([httpStatus, change]) =>
    [service, another].map((process) => ({ httpStatus, change, process })),
  );
  const there: { account: Account; after: string }[] = [];
  for (const { process } of waits) {
    const account = accountAt(await newAccount(), process);
    there.push({ account, after: await latest(account) });
  }
  const waitMs = 30_000;
  const polledAt = Date.now();
  const polled = there.map(({ account, after }) => poll(account, `after=${after}`, `${waitMs}ms`));
  for (const process of [service, another]) await untilWaiting(process, changes.length);
  await Promise.all(
    waits.map(async ({ httpStatus, change }, index) => {
      expect((await change(there[index]!.account)).httpStatus).toBeLessThan(300);
      const { response, at } = await polled[index]!;
      expectFailure(response, httpStatus);
      expect(at - polledAt).toBeLessThan(waitMs); // how soon is measured in timed/waits/feed
    }),
  );
});

test('if PostgreSQL cannot be read, waiting requests get 503, and can wait again afterwards', async () => {
  const account = await newAccount();
  const polled = poll(account);
  await untilWaiting(service);
  const locker = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await locker.connect();
  await locker.query('begin; lock table events in access exclusive mode');
  const { response } = await polled;
  expect([response.httpStatus, response.body.status]).toEqual([503, 'UNAVAILABLE']);
  expect(response.headers.get('retry-after')).toBe('1');
  await locker.query('commit');
  await locker.end();
  const again = poll(account);
  await untilWaiting(service);
  await placeOrder(account);
  expect(statesOf((await again).response)).toEqual(['CREATED']);
});

test('a wait ends after its time, empty, and its cursor stays valid; trackingId waits for that shipment alone', async () => {
  const account = await newAccount();
  const [first, second] = [await placeOrder(account), await placeOrder(account)];
  for (const id of [first, second]) await untilState(account, id, 'CREATED');
  const after = await latest(account);
  const startedAt = Date.now();
  const polled = poll(account, `after=${after}&trackingId=${first}`, '1500ms');
  await operator(service, `/shipments/${second}/events`, { body: { state: 'PICKED_UP' } });
  const { response, at } = await polled;
  expectSuccess(response, 200);
  expect(statesOf(response)).toEqual([]);
  expect(at - startedAt).toBeGreaterThanOrEqual(1_500);
  expect(statesOf(await account.call(`/v1/events?after=${cursorOf(response)}`))).toEqual(['PICKED_UP']);
});

test('fifty requests of a shipper may wait, without a PostgreSQL connection each; one more gets 429 until a place is free', async () => {
  const account = await newAccount();
  const other = await newAccount();
  const after = await latest(account);
  const url = `${service.url}/v1/events?key=${account.accountKey}&after=${after}&wait=20s`;
  const headers = { authorization: `Bearer ${account.token}` };
  const { open } = await connections();
  const clients = Array.from({ length: 50 }, () => new AbortController());
  const waiting = clients.map(({ signal }) => fetch(url, { headers, signal }).catch(() => null));
  const isFull = async () => (await poll(account, undefined, '1ms')).response.httpStatus === 429;
  await untilWaiting(service, 50);
  const { response } = await poll(account);
  expectFailure(response, 429);
  expect(response.headers.get('retry-after')).toBe('1');
  expectSuccess((await poll(other, undefined, '1ms')).response, 200);
  expectSuccess(await account.call(`/v1/events?after=${after}`), 200);
  expect((await connections()).open - open).toBeLessThan(20);
  expect((await connections()).busy).toBeLessThan(5);
  clients[0]!.abort();
  await until('a place is free', async () => !(await isFull()));
  const trackingId = await placeOrder(account);
  const bodies = await Promise.all(waiting.slice(1).map(async (one) => (await one)?.json()));
  for (const body of bodies as { data: { events: { trackingId: string }[] } }[])
    expect(body.data.events.map((event) => event.trackingId)).toEqual([trackingId]);
  expect(await waiting[0]).toBeNull();
});

test('waits are in the log but not in latency metrics', async () => {
  const account = await newAccount();
  const counted = () =>
    figureOf(service, 'http_request_duration_seconds_count{route="/v1/events",method="GET",status="200"}');
  const after = await latest(account);
  let before = -1; // a request is counted after its response: those of the tests before may still come
  await until('nothing more is counted', async () => {
    const last = before;
    before = await counted();
    await setTimeout(1_000);
    return before === last;
  });
  await poll(account, `after=${after}`, '10ms');
  await account.call(`/v1/events?after=${after}`);
  await until('the read is counted', async () => (await counted()) > before);
  expect((await counted()) - before).toBe(1);
});

test('after a restore from a dump old cursors are void, everything can be read again, and new events come last', async () => {
  const account = await newAccount();
  const trackingId = await placeOrder(account);
  await untilState(account, trackingId, 'CREATED');
  const before = await latest(account);
  const polled = poll(account, `after=${before}`);
  await untilWaiting(service);
  // The effects of restoring a dump on another server, or on the same.
  const changes = ['system_identifier = system_identifier + 1', 'relation = 1'];
  for (const [index, change] of changes.entries()) {
    const cursor = await latest(account);
    await service.sql(`update feed set ${change}`);
    if (index === 0) expectWrong((await polled).response, ['after']); // also without a restart
    const restarted = await startProcess(service.env, 'api');
    const there = accountAt(account, restarted);
    const refused = await there.call(`/v1/events?after=${cursor}`);
    expectWrong(refused, ['after']);
    expect(refused.body.error.details![0]!.message).toMatch(/restored/);
    const state = ['PICKED_UP', 'IN_TRANSIT'][index];
    await operator(restarted, `/shipments/${trackingId}/events`, { body: { state } });
    const whole = await there.call('/v1/events');
    expect(statesOf(whole)).toEqual(['CREATED', 'PICKED_UP', 'IN_TRANSIT'].slice(0, index + 2));
    expectSuccess(await account.call(`/v1/events?after=${cursorOf(whole)}`), 200); // the other processes know it, too
    await stopProcess(restarted);
  }
});

// The last tests, because they stop the processes.
test('a waiting request gets an empty response at SIGTERM, and continues on another process', async () => {
  const account = await newAccount();
  const there = accountAt(account, another);
  const polled = [poll(there), poll(there)];
  await untilWaiting(another, 2);
  const stoppedAt = Date.now();
  another.kill('SIGTERM');
  for (const { response, at } of await Promise.all(polled)) {
    expectSuccess(response, 200);
    expect(statesOf(response)).toEqual([]);
    expect(at - stoppedAt).toBeLessThan(10_000); // of 15 s
    await placeOrder(account);
    const next = await poll(account, `after=${cursorOf(response)}`);
    expect(statesOf(next.response)[0]).toBe('CREATED');
  }
  expect(await another.exited).toBe(0);
  expect(crashTraces(another.output())).toEqual([]);
});

test('a start proceeds if the feed cannot be renewed, and the first possible reader renews it', async () => {
  const account = await newAccount();
  await placeOrder(account);
  const cursor = await latest(account);
  const client = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await client.connect();
  try {
    expect(await stopProcess(service.process)).toBe(0);
    await client.query(`update feed set timeline = 'another'`);
    await client.query('begin');
    await client.query('lock table events in row exclusive mode'); // like a recording
    service.process = await startProcess(service.env);
    expect(service.process.output()).toContain('feed not checked; its readers will check it');
    const again = accountAt(account, service.process);
    await placeOrder(again);
    expect((await again.call('/v1/events?after=latest')).httpStatus).toBe(503);
    await client.query('commit');
    expectWrong(await again.call(`/v1/events?after=${cursor}`), ['after']);
    expect(statesOf(await again.call('/v1/events'))).toEqual(['CREATED', 'CREATED']);
  } finally {
    await client.end();
  }
});
