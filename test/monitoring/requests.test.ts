import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRequestCounter } from '../../src/http/request/watch.js';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import {
  metricsOf,
  basic,
  placeOrder,
  registerAccount,
  registerWebhook,
  request,
  type Account,
} from '../support/client.js';
import { startProcess, startServiceToInspect, stopProcess, type Service } from '../support/harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

let service: Service;
let account: Account;
let receiver: Receiver;

beforeAll(async () => {
  service = await startServiceToInspect({ DATABASE_SIZE_LIMIT: '500GiB' });
  account = await registerAccount(service);
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

async function scrape(of: { url: string } = service): Promise<Map<string, number>> {
  const samples = (await metricsOf(of)).split('\n').filter((line) => line.startsWith('parcelhook_'));
  return new Map(
    samples.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice('parcelhook_'.length, end), Number(line.slice(end + 1))];
    }),
  );
}

const labelled = (series: Map<string, number>, metric: string, label: string): string[] =>
  [...series.keys()]
    .filter((name) => name.startsWith(`${metric}{`))
    .map((name) => new RegExp(`[{,]${label}="([^"]*)"`).exec(name)![1]!);

const slow = (route: string) => `http_slow_by_design_duration_seconds_count{route="${route}"}`;

test('logins, tests and long polls that waited are counted, and their durations are kept apart', async () => {
  const headers = { authorization: basic(account.email, account.password) };
  await request(`${service.url}/v1/login?key=${account.accountKey}`, { headers });
  const { webhookId } = await registerWebhook(account, receiver.url);
  await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
  const { data } = await account.call('/v1/events');
  await account.call(`/v1/events?after=${data.nextCursor}&wait=1s`);
  await account.call('/v1/webhooks');
  const routes = ['/v1/login', '/v1/webhooks/:webhookId/test', '/v1/events'];
  let series = new Map<string, number>();
  await until('all are counted', async () => {
    series = await scrape();
    return series.has('http_request_duration_seconds_count{route="/v1/webhooks",method="GET",status="200"}');
  });
  expect(routes.map((route) => series.get(slow(route))! >= 1)).toEqual([true, true, true]);
  const inLatency = labelled(series, 'http_request_duration_seconds_count', 'route');
  expect(inLatency).not.toContain('/v1/login');
  expect(inLatency).not.toContain('/v1/webhooks/:webhookId/test');
  const feed = 'http_request_duration_seconds_count{route="/v1/events",method="GET",status="200"}';
  expect(series.get(feed)).toBe(1); // the one that did not wait
  expect(series.get('http_requests_total{route="/v1/events",method="GET",status="200"}')).toBe(2);
  expect(series.get('http_requests_total{route="/v1/login",method="GET",status="200"}')).toBeGreaterThan(0);
});

test('what the alerts count is there from 0, so that the first failure is an increase', async () => {
  const series = await scrape();
  for (const status of ['201', '499', '500', '503'])
    expect(series.get(`http_requests_total{route="/v1/shipments",method="POST",status="${status}"}`)).toBe(0);
  for (const api of ['/v1/*', '/operator/*'])
    expect(series.get(`http_request_duration_seconds_count{route="${api}",method="any",status="499"}`)).toBe(
      0,
    );
  for (const name of [
    'delivery_attempts_total{outcome="TIMEOUT",status_class="none"}',
    'delivery_attempts_total{outcome="HTTP_STATUS",status_class="5xx"}',
    'delivery_attempt_duration_seconds_count{outcome="failure"}',
    'events_recorded_total{state="DELIVERY_FAILED"}',
    'sendable_seconds_count',
  ])
    expect([name, series.get(name)]).toEqual([name, 0]);
});

test('a refused request counts for its route, its duration for its API', async () => {
  await request(`${service.url}/v1/webhooks?key=${account.accountKey}`);
  await request(`${service.url}/v1/webhooks`, { method: 'PURGE' });
  await until('both are counted', async () => {
    const series = await scrape();
    return (
      series.get('http_requests_total{route="/v1/webhooks",method="GET",status="401"}') === 1 &&
      series.get('http_requests_total{route="/v1/webhooks",method="OTHER",status="405"}') === 1 &&
      series.get('http_request_duration_seconds_count{route="/v1/*",method="any",status="4xx"}') === 2
    );
  });
});

