import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hostname } from 'node:os';
import { buildInfo } from '../../../src/platform/version.js';
import {
  metricsOf,
  fromPortal,
  openSession,
  registerAccount,
  registerWebhook,
  request,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import { startServiceToInspect, type Service } from '../../support/harness.js';
import { readTracked } from '../../support/project-files.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';

type Line = Record<string, unknown>;

const lines = (service: Service): Line[] =>
  service.process
    .output()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line) as Line] : []));

const linesOf = (service: Service, msg: string) => lines(service).filter((line) => line.msg === msg);

const debugLevel = 20;

/** The bytes of a line with its end. */
const bytesOf = (line: Line | undefined) => Buffer.byteLength(`${JSON.stringify(line)}\n`);

/** The size of a line as docs/operating.md gives it. */
const documentedBytes = (what: RegExp): number => Number(what.exec(readTracked('docs/operating.md'))?.[1]);

let receiver: Receiver;
const services: Service[] = [];
const start = async (env: Record<string, string>): Promise<[Service, Account]> => {
  const service = await startServiceToInspect(env);
  services.push(service);
  return [service, await registerAccount(service)];
};
beforeAll(async () => {
  receiver = await startReceiver(({ path }) => ({ status: path === '/bad' ? 500 : 200 }));
});
afterAll(async () => {
  for (const service of services) await service.stop();
  await receiver.close();
});
const pathOf = (path: string) => receiver.url.replace('/hook', path);
const order = async (account: Account) => {
  const { data } = await account.call('/v1/shipments', { body: sampleOrder() });
  return data.trackingId as string;
};

test('an attempt names its shipper, shipment and event', async () => {
  const [service, account] = await start({ LOG_LEVEL: 'debug' });
  await registerWebhook(account, pathOf('/good'));
  const trackingId = await order(account);
  await until('the attempt is logged', () => linesOf(service, 'attempt').length === 1);
  const [received] = receiver.received.filter(({ notification }) => notification.tracking_id === trackingId);
  expect(linesOf(service, 'attempt')).toMatchObject([
    {
      shipperId: account.shipperId,
      trackingId,
      eventId: received!.headers['webhook-id'],
      status: 'SUCCEEDED',
    },
  ]);
});

test('an attempt and a request take as many bytes as docs/operating.md says, give or take 5 %', () => {
  const [service] = services;
  const sizes = [
    [
      documentedBytes(/[Aa] delivery logs (\d+) bytes/),
      bytesOf({ ...linesOf(service!, 'attempt')[0], waitedMs: undefined }),
    ],
    [
      documentedBytes(/[Aa] request (\d+)/),
      bytesOf(linesOf(service!, 'request').find(({ route }) => route === '/v1/shipments')),
    ],
  ] as const;
  for (const [documented, measured] of sizes)
    expect(Math.abs(documented - measured) / measured).toBeLessThan(0.05);
});

test('with LOG_ATTEMPTS=failed only failed attempts are logged', async () => {
  const [service, account] = await start({ LOG_ATTEMPTS: 'failed' });
  const good = await registerWebhook(account, pathOf('/good'));
  const bad = await registerWebhook(account, pathOf('/bad'));
  const trackingId = await order(account);
  await until('the success is counted', async () => {
    const metrics = await metricsOf(service);
    return /^parcelhook_delivery_attempts_total\{outcome="SUCCEEDED".*\} 1$/m.test(metrics);
  });
  await until('the failure is logged', () => linesOf(service, 'attempt').length > 0);
  expect(linesOf(service, 'attempt')).toMatchObject([
    { webhookId: bad.webhookId, trackingId, statusCode: 500 },
  ]);
  expect(service.process.output()).not.toContain(`"webhookId":"${good.webhookId}"`);
});

test('requests of probes, and what the portal reads, are logged at debug, all others at info', async () => {
  const service = services[0]!;
  const account = await registerAccount(service);
  for (const path of ['/healthz', '/readyz?verbose=1', '/metrics']) await fetch(`${service.url}${path}`);
  const cookie = await openSession(service, account);
  expect(
    (await request(`${service.url}/v1/webhooks`, { headers: { ...fromPortal, cookie } })).httpStatus,
  ).toBe(200);
  await account.call('/v1/webhooks');
  await fetch(`${service.url}/nothing`);
  await until('all are logged', () => linesOf(service, 'request').some(({ status }) => status === 404));
  const levels = linesOf(service, 'request').map(({ level, status, route }) => ({ level, status, route }));
  expect(levels.filter(({ level }) => level === debugLevel)).toHaveLength(4);
  expect(levels.slice(-2)).toEqual([
    { level: 30, status: 200, route: '/v1/webhooks' },
    { level: 30, status: 404, route: null },
  ]);
});

test('a request that fails is logged at warn with its cause', async () => {
  const service = services[0]!;
  const account = await registerAccount(service);
  await service.sql('alter table replays rename to lost_replays');
  const { httpStatus } = await account.call('/v1/replays/0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a51');
  await service.sql('alter table lost_replays rename to replays');
  expect(httpStatus).toBe(500);
  const failed = () => linesOf(service, 'request').filter(({ status }) => status === 500);
  await until('it is logged', () => failed().length > 0);
  expect(failed()).toMatchObject([{ level: 40, error: expect.stringContaining('replays') }]);
});

test('every line names process and role, the first one the commit, and that of an order its tracking id', () => {
  const service = services[0]!;
  for (const line of lines(service))
    expect(line).toMatchObject({ role: 'all', process: `${hostname()}/${service.process.pid}` });
  expect(linesOf(service, 'started')).toMatchObject([buildInfo]);
  const orders = linesOf(service, 'request').filter(
    ({ route, status }) => route === '/v1/shipments' && status === 201,
  );
  expect(orders.length).toBeGreaterThan(0);
  for (const one of orders) expect(one.trackingId).toMatch(/^PH/);
});
