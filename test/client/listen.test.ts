import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient } from '../../src/client/index.js';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  sampleOrder,
  type Account,
} from '../support/client.js';
import { startProcess, startServiceToBreak, type Service } from '../support/harness.js';
import { programFile } from '../support/program.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { verifyAll } from '../support/load.js';
import { credentials, runListen, startListener, type Listener } from './listener.js';

/** The bound of steps that take at most a second, on a busy machine. */
const patienceMs = 60_000;
let service: Service;
const listeners: Listener[] = [];
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await startServiceToBreak();
});
afterAll(async () => {
  await Promise.all(listeners.map((listener) => listener.end('SIGKILL')));
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await service?.stop();
});

let accounts = 0;
async function newAccount() {
  const account = await registerAccount(service, `user${(accounts += 1)}@example.com`);
  const local = await startReceiver();
  receivers.push(local);
  const listenTo = async (args: string[] = [], script?: string, url = local.url) => {
    const listener = await startListener(service.url, account, url, args, script);
    listeners.push(listener);
    return listener;
  };
  return { account, local, listenTo };
}

/** The typed client retries on an overloaded service. */
async function placeOrders(account: Account, count: number): Promise<string[]> {
  const { accountKey: key, email, password } = account;
  const client = createClient({ url: service.url, key, email, password, retries: 20 });
  const trackingIds: string[] = [];
  while (trackingIds.length < count) {
    const few = Array.from({ length: Math.min(5, count - trackingIds.length) }, () => sampleOrder());
    const placed = await Promise.all(few.map((order) => client.shipments.create(order)));
    trackingIds.push(...placed.map(({ trackingId }) => trackingId));
  }
  return trackingIds;
}

const record = (trackingIds: string[], state: string) =>
  until(
    `all are ${state}`,
    async () => {
      const events = trackingIds.map((trackingId) => ({ trackingId, state }));
      return (await operator(service, '/events', { body: { events } })).httpStatus === 202;
    },
    patienceMs,
  );

const idOf = ({ headers }: Received) => headers['webhook-id'] as string;
const stateOf = ({ notification }: Received) => notification.state as string;

async function feedIds(account: Account): Promise<string[]> {
  const ids: string[] = [];
  for (let query = 'limit=250&from=1970-01-01'; ;) {
    const { data } = await account.call(`/v1/events?${query}`);
    if (data.events.length === 0) return ids;
    ids.push(...data.events.map(({ eventId }: { eventId: string }) => eventId));
    query = `limit=250&after=${data.nextCursor}`;
  }
}

/** The port survives the killed process. */
async function killAndRestart(listener: Listener): Promise<void> {
  service.process.kill('SIGKILL');
  await service.process.exited;
  await until('the break is noticed', () => listener.lines('interrupted').length > 0, patienceMs);
  const again = { ...service.env, PORT: new URL(service.url).port };
  // Retries until it runs, as a supervisor does.
  service.process = await startProcess(again).catch(() => startProcess(again));
}

test('listen forwards hundreds of events in order, each once, across a kill and restart of the service', async () => {
  const { account, local, listenTo } = await newAccount();
  const hook = await startReceiver();
  await registerWebhook(account, hook.url);
  const listener = await listenTo();
  const trackingIds = await placeOrders(account, 60);
  await until('all are created', () => local.received.length === 60, patienceMs);
  await record(trackingIds, 'PICKED_UP');
  await killAndRestart(listener);
  await record(trackingIds, 'IN_TRANSIT');
  await record(trackingIds, 'OUT_FOR_DELIVERY');
  await until('all were forwarded', () => local.received.length >= 240, patienceMs);

  const ids = await feedIds(account);
  expect(ids.length).toBe(240);
  expect(local.received.map(idOf)).toEqual(ids);
  expect(listener.lines('notification').map(({ eventId }) => eventId as string)).toEqual(ids);
  expect(listener.lines().map(({ type }) => type)).toEqual(
    expect.arrayContaining(['listening', 'interrupted', 'resumed']),
  );
  // A start on a busy machine may break more than once.
  expect(listener.lines('resumed').length).toBe(listener.lines('interrupted').length);
  verifyAll(local.received, listener.lines('listening')[0]!.secret as string);
  expectSameAsWebhook(local.received, await hook.waitFor(120, undefined, patienceMs));
  await hook.close();
}, 120_000);

test.concurrent(
  'listen ends at Ctrl-C during a long poll, with exit code 0, and leaves nothing behind',
  async () => {
    const { account, local } = await newAccount();
    const listener = runListen(['--forward', local.url], credentials(service.url, account));
    listeners.push(listener);
    await until('the listener is ready', () => listener.output().includes('Signing'), patienceMs);
    const trackingId = await placeOrder(account);
    await until('the event is forwarded', () => listener.output().includes(trackingId));
    expect(listener.output()).toMatch(/Z {2}CREATED {11}PH\w+ {2}200 OK {2}\d+ ms\n/);
    const { code, afterMs } = await listener.end();
    expect({ code, errors: listener.errors() }).toEqual({ code: 0, errors: '' });
    expect(afterMs).toBeLessThan(5_000);
    expect(listener.output()).toMatch(/Forwarded 1: 1 accepted, 0 rejected, 0 not delivered\.\n$/);
    expect((await account.call('/v1/webhooks')).data.webhooks).toEqual([]);
  },
);