test('each role says with its name whether it is ready, and every task of it reports from the start', async () => {
  const api = await startProcess(service.env, 'api');
  const worker = await startProcess(service.env, 'worker');
  try {
    const tasksOf = async (role: string, running: { url: string }, last: string) => {
      let series = new Map<string, number>();
      await until(`${role} has started its tasks`, async () => {
        series = await scrape(running);
        return labelled(series, 'background_task_interval_seconds', 'task').includes(last);
      });
      expect(series.get(`ready{role="${role}"}`)).toEqual(expect.any(Number));
      expect(series.get(`draining{role="${role}"}`)).toBe(0);
      const metrics = [
        'interval_seconds',
        'failures_total',
        'succeeded_timestamp_seconds',
        'duration_seconds_count',
      ];
      const [tasks, ...others] = metrics.map((name) =>
        labelled(series, `background_task_${name}`, 'task').sort(),
      );
      for (const other of others) expect(other).toEqual(tasks);
      return tasks!;
    };
    const shared = ['health', 'limits', 'sizes'];
    expect(await tasksOf('api', api, 'sizes')).toEqual(expect.arrayContaining(shared));
    const ofWorker = await tasksOf('worker', worker, 'tables');
    expect(ofWorker).toEqual(
      expect.arrayContaining([...shared, 'tables', 'maintenance', 'gauges', 'canary']),
    );
    expect(ofWorker.length).toBeGreaterThan(15);
    await until('the api is ready', async () => (await scrape(api)).get('ready{role="api"}') === 1);
    await until('the api shows what the deployment may run out of', async () => {
      const series = await scrape(api);
      return (
        [
          'database_size_bytes',
          'database_size_limit_bytes',
          'postgres_connections',
          'postgres_transaction_id_age',
        ].every((name) => series.get(name)! > 0) &&
        labelled(series, 'partitions_ahead_days', 'table').length === 3
      );
    });
    expect((await scrape(api)).get('database_size_limit_bytes')).toBe(500 * 1024 ** 3);
    const walked = 'outbox_walked_timestamp_seconds'; // by workers alone
    expect([(await scrape(api)).has(walked), (await scrape(worker)).get(walked)! > 0]).toEqual([false, true]);
  } finally {
    await stopProcess(api);
    await stopProcess(worker);
  }
});

interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}

test('a process has at most 3,600 series, whatever is requested, and however many tenants there are', async () => {
  await placeOrder(account);
  await receiver.waitFor(1);
  const few = await scrape();
  await service.sql(
    `with many as (
       insert into shippers (shipper_id, name, account_key_hash)
       select gen_random_uuid(), 'S', decode(md5(n::text), 'hex') from generate_series(1, 1000) n returning shipper_id)
     insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede, headers,
                           description, secret, created_at, updated_at)
     select gen_random_uuid(), shipper_id, '{*}', 'http://receiver.test/', 'ACTIVE', 'SHIPMENT', false, '{}', '', '', now(), now()
       from many, generate_series(1, 10)`,
  );
  let series = few;
  await until('the webhooks are counted', async () => {
    series = await scrape();
    return series.get('webhooks{status="ACTIVE"}')! >= 10_000;
  });
  const isOfRequests = (name: string) => /^http_request/.test(name);
  const others = [...series.keys()].filter((name) => !isOfRequests(name)).length;
  // Figures appear as tasks run for the first time; a label for each tenant would add a thousand.
  expect(series.size - few.size).toBeLessThan(100);

  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi;
  const metrics = createMetrics();
  const before = seriesOf(await metrics.text()).filter(
    (name) => !name.startsWith('parcelhook_http_request'),
  ).length;
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { responses }]) => ({
      method: method as 'get',
      path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      responses,
      statuses: [...Object.keys(responses).filter(Number), '499', '500'].map(Number),
    })),
  );
  const isApi = ({ path }: { path: string }) => /^\/(v1|operator)\//.test(path);
  const count = createRequestCounter(metrics, routes.filter(isApi));
  const end = (route: string | null, method: string, status: number) =>
    count({ route, method, status, workedMs: 1, isSlowByDesign: false });
  for (const { path, method, statuses } of routes)
    for (const status of statuses) end(path, method.toUpperCase(), status);
  for (const route of [...new Set(routes.map(({ path }) => path)), null])
    for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS', 'PURGE', 'TRACE'])
      for (const status of [400, 404, 405, 499, 500]) end(route, method, status);
  const requests = seriesOf(await metrics.text()).length - before;
  expect(routes.length).toBeGreaterThan(45);
  expect(others + requests).toBeLessThanOrEqual(3_600);
});

const seriesOf = (text: string) => text.split('\n').filter((line) => line.startsWith('parcelhook_'));
