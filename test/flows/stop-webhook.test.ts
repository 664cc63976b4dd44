import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../client.js';
import { backends, startService, type Service } from '../harness.js';
import { startReceiver, type Receiver } from '../receiver.js';
import { countByStatus, heardOf, placeOrders, repeated, startLoad, until, untilAllAre } from './support.js';

/** A request that arrived this long after an answer was sent before it: loopback and two event loops lie between. */
const transitMs = 25;

describe.each(backends)('a webhook that is stopped, with the queue on %s', (backend) => {
  let service: Service;
  let account: Account;
  let receiver: Receiver;
  /** Another webhook of the shipper: what comes here proves that work has gone on since. */
  let witness: Receiver;

  beforeAll(async () => {
    service = await startService({
      backend,
      env: { RETRY_SCHEDULE: '1s,1s,1s', DELIVERY_CONCURRENCY: '20' },
    });
  });
  afterAll(() => service?.stop());

  let tests = 0;
  beforeEach(async () => {
    account = await registerAccount(service, `user${(tests += 1)}@example.com`);
    receiver = await startReceiver();
    witness = await startReceiver();
    await registerWebhook(account, witness.url);
  });
  afterEach(async () => {
    await Promise.all([receiver.close(), witness.close()]);
  });

  const remove = (webhookId: string) => account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  const set = (webhookId: string, status: string) =>
    account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });
  /** The moment of the answer; the requests that started after it are to be none. */
  const answered = async (call: Promise<{ httpStatus: number }>): Promise<number> => {
    expect((await call).httpStatus).toBe(200);
    return Date.now();
  };
  const startedAfter = (moment: number) =>
    receiver.received.filter(({ at }) => at > moment + transitMs).length;
  const untilWitnessed = async (orders: string[]) => {
    await until('the witness', () => heardOf(witness.received, orders) === orders.length);
  };
  const untilOwed = (webhookId: string, count: number) =>
    until(`${count} deliveries owed`, async () => {
      const counts = await countByStatus(service, webhookId);
      return Object.values(counts).reduce((sum, n) => sum + n, 0) === count;
    });
  const reasons = async (webhookId: string) =>
    service.sql('select distinct status, reason, due_at, sweep_at from deliveries where webhook_id = $1', [
      webhookId,
    ]);

  test('deleted during a backlog: nothing starts after the answer, the rest is CANCELLED', async () => {
    receiver.reply = () => ({ delayMs: 500 });
    const { webhookId } = await registerWebhook(account, receiver.url);
    const orders = await placeOrders(account, 80);
    await untilOwed(webhookId, 80);
    await receiver.waitFor(10);
    const deletedAt = await answered(remove(webhookId));
    const after = await placeOrders(account, 5);
    await untilWitnessed([...orders, ...after]);
    await until('settled', async () => {
      const { PENDING = 0, HELD = 0 } = await countByStatus(service, webhookId);
      return PENDING + HELD === 0;
    });
    expect(startedAfter(deletedAt)).toBe(0);
    expect(heardOf(receiver.received, after)).toBe(0);
    const counts = await countByStatus(service, webhookId);
    expect(counts).toEqual({ SUCCEEDED: receiver.received.length, CANCELLED: 80 - receiver.received.length });
    expect(await reasons(webhookId)).toContainEqual({
      status: 'CANCELLED',
      reason: 'WEBHOOK_DELETED',
      due_at: null,
      sweep_at: null,
    });
  });

  test('the sweeper looks after a deleted webhook until its last attempt has ended, and then no more', async () => {
    let answer = () => {};
    receiver.reply = (_, response) => void (answer = () => response.writeHead(500).end());
    const { webhookId } = await registerWebhook(account, receiver.url);
    await placeOrder(account);
    await receiver.waitFor(1);
    await answered(remove(webhookId));
    const mark = async () => {
      const rows = await service.sql<{ backlog: string | null }>(
        'select backlog from webhooks where webhook_id = $1',
        [webhookId],
      );
      return rows[0]!.backlog;
    };
    // As if it had been deleted a minute ago: no fan-out that saw it alive can be under way any more.
    await service.sql(`update webhooks set updated_at = now() - interval '1 minute' where webhook_id = $1`, [
      webhookId,
    ]);
    await sleep(5_000); // two sweeps
    expect(await mark()).toBe('CANCEL');
    answer();
    await until('its mark is off', async () => (await mark()) === null);
    expect(await countByStatus(service, webhookId)).toEqual({ CANCELLED: 1 });
  });

  test('deleted during attempts that then fail: no retry, and they end as CANCELLED', async () => {
    receiver.reply = () => ({ status: 500, delayMs: 1_500 });
    const { webhookId } = await registerWebhook(account, receiver.url);
    const orders = await placeOrders(account, 5);
    await receiver.waitFor(5);
    const startedAt = Date.now();
    const deletedAt = await answered(remove(webhookId));
    expect(deletedAt - startedAt).toBeLessThan(1_500);
    await untilAllAre(service, webhookId, 'CANCELLED', 5);
    await untilWitnessed(orders);
    expect(receiver.received.length).toBe(5);
    expect(startedAfter(deletedAt)).toBe(0);
  });

  test('PAUSED: nothing starts after the answer, notifications are HELD; ACTIVE again, each goes out once', async () => {
    receiver.reply = () => ({ delayMs: 500 });
    const { webhookId } = await registerWebhook(account, receiver.url);
    const before = await placeOrders(account, 60);
    await untilOwed(webhookId, 60);
    await receiver.waitFor(10);
    const pausedAt = await answered(set(webhookId, 'PAUSED'));
    const during = await placeOrders(account, 10);
    await untilWitnessed([...before, ...during]);
    await until('held', async () => {
      const { SUCCEEDED = 0, HELD = 0 } = await countByStatus(service, webhookId);
      return SUCCEEDED + HELD === 70;
    });
    expect(startedAfter(pausedAt)).toBe(0);
    expect(heardOf(receiver.received, during)).toBe(0);
    const listed = await account.call(`/v1/deliveries?webhookId=${webhookId}&status=HELD&limit=250`);
    expect(listed.data.deliveries).toHaveLength(70 - receiver.received.length);

    receiver.reply = () => ({});
    const activeAt = await answered(set(webhookId, 'ACTIVE'));
    await until('all', () => heardOf(receiver.received, [...before, ...during]) === 70);
    console.info(`${backend}: held notifications out ${Date.now() - activeAt} ms after ACTIVE`);
    await untilAllAre(service, webhookId, 'SUCCEEDED', 70);
    expect(repeated(receiver.received)).toBe(0);
  });

  test('DISABLED by its shipper: held as well, and released by ACTIVE', async () => {
    const { webhookId } = await registerWebhook(account, receiver.url);
    await answered(set(webhookId, 'DISABLED'));
    const order = await placeOrder(account);
    await untilWitnessed([order]);
    await untilAllAre(service, webhookId, 'HELD', 1);
    expect(receiver.received.length).toBe(0);
    await answered(set(webhookId, 'ACTIVE'));
    await receiver.waitFor(1);
  });

  test('paused, resumed and deleted while events keep coming: nothing stays open, nothing is sent twice', async () => {
    const { webhookId } = await registerWebhook(account, receiver.url);
    const load = startLoad(() => account, 10);
    try {
      for (let time = 0; time < 8; time += 1) {
        await answered(set(webhookId, time % 2 === 0 ? 'PAUSED' : 'ACTIVE'));
        const seen = witness.received.length;
        await witness.waitFor(seen + 8);
      }
      await load.stop();
      await untilWitnessed(load.accepted);
      await untilAllAre(service, webhookId, 'SUCCEEDED', load.accepted.length, 20_000);
      expect(heardOf(receiver.received, load.accepted)).toBe(load.accepted.length);
      expect(repeated(receiver.received)).toBe(0);
    } finally {
      await load.stop();
    }

    const more = startLoad(() => account, 10);
    try {
      await witness.waitFor(witness.received.length + 20);
      const deletedAt = await answered(remove(webhookId));
      await witness.waitFor(witness.received.length + 20);
      await more.stop();
      await untilWitnessed(more.accepted);
      await until('settled', async () => {
        const counts = await countByStatus(service, webhookId);
        return Object.keys(counts).every((status) => status === 'SUCCEEDED' || status === 'CANCELLED');
      });
      expect(startedAfter(deletedAt)).toBe(0);
    } finally {
      await more.stop();
    }
  }, 60_000);
});
