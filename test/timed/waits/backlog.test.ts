import { expect, test } from '@jest/globals';
import {
  figureIn,
  figureOf,
  metricsOf,
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
} from '../../support/client.js';
import { expectSuccess } from '../../support/expect.js';
import { startServiceOfRole, startServiceWith } from '../../support/harness.js';
import { startReceiver } from '../../support/receiver.js';
import { freePort } from '../../support/redis.js';
import { until } from '../../support/until.js';

/** Gauges are read every 1.5 s, and circuits open for 3 s. */
const env = { TIME_SCALE: '0.1', RETRY_SCHEDULE: '2s,1h', DELIVERY_CONCURRENCY: '20' };

async function scrape(service: { url: string }): Promise<(name: string) => number> {
  const metrics = await metricsOf(service);
  return (name) => figureIn(metrics, name);
}

test('without any worker the api shows that the oldest delivery and order wait, and for how long', async () => {
  const service = await startServiceOfRole('api', env);
  try {
    const account = await registerAccount(service);
    await registerWebhook(account, 'http://127.0.0.1:9/');
    await placeOrder(account);
    const trackingId = await placeOrder(account);
    // The operator's event creates the shipment, although no worker does.
    expectSuccess(
      await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } }),
      202,
    );
    const atLeast = (seconds: number) =>
      until(`both wait for ${seconds} s`, async () => {
        const figure = await scrape(service);
        return ['sendable_oldest_seconds', 'order_oldest_uncreated_seconds'].every(
          (name) => figure(name) >= seconds,
        );
      });
    await atLeast(1);
    await atLeast(4);
    const figure = await scrape(service);
    for (const [name, value] of [
      ['sendable_deliveries', 1],
      ['waiting_deliveries{cause="turn"}', 1],
      ['orders_uncreated', 1],
      ['order_to_created_seconds_count', 1],
      ['circuits_open', NaN], // only workers read it
    ] as const)
      expect([name, figure(name)]).toEqual([name, value]);
  } finally {
    await service.stop();
  }
});

test('a dead receiver and a slow one leave nothing sendable: what they are owed waits for them', async () => {
  const slow = await startReceiver(() => ({ delayMs: 2_000 }));
  const service = await startServiceWith(env);
  try {
    const account = await registerAccount(service);
    await registerWebhook(account, slow.url);
    await registerWebhook(account, `http://127.0.0.1:${await freePort()}/`);
    const orders = 32;
    for (let n = 0; n < orders; n += 1) await placeOrder(account);

    const oldest = new Map<number, number>(); // by the time of the read
    await until('both receivers are seen at three reads', async () => {
      const figure = await scrape(service);
      const isSeen = ['slow', 'circuit'].every(
        (cause) => figure(`webhooks_unserved{cause="${cause}"}`) === 1,
      );
      if (isSeen) {
        expect(figure('waiting_deliveries{cause="receiver"}')).toBeGreaterThan(0);
        expect(figure('waiting_deliveries{cause="circuit"}')).toBeGreaterThan(0);
        const readAt = figure('background_task_succeeded_timestamp_seconds{task="backlog gauges"}');
        oldest.set(readAt, figure('sendable_oldest_seconds'));
      }
      return oldest.size >= 3;
    });
    expect(Math.max(...oldest.values())).toBeLessThan(1);

    await slow.waitFor(orders, undefined, 90_000);
    await until('all attempts are counted', async () => {
      const figure = await scrape(service);
      return figure('delivery_attempts_total{outcome="SUCCEEDED",status_class="2xx"}') === orders;
    });
    const figure = await scrape(service);
    expect(figure('event_to_first_attempt_seconds_bucket{le="5"}')).toBeLessThan(
      figure('event_to_first_attempt_seconds_count'),
    );
    expect(figure('sendable_seconds_bucket{le="5"}')).toBe(figure('sendable_seconds_count'));
  } finally {
    await service.stop();
    await slow.close();
  }
});

test('what waits because a worker has no free place is ours, although it is claimed', async () => {
  const receiver = await startReceiver(() => ({ delayMs: 600 })); // not slow, so its limit is the places of the worker
  const service = await startServiceWith({ ...env, DELIVERY_CONCURRENCY: '4' });
  try {
    const account = await registerAccount(service);
    for (let n = 0; n < 4; n += 1) await registerWebhook(account, receiver.url);
    for (let n = 0; n < 40; n += 1) await placeOrder(account);
    await until(
      'a delivery has waited for a place for longer than ten attempts take',
      async () => (await figureOf(service, 'sendable_oldest_seconds')) > 6,
      25_000,
    );
  } finally {
    await service.stop();
    await receiver.close();
  }
});
