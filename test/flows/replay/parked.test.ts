import { expect, test } from '@jest/globals';
import { operator, registerAccount } from '../../support/client.js';
import { startProcess, startService } from '../../support/harness.js';
import { startHook, untilFound } from '../../support/deliveries.js';
import { accountAt } from '../../support/deployment.js';
import { placeOrders, trackingIdOf, verifyAll } from '../../support/load.js';
import { until as untilWithin } from '../../support/until.js';

const parkedAfter = 20;
const retried = { RETRY_SCHEDULE: '500ms,1s', DELIVERY_CONCURRENCY: '4' };

test('misses of a paused webhook beyond PARKED_AFTER get no rows, yet arrive in order, even after a kill -9', async () => {
  const service = await startService({
    env: { TIME_SCALE: '0.25', PARKED_AFTER: String(parkedAfter), ...retried },
  });
  try {
    const account = await registerAccount(service);
    const hook = await startHook(account, { status: 'PAUSED' });
    hook.response.delayMs = 20;
    let at: { url: string } = service;
    const health = async () =>
      (await accountAt(account, at).call(`/v1/webhooks/${hook.webhookId}`)).data.health as Record<
        string,
        unknown
      >;
    const rows = async () => {
      const [row] = await service.sql<{ n: number }>(
        'select count(*)::int as n from outbox where webhook_id = $1',
        [hook.webhookId],
      );
      return row!.n;
    };
    const advance = async (trackingIds: string[], state: string) =>
      operator(at, '/events', {
        body: { events: trackingIds.map((trackingId) => ({ trackingId, state })) },
      });

    const first = await placeOrders(account, parkedAfter);
    await untilFound(async () => (await health()).parkedSince !== null);
    expect(await health()).toMatchObject({ pendingCount: parkedAfter });
    const second = await placeOrders(account, 60);
    await untilFound(async () => {
      const [row] = await service.sql<{ n: number }>('select count(*)::int as n from events');
      return row!.n === 80;
    });
    for (const state of ['PICKED_UP', 'IN_TRANSIT']) await advance([...first, ...second], state);
    expect(await rows()).toBe(parkedAfter);
    expect(await health()).toMatchObject({ pendingCount: parkedAfter, parkedSince: expect.any(String) });

    await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    await hook.receiver.waitFor(30);
    await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
    await advance(first, 'OUT_FOR_DELIVERY');
    await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    await hook.receiver.waitFor(60);
    service.process.kill('SIGKILL');
    await service.process.exited;
    service.process = await startProcess(service.env);
    at = service.process;
    await advance(second, 'OUT_FOR_DELIVERY');

    const { received } = hook.receiver;
    const distinct = () => new Set(received.map(({ headers }) => headers['webhook-id'])).size;
    await untilWithin('all have arrived', () => distinct() === 4 * 80, 30_000);
    await untilFound(async () => (await rows()) === 0);
    await untilFound(async () => (await health()).parkedSince === null);
    verifyAll(received, hook.secret);
    expect(received.length - distinct()).toBeLessThanOrEqual(2 * 4); // in flight at the kill
    const newest = new Map<string, number>();
    for (const request of received) {
      const sequence = Number(request.headers['parcelhook-sequence']);
      const before = newest.get(trackingIdOf(request)) ?? 0;
      expect([before, before + 1]).toContain(sequence);
      newest.set(trackingIdOf(request), Math.max(before, sequence));
    }
    const finished = await service.sql(
      `select 1 from deliveries where webhook_id = $1 and status = 'SUCCEEDED'`,
      [hook.webhookId],
    );
    expect(finished).toHaveLength(4 * 80);
    await hook.receiver.close();
  } finally {
    await service.stop();
  }
}, 90_000);
