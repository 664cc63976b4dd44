import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { registerAccount, registerWebhook } from '../../support/client.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { heardOf, placeOrders, repeated, startLoad } from '../../support/load.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';
import { countShown, untilAllAre } from '../../support/deliveries.js';

/** A request that arrives this soon after a response was sent before it, allowing for loopback and two event loops. */
const transitMs = 25;

let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())));

const receivers: Receiver[] = [];
async function newShipper() {
  const account = await registerAccount(service);
  const receiver = await startReceiver();
  /** Its deliveries prove that work has continued since. */
  const witness = await startReceiver();
  receivers.push(receiver, witness);
  await registerWebhook(account, witness.url);

  const remove = (webhookId: string) => account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  const set = (webhookId: string, status: string) =>
    account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });
  const startedAfter = (moment: number) =>
    receiver.received.filter(({ at }) => at > moment + transitMs).length;
  const untilWitnessed = async (orders: string[]) => {
    await until('the witness', () => heardOf(witness.received, orders) === orders.length);
  };
  const untilOwed = (webhookId: string, count: number) =>
    until(`${count} deliveries owed`, async () => {
      const counts = await countShown(account, webhookId);
      return Object.values(counts).reduce((sum, n) => sum + n, 0) === count;
    });
  return { account, receiver, witness, remove, set, startedAfter, untilWitnessed, untilOwed };
}

/** Its attempts stay under way until the returned function ends them. */
function holdResponses(receiver: Receiver): () => void {
  const open: (() => void)[] = [];
  receiver.reply = (_, response) => void open.push(() => response.end('ok'));
  return () => {
    receiver.reply = () => ({});
    for (const respond of open) respond();
  };
}

/** The time of the response; no request may start after it. */
const responseTime = async (call: Promise<{ httpStatus: number }>): Promise<number> => {
  expect((await call).httpStatus).toBe(200);
  return Date.now();
};
const reasons = async (webhookId: string) =>
  service.sql('select distinct status, reason from deliveries where webhook_id = $1', [webhookId]);

test.concurrent(
  'a webhook is deleted with a backlog: nothing starts after the response, the rest is CANCELLED',
  async () => {
    const { account, receiver, remove, startedAfter, untilWitnessed, untilOwed } = await newShipper();
    const release = holdResponses(receiver);
    const { webhookId } = await registerWebhook(account, receiver.url);
    const orders = await placeOrders(account, 80);
    await untilOwed(webhookId, 80);
    await receiver.waitFor(1);
    const deletedAt = await responseTime(remove(webhookId));
    release();
    const after = await placeOrders(account, 5);
    await untilWitnessed([...orders, ...after]);
    await until('settled', async () => {
      const { PENDING = 0, SENDING = 0, HELD = 0 } = await countShown(account, webhookId);
      return PENDING + SENDING + HELD === 0;
    });
    expect(startedAfter(deletedAt)).toBe(0);
    expect(heardOf(receiver.received, after)).toBe(0);
    const counts = await countShown(account, webhookId);
    expect(counts).toEqual({
      SUCCEEDED: receiver.received.length,
      CANCELLED: 80 - receiver.received.length,
    });
    expect(await reasons(webhookId)).toContainEqual({ status: 'CANCELLED', reason: 'WEBHOOK_DELETED' });
    expect(await service.sql('select from outbox where webhook_id = $1', [webhookId])).toEqual([]);
  },
);

// Not concurrent: its attempts must not wait for others, to end before the first retry.
test('a webhook is deleted during attempts that then fail: no retry, and they end as CANCELLED', async () => {
  const { account, receiver, remove, startedAfter, untilWitnessed } = await newShipper();
  receiver.reply = () => ({ status: 500, delayMs: 1_500 });
  const { webhookId } = await registerWebhook(account, receiver.url);
  const orders = await placeOrders(account, 5);
  await receiver.waitFor(5);
  const startedAt = Date.now();
  const deletedAt = await responseTime(remove(webhookId));
  expect(deletedAt - startedAt).toBeLessThan(1_500);
  await untilAllAre(service, webhookId, 'CANCELLED', 5);
  await untilWitnessed(orders);
  expect(receiver.received.length).toBe(5);
  expect(startedAfter(deletedAt)).toBe(0);
});

test.concurrent(
  'a webhook is PAUSED: nothing starts after the response, notifications are HELD; ACTIVE again, each is sent once',
  async () => {
    const { account, receiver, set, startedAfter, untilWitnessed, untilOwed } = await newShipper();
    const release = holdResponses(receiver);
    const { webhookId } = await registerWebhook(account, receiver.url);
    const before = await placeOrders(account, 60);
    await untilOwed(webhookId, 60);
    await receiver.waitFor(1);
    const pausedAt = await responseTime(set(webhookId, 'PAUSED'));
    release();
    const during = await placeOrders(account, 10);
    await untilWitnessed([...before, ...during]);
    await until('held', async () => {
      const { SUCCEEDED = 0, HELD = 0 } = await countShown(account, webhookId);
      return SUCCEEDED + HELD === 70;
    });
    expect(startedAfter(pausedAt)).toBe(0);
    expect(heardOf(receiver.received, during)).toBe(0);
    const listed = await account.call(`/v1/deliveries?webhookId=${webhookId}&status=HELD&limit=250`);
    expect(listed.data.deliveries).toHaveLength(70 - receiver.received.length);

    await responseTime(set(webhookId, 'ACTIVE'));
    await until('all', () => heardOf(receiver.received, [...before, ...during]) === 70);
    await untilAllAre(service, webhookId, 'SUCCEEDED', 70);
    expect(repeated(receiver.received)).toBe(0);
  },
);

test('a webhook is paused, resumed and deleted under load: nothing stays open, nothing is sent twice', async () => {
  const { account, receiver, witness, remove, set, startedAfter, untilWitnessed } = await newShipper();
  const { webhookId } = await registerWebhook(account, receiver.url);
  const load = startLoad(() => account, 10);
  try {
    for (let time = 0; time < 8; time += 1) {
      await responseTime(set(webhookId, time % 2 === 0 ? 'PAUSED' : 'ACTIVE'));
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
    const deletedAt = await responseTime(remove(webhookId));
    await witness.waitFor(witness.received.length + 20);
    await more.stop();
    await untilWitnessed(more.accepted);
    await until('settled', async () => {
      const counts = await countShown(account, webhookId);
      return Object.keys(counts).every((status) => status === 'SUCCEEDED' || status === 'CANCELLED');
    });
    expect(startedAfter(deletedAt)).toBe(0);
  } finally {
    await more.stop();
  }
}, 60_000);
