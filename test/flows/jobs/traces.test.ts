/** The trace of a request, from its `traceparent` to that of the notification, and what is exported of it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  operator,
  registerAccount,
  registerWebhook,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import { startCollector, type Collector, type ExportedSpan } from '../../support/collector.js';
import {
  startProcess,
  startServiceOfRole,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { startReceiver, type Received, type Receiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const callerSpanId = '00f067aa0ba902b7';
const traceparent = (flags: string) => `00-${traceId}-${callerSpanId}-${flags}`;
const form = /^00-([\da-f]{32})-([\da-f]{16})-(0[01])$/;

interface Traced {
  traceId: string;
  spanId: string;
  flags: string;
}

function traceOf({ headers }: Pick<Received, 'headers'>): Traced {
  const [, traceId, spanId, flags] = form.exec(String(headers.traceparent)) ?? [];
  return { traceId: traceId!, spanId: spanId!, flags: flags! };
}

interface Deployment {
  service: Service;
  worker: RunningProcess;
  account: Account;
  receiver: Receiver;
  stop(): Promise<void>;
}

/** An api and a worker, so that what is between them goes through PostgreSQL and the queue. */
async function startBoth(env: Record<string, string>): Promise<Deployment> {
  const service = await startServiceOfRole('api', { ...env, LOG_DETAIL: 'all' });
  const worker: RunningProcess = await startProcess(service.env, 'worker');
  const account = await registerAccount(service);
  const receiver = await startReceiver();
  await registerWebhook(account, `${receiver.url}?token=canary-query`, {
    headers: { 'x-own': 'canary-own' },
  });
  const stop = async () => {
    await stopProcess(worker);
    await service.stop();
    await receiver.close();
  };
  return { service, worker, account, receiver, stop };
}

const order = (account: Account, headers: Record<string, string> = {}) =>
  account.call('/v1/shipments', { body: sampleOrder(), headers });

const openMetrics = 'application/openmetrics-text';
const scrape = async ({ url }: { url: string }, accept = `${openMetrics};version=1.0.0,text/plain;q=0.5`) => {
  const response = await fetch(`${url}/metrics`, { headers: { accept } });
  return { type: response.headers.get('content-type'), text: await response.text() };
};

const exemplarOf = (name: string, labels = '[^,]+') =>
  new RegExp(
    `^parcelhook_${name}_seconds_bucket{${labels}} 1 # {trace_id="${traceId}"} \\S+ \\d+\\.\\d{3}$`,
    'm',
  );

describe('traces of which nothing is exported', () => {
  let both: Deployment;
  beforeAll(async () => {
    both = await startBoth({ RETRY_SCHEDULE: '100ms' });
  });
  afterAll(() => both?.stop());

  const notificationsOf = (trackingId: unknown, count: number) =>
    both.receiver.waitFor(count, ({ notification }) => notification.tracking_id === trackingId);

  test('a notification has the trace id of its order’s request, not its flag and no tracestate', async () => {
    const headers = { traceparent: traceparent('01'), tracestate: 'stranger=canary' };
    const { data } = await order(both.account, headers);
    const [received] = await notificationsOf(data.trackingId, 1);
    expect(traceOf(received!)).toEqual({
      traceId,
      spanId: expect.not.stringMatching(callerSpanId),
      flags: '00',
    });
    expect(received!.headers).not.toHaveProperty('tracestate');
  });

  test('a retry has the same trace id and a span of its own, and the log shows both', async () => {
    both.receiver.reply = ({ headers }) => ({ status: headers['parcelhook-attempt'] === '1' ? 500 : 200 });
    const { data } = await order(both.account, { traceparent: traceparent('00') });
    const received = await notificationsOf(data.trackingId, 2);
    const traces = received.map(traceOf);
    expect(traces.map((one) => one.traceId)).toEqual([traceId, traceId]);
    expect(new Set(traces.map((one) => one.spanId)).size).toBe(2);
    await until('both are in the log', async () => {
      const { data: list } = await both.account.call(`/v1/deliveries?trackingId=${data.trackingId}`);
      const [delivery] = list.deliveries as { deliveryId: string; status: string }[];
      if (delivery?.status !== 'SUCCEEDED') return false;
      const { data: shown } = await both.account.call(`/v1/deliveries/${delivery.deliveryId}`);
      const attempts = shown.attempts as { requestHeaders: Record<string, string> }[];
      expect(attempts.map(({ requestHeaders }) => requestHeaders.traceparent).sort()).toEqual(
        received.map(({ headers }) => headers.traceparent).sort(),
      );
      return true;
    });
    both.receiver.reply = () => ({});
  });

  test('an operator’s events have the trace of their own request', async () => {
    const { data } = await order(both.account, { traceparent: traceparent('01') });
    await notificationsOf(data.trackingId, 1);
    const own = traceId.replace('4b', '5c');
    const events = { events: [{ trackingId: data.trackingId as string, state: 'PICKED_UP' }] };
    const header = { traceparent: `00-${own}-${callerSpanId}-00` };
    await operator(both.service, '/events', { body: events, headers: header });
    const one = own.replace('5c', '6d');
    await operator(both.service, `/shipments/${data.trackingId}/events`, {
      body: { state: 'IN_TRANSIT' },
      headers: { traceparent: `00-${one}-${callerSpanId}-00` },
    });
    const received = await both.receiver.waitFor(
      2,
      ({ notification: { tracking_id, state } }) => tracking_id === data.trackingId && state !== 'CREATED',
    );
    expect(received.map((request) => traceOf(request).traceId)).toEqual([own, one]);
  });

  test.each([['none'], [`00-${'0'.repeat(32)}-${callerSpanId}-01`], ['00-xyz']])(
    'a request with the traceparent %s begins a trace of its own',
    async (header) => {
      const headers: Record<string, string> = header === 'none' ? {} : { traceparent: header };
      const orders = [await order(both.account, headers), await order(both.account, headers)];
      const ids: string[] = [];
      for (const { data } of orders)
        ids.push(traceOf((await notificationsOf(data.trackingId, 1))[0]!).traceId);
      expect(new Set([...ids, '0'.repeat(32), traceId]).size).toBe(4);
      expect(ids[0]).toMatch(/^[\da-f]{32}$/);
      // Both lines name it: that of the request, and that of the attempt.
      expect((await scrape(both.service)).type).toMatch(/^text\/plain/); // no trace of it could be looked up
      for (const { output } of [both.service.process, both.worker])
        await until('its lines name it', () => output().includes(`"traceId":"${ids[0]}"`));
    },
  );
});

