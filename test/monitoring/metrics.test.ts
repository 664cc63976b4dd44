import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  figureIn,
  metricsOf,
  placeOrder,
  registerAccount,
  registerWebhook,
  request,
  sampleOrder,
  type Account,
} from '../support/client.js';
import { startServiceToInspect, startServiceWith, type Service } from '../support/harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { freePort } from '../support/redis.js';
import { until } from '../support/until.js';
import { expectFailure } from '../support/expect.js';

let service: Service;
let account: Account;
let receiver: Receiver;

beforeAll(async () => {
  service = await startServiceToInspect({ RETRY_SCHEDULE: '60s' });
  account = await registerAccount(service);
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

describe('/metrics', () => {
  test('counts an order, its event, its notification and the delivering attempt', async () => {
    await registerWebhook(account, `${receiver.url}/well`);
    await placeOrder(account);
    await receiver.waitFor(1);
    let text = '';
    await until('the attempt is counted', async () => {
      text = await metricsOf(service);
      const made = figureIn(text, 'delivery_attempts_total{outcome="SUCCEEDED",status_class="2xx"}');
      return made === 1 && figureIn(text, 'attempts_in_flight') === 0;
    });
    for (const [name, value] of [
      ['orders_accepted_total', 1],
      ['events_recorded_total{state="CREATED"}', 1],
      ['notifications_fanned_out_total', 1],
      ['deliveries_completed_total{status="SUCCEEDED"}', 1],
      ['event_to_first_attempt_seconds_count', 1],
      ['event_to_success_seconds_count', 1],
      ['delivery_attempt_duration_seconds_count{outcome="success"}', 1],
      ['http_request_duration_seconds_count{route="/v1/shipments",method="POST",status="201"}', 1],
      ['attempts_in_flight', 0],
      ['attempt_slots', 100],
      ['postgres_pool_size{pool="api"}', 10],
      ['batch_size_count{batch="orders"}', 1],
    ] as const)
      expect([name, figureIn(text, name)]).toEqual([name, value]);
    expect(text).toMatch(
      /parcelhook_build_info\{version="[^"]+",commit="([\da-f]{12}|unknown)",node="[^"]+",role="all",queue="postgres"\} 1/,
    );
    expect(figureIn(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
  });

  test('is made five times a second, however often it is asked for', async () => {
    const startedAt = performance.now();
    const texts: string[] = [];
    while (texts.length < 80)
      texts.push(...(await Promise.all(Array.from({ length: 16 }, () => metricsOf(service)))));
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(new Set(texts).size).toBeLessThanOrEqual(5 * (1 + seconds));
  });

  test('counts failures by outcome and the retries they lead to', async () => {
    receiver.reply = () => ({ status: 503 });
    await placeOrder(account);
    const failed = 'delivery_attempts_total{outcome="HTTP_STATUS",status_class="5xx"}';
    let text = '';
    await until('the failure is counted', async () => {
      text = await metricsOf(service);
      return figureIn(text, 'retries_scheduled_total') > 0;
    });
    expect([figureIn(text, failed), figureIn(text, 'retries_scheduled_total')]).toEqual([1, 1]);
  });

  test('counts a delivery that a redelivery ends, once', async () => {
    receiver.reply = () => ({});
    const { data } = await account.call('/v1/deliveries?status=PENDING');
    const [{ deliveryId }] = data.deliveries as [{ deliveryId: string }];
    for (const successes of [2, 3]) {
      await account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });
      let text = '';
      await until('the redelivery is counted', async () => {
        text = await metricsOf(service);
        return (
          figureIn(text, 'delivery_attempts_total{outcome="SUCCEEDED",status_class="2xx"}') === successes
        );
      });
      expect(figureIn(text, 'deliveries_completed_total{status="SUCCEEDED"}')).toBe(2);
    }
  });

  test('counts a request aborted by its client as 499, with its waiting time, as does the log', async () => {
    const locked = service.sql('begin; lock table shipments; select pg_sleep(1.5); commit');
    await until('it is locked', async () => {
      const rows = await service.sql(
        `select from pg_locks where relation = 'shipments'::regclass and mode = 'AccessExclusiveLock' and granted`,
      );
      return rows.length > 0;
    });
    const headers = { authorization: `Bearer ${account.token}`, 'content-type': 'application/json' };
    const url = `${service.url}/v1/shipments?key=${account.accountKey}`;
    const body = JSON.stringify(sampleOrder());
    const signal = AbortSignal.timeout(400);
    await expect(fetch(url, { method: 'POST', headers, body, signal })).rejects.toThrow();
    await locked;
    const given = 'route="/v1/*",method="any",status="499"';
    let text = '';
    await until('it is counted', async () => {
      text = await metricsOf(service);
      return figureIn(text, `http_request_duration_seconds_count{${given}}`) === 1;
    });
    expect(figureIn(text, `http_request_duration_seconds_sum{${given}}`)).toBeGreaterThan(0.3);
    expect(figureIn(text, 'http_requests_total{route="/v1/shipments",method="POST",status="499"}')).toBe(1);
    const line = service.process
      .output()
      .split('\n')
      .find((candidate) => candidate.includes('"aborted":true'));
    expect(JSON.parse(line!)).toMatchObject({ route: '/v1/shipments', status: 499 });
  });

  test('labels contain no id, URL or name of a shipper', async () => {
    await request(`${service.url}/v1/no-such-route/${account.shipperId}?key=${account.accountKey}`);
    await request(`${service.url}/v1/webhooks`, { method: 'PURGE' });
    const text = await metricsOf(service);
    for (const secret of [
      account.shipperId,
      account.accountKey,
      account.email,
      receiver.url,
      'no-such-route',
    ])
      expect(text).not.toContain(secret);
    expect(text).toContain('route="unmatched"');
  });

  test('does not count its own statements among the callers that wait for a connection', async () => {
    const lines = (await metricsOf(service)).match(/^parcelhook_postgres_pool_waiting\{.*$/gm)!;
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line).toMatch(/ 0$/);
  });

  test('every metric has a help sentence and the prefix', async () => {
    const lines = (await metricsOf(service)).split('\n');
    const helped = lines.flatMap((line) => /^# HELP (\S+) \S.*/.exec(line)?.[1] ?? []);
    const typed = lines.flatMap((line) => /^# TYPE (\S+) /.exec(line)?.[1] ?? []);
    expect(typed.length).toBeGreaterThan(40);
    expect(typed.filter((name) => !helped.includes(name) || !name.startsWith('parcelhook_'))).toEqual([]);
  });
});

test('METRICS_PORT opens a listener for /metrics and health; health stays on the API port too', async () => {
  const port = await freePort();
  const other = await startServiceWith({ METRICS_PORT: String(port) });
  try {
    const own = `http://127.0.0.1:${port}`;
    expect((await fetch(`${other.url}/metrics`)).status).toBe(404);
    const metrics = await fetch(`${own}/metrics`);
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    const text = await metrics.text();
    expect(text).toContain('parcelhook_build_info');
    expect(figureIn(text, 'http_connections_limit')).toBeGreaterThan(100);
    for (const url of [own, other.url])
      for (const page of ['/healthz', '/readyz'])
        await until(`${page} at ${url}`, async () => (await fetch(`${url}${page}`)).status === 200);
    expect((await fetch(`${own}/v1/webhooks`)).status).toBe(404);
    expect(other.process.output()).not.toContain('METRICS_TOKEN');
  } finally {
    await other.stop();
  }
});

test('METRICS_TOKEN is required; if production sets neither it nor METRICS_PORT, the start warns', async () => {
  expect(service.process.output().split('set METRICS_PORT or METRICS_TOKEN')).toHaveLength(2);
  const METRICS_TOKEN = 'token-of-prometheus';
  const other = await startServiceWith({ METRICS_TOKEN }, 'api');
  try {
    const bearing = (token: string) =>
      request(`${other.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expectFailure(await request(`${other.url}/metrics`), 401);
    const refused = await bearing('another');
    expectFailure(refused, 401);
    expect(refused.body.error.message).toMatch(/METRICS_TOKEN.*Bearer <token>/);
    expect((await bearing(METRICS_TOKEN)).body).toMatchObject({
      text: expect.stringContaining('parcelhook_build_info'),
    });
    expect((await fetch(`${other.url}/healthz`)).status).toBe(200);
    expect(other.process.output()).not.toContain('METRICS_PORT');
  } finally {
    await other.stop();
  }
});
