import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../client.js';
import {
  backends,
  startProcess,
  startService,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../harness.js';
import { startReceiver } from '../receiver.js';

describe.each(backends)('circuit breaker with the queue on %s', (backend) => {
  let service: Service;
  let account: Account;
  let secondWorker: RunningProcess;

  beforeAll(async () => {
    service = await startService({ backend, env: { RETRY_SCHEDULE: '1h' } });
    account = await registerAccount(service);
    secondWorker = await startProcess(service.env, 'worker');
  });
  afterAll(async () => {
    await stopProcess(secondWorker);
    await service?.stop();
  });

  const statusCounts = async (webhookId: string): Promise<Record<string, number>> => {
    const rows = await service.sql<{ status: string; count: number }>(
      'select status, count(*)::int from deliveries where webhook_id = $1 group by 1',
      [webhookId],
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  };
  const until = async (what: string, holds: () => Promise<boolean>) => {
    for (const end = Date.now() + 15_000; !(await holds()); await sleep(20)) {
      if (Date.now() > end) throw new Error(`not within 15 s: ${what}`);
    }
  };
  const isOpen = async (webhookId: string) =>
    (
      await service.sql('select 1 from circuits where webhook_id = $1 and open_until is not null', [
        webhookId,
      ])
    ).length > 0;

  test('a webhook that keeps failing is not called while its circuit is open, spends no attempts, and gets all it missed in order when a probe succeeds', async () => {
    let down = true;
    const receiver = await startReceiver(() => (down ? { status: 500 } : {}));
    const owner = await startReceiver();
    const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
    await registerWebhook(account, owner.url, { interests: ['WEBHOOK_FAILING', 'WEBHOOK_RECOVERED'] });
    await Promise.all(Array.from({ length: 10 }, () => placeOrder(account)));
    await until('the circuit opens', () => isOpen(webhookId));
    const [failing] = await owner.waitFor(1);
    expect(failing!.notification).toMatchObject({
      state: 'WEBHOOK_FAILING',
      webhook_id: webhookId,
      reason: 'CIRCUIT_OPEN',
    });

    const calledBefore = receiver.received.length;
    const held: string[] = [];
    for (let n = 0; n < 5; n += 1) held.push(await placeOrder(account));
    await until('five are held', async () => (await statusCounts(webhookId)).HELD === 5);
    expect(receiver.received).toHaveLength(calledBefore);

    // A probe that fails leaves it open for longer and costs the delivery no retry.
    await service.sql(`update circuits set open_until = now() where webhook_id = $1`, [webhookId]);
    await receiver.waitFor(calledBefore + 1);
    await until('it is open again', async () => {
      const [row] = await service.sql<{ n: number }>(
        'select times_opened as n from circuits where webhook_id = $1',
        [webhookId],
      );
      return row?.n === 2;
    });
    const [probed] = await service.sql(
      'select failure_count, status from deliveries where webhook_id = $1 and attempt_count = 1 and failure_count = 0',
      [webhookId],
    );
    expect(probed).toEqual({ failure_count: 0, status: 'HELD' });
    expect(receiver.received).toHaveLength(calledBefore + 1);

    down = false;
    await service.sql(`update circuits set open_until = now() where webhook_id = $1`, [webhookId]);
    const out = await receiver.waitFor(calledBefore + 6);
    expect(
      out
        .slice(calledBefore + 1)
        .map(({ notification }) => notification.tracking_id)
        .sort(),
    ).toEqual([...held].sort());
    await owner.waitFor(1, ({ notification }) => notification.state === 'WEBHOOK_RECOVERED');
    expect(await isOpen(webhookId)).toBe(false);
    await Promise.all([receiver.close(), owner.close()]);
  });

  test('410 disables the webhook at once, tells the owner, and holds what it misses until it is active again', async () => {
    let gone = true;
    const receiver = await startReceiver(() => (gone ? { status: 410 } : {}));
    const owner = await startReceiver();
    const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
    await registerWebhook(account, owner.url, { interests: ['WEBHOOK_DISABLED'] });
    await placeOrder(account);
    await owner.waitFor(1);
    const { data } = await account.call(`/v1/webhooks/${webhookId}`);
    expect(data).toMatchObject({ status: 'DISABLED', disabledReason: 'GONE' });
    await placeOrder(account);
    await until('both are held', async () => (await statusCounts(webhookId)).HELD === 2);
    expect(receiver.received).toHaveLength(1);
    gone = false;
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    await receiver.waitFor(3);
    await Promise.all([receiver.close(), owner.close()]);
  });

  test('after five days without one success a webhook is disabled', async () => {
    const receiver = await startReceiver(() => ({ status: 500 }));
    const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
    await placeOrder(account);
    await receiver.waitFor(1);
    const failing = `update circuits set failing_since = now() - interval '5 days 1 second' where webhook_id = $1 returning 1`;
    await until('the failure is counted', async () => (await service.sql(failing, [webhookId])).length > 0);
    await until('it is disabled', async () => {
      const { data } = await account.call(`/v1/webhooks/${webhookId}`);
      return data.status === 'DISABLED' && data.disabledReason === 'FAILING';
    });
    await receiver.close();
  });
});