describe('traces that are exported', () => {
  let both: Deployment;
  let collector: Collector;
  beforeAll(async () => {
    collector = await startCollector();
    both = await startBoth(collector.env);
  });
  afterAll(async () => {
    await both?.stop();
    await collector?.close();
  });

  test('lead from the request to the notification, whatever the caller’s flag, and name no one', async () => {
    const sample = sampleOrder();
    await order(both.account, { traceparent: traceparent('00'), tracestate: 'stranger=canary-state' });
    const [received] = await both.receiver.waitFor(1);
    const own = () => collector.spans.filter((span) => span.traceId === traceId);
    const names = ['accept', 'attempt', 'record', 'wait'];
    await until('all spans are exported', () => own().length >= names.length);
    expect(
      own()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names);
    const [accept, attempt, record, wait] = names.map(
      (name) => own().find((span) => span.name === name) as ExportedSpan,
    );
    expect(accept!.parentSpanId).toBe(callerSpanId);
    expect(record!.parentSpanId).toBe(accept!.spanId);
    expect(wait!.parentSpanId).toBe(record!.spanId);
    expect(attempt!.parentSpanId).toBe(record!.spanId);
    expect(traceOf(received!)).toEqual({ traceId, spanId: attempt!.spanId, flags: '01' });
    expect(attempt!.events.map(({ name }) => name)).toEqual(['connect', 'request', 'first byte']);
    for (const { startTimeUnixNano, endTimeUnixNano } of own())
      expect(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(0n);

    const { type, text: page } = await scrape(both.service);
    expect(type).toBe(`${openMetrics}; version=1.0.0; charset=utf-8`);
    expect(page).toMatch(exemplarOf('http_request_duration', '.+route="/v1/shipments",.+status="201"'));
    expect((await scrape(both.service, '*/*')).text).not.toMatch(/# \{|# EOF/);
    await until('each latency names it', async () => {
      const { text: ofWorker } = await scrape(both.worker);
      return [
        exemplarOf('order_to_created'),
        exemplarOf('sendable'),
        exemplarOf('event_to_first_attempt'),
        exemplarOf('event_to_success'),
        exemplarOf('delivery_attempt_duration', '.+outcome="success"'),
      ].every((latency) => latency.test(ofWorker));
    });

    const text = collector.text();
    expect(text).toContain(both.account.shipperId);
    const { fullName, phone } = sample.recipientInformation;
    const { street, notes, reference } = sample.recipientLocation;
    const personal = [fullName, phone, street, notes, reference, sample.shipperTrackingId];
    const secrets = [both.account.token, both.account.accountKey, both.service.env.SECRETS_KEY!];
    for (const secret of [...personal, ...secrets, both.receiver.url, 'canary', 'dist/main.js', 'key='])
      expect(text).not.toContain(secret);
  });
});