test.concurrent('listen prints and skips events that the local server refuses or breaks off', async () => {
  const { account, local, listenTo } = await newAccount();
  const listener = await listenTo();
  const trackingId = await placeOrder(account);
  await local.waitFor(1);
  const replies: Record<string, Receiver['reply']> = {
    PICKED_UP: () => ({ status: 500 }),
    IN_TRANSIT: () => ({ status: 302, headers: { location: local.url } }),
    OUT_FOR_DELIVERY: (_request, response) => void response.destroy(),
  };
  local.reply = (request, response) => (replies[stateOf(request)] ?? (() => ({})))(request, response);
  for (const state of [...Object.keys(replies), 'DELIVERED']) await record([trackingId], state);
  await until('all are printed', () => listener.lines('notification').length === 5);
  expect(
    listener.lines('notification').map((line) => [line.state, line.ok, line.statusCode ?? line.errorCode]),
  ).toEqual([
    ['CREATED', true, 200],
    ['PICKED_UP', false, 500],
    ['IN_TRANSIT', false, 302],
    ['OUT_FOR_DELIVERY', false, 'RESET'],
    ['DELIVERED', true, 200],
  ]);
  expect(local.received.length).toBe(5);
  await listener.end();
  expect(listener.lines().at(-1)).toEqual({ type: 'ended', forwarded: 5, refused: 3 });
});

test.concurrent('listen continues when nothing listens at the local address', async () => {
  const { account, listenTo } = await newAccount();
  const gone = await startReceiver();
  await gone.close();
  const listener = await listenTo([], undefined, gone.url);
  await placeOrder(account);
  await until('the failure is printed', () => listener.lines('notification').length === 1);
  expect(listener.lines('notification')[0]).toMatchObject({ ok: false, errorCode: 'CONNECT' });
});

test.concurrent('listen uses the given start, states and secret', async () => {
  const { account, local, listenTo } = await newAccount();
  const trackingIds = await placeOrders(account, 3);
  await until('all are created', async () => (await feedIds(account)).length === 3);
  await record(trackingIds, 'PICKED_UP');
  await record(trackingIds, 'IN_TRANSIT');
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const args = ['--since', '10m', '--interests', 'CREATED,IN_TRANSIT', '--secret', secret];
  const listener = await listenTo(args, programFile);
  await local.waitFor(6);
  await placeOrder(account); // proves that no other event came before
  await local.waitFor(7);
  const states = local.received.map(stateOf);
  expect(states).toEqual([...Array(3).fill('CREATED'), ...Array(3).fill('IN_TRANSIT'), 'CREATED']);
  verifyAll(local.received, secret);
  expect((await listener.end('SIGTERM')).code).toBe(0);
});

test.concurrent('listen reports why it cannot start, also by its exit code', async () => {
  const { account, local } = await newAccount();
  const env = credentials(service.url, account);
  const run = async (args: string[], own: Record<string, string>) => {
    const one = runListen(args, own);
    return { code: await one.exited, output: one.output(), errors: one.errors() };
  };
  const [usage, unknown, noPassword, wrong, away, help] = await Promise.all([
    run(['--since', 'yesterday'], {}),
    run(['--forwards', local.url], env),
    run(['--forward', local.url], { ...env, PARCELHOOK_PASSWORD: '' }),
    run(['--forward', local.url], { ...env, PARCELHOOK_PASSWORD: 'wrong horse battery' }),
    run(['--forward', local.url], { ...env, PARCELHOOK_URL: 'http://127.0.0.1:9' }),
    run(['--help'], {}),
  ]);
  expect(usage).toMatchObject({ code: 2, output: '' });
  for (const name of ['--forward', 'PARCELHOOK_KEY', 'PARCELHOOK_EMAIL', '--since'])
    expect(usage.errors).toContain(name);
  expect(unknown).toMatchObject({ code: 2, errors: expect.stringContaining('--forwards') });
  expect(noPassword).toMatchObject({ code: 2, errors: expect.stringContaining('PARCELHOOK_PASSWORD') });
  expect(wrong).toMatchObject({ code: 1, errors: expect.stringMatching(/^401 UNAUTHORIZED/) });
  expect(wrong.errors).not.toContain('wrong horse');
  expect(away).toMatchObject({ code: 69, errors: expect.stringContaining('cannot be reached') });
  expect(away.output).toMatch(/^The service cannot be reached yet: .* cannot be reached .*\n$/);
  expect(help).toMatchObject({ code: 0, output: expect.stringContaining('--interests') });
});

/** Byte for byte, except for the time and key of the signature, and the trace. */
function expectSameAsWebhook(forwarded: Received[], received: Received[]): void {
  const own = /^(host|connection|webhook-(timestamp|signature)|parcelhook-attempt|traceparent)$/;
  const shownOf = ({ body, headers }: Received) => ({
    body,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.test(name))),
  });
  const shown = new Map(forwarded.map((request) => [idOf(request), shownOf(request)]));
  for (const request of received) expect(shown.get(idOf(request))).toEqual(shownOf(request));
  for (const { headers } of forwarded) expect(headers.traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
}
