/** The `maxPerSecond` of a webhook, seen from its receiver, while two workers send. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { placeOrder, registerAccount, type Account } from '../support/client.js';
import { deliveriesOf, startHook } from '../support/deliveries.js';
import {
  startProcess,
  startServiceWith,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../support/harness.js';

let service: Service;
let worker: RunningProcess;
let account: Account;

beforeAll(async () => {
  service = await startServiceWith({ API_RATE_LIMIT: '0', DESTINATION_RATE: '0' });
  worker = await startProcess(service.env, 'worker');
  account = await registerAccount(service);
});
afterAll(async () => {
  await stopProcess(worker);
  await service?.stop();
});

const change = (webhookId: string, body: object) =>
  account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body });
const sendTest = (webhookId: string) =>
  account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST', body: {} });
const redeliver = (deliveryId: string) =>
  account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });

/** When attempts to a webhook began, redeliveries too, by the log: this process may be late to see them arrive. */
const beganAt = async (webhookId: string) =>
  (
    await service.sql<{ at: Date }>(
      `select started_at as at from deliveries where webhook_id = $1
       union all select a.started_at from attempts a join deliveries using (delivery_id) where webhook_id = $1`,
      [webhookId],
    )
  ).map(({ at }) => at.getTime());

/** The most within any second, and within any five. */
function most(begun: number[]) {
  const within = (ms: number) =>
    Math.max(...begun.map((at) => begun.filter((other) => other >= at && other < at + ms).length));
  return { inOneSecond: within(1_000), inFiveSeconds: within(5_000) };
}

test('two workers together keep it, with tests and redeliveries: to 10 % over five seconds, and in one second once they are not busy; they delay no other', async () => {
  const maxPerSecond = 20;
  const other = await startHook(account);
  const hook = await startHook(account, { maxPerSecond });
  await Promise.all(Array.from({ length: 140 }, () => placeOrder(account)));
  const placedAt = Date.now();
  await other.receiver.waitFor(140, () => true, 20_000);
  const doneAt = Date.now();
  expect(doneAt - placedAt).toBeLessThan(2_500);
  const held = await deliveriesOf(account, hook.webhookId);
  expect(held.filter(({ status }) => status === 'HELD').length).toBeGreaterThan(30);
  expect(held.filter(({ status }) => status === 'HELD')).toEqual(
    held
      .filter(({ status }) => status === 'HELD')
      .map((one) => ({ ...one, heldBy: 'RATE', nextAttemptAt: null })),
  );
  const sent = held.find(({ status }) => status === 'SUCCEEDED')!;
  const tested = await Promise.all([sendTest(hook.webhookId), sendTest(hook.webhookId)]);
  for (const { httpStatus } of tested) expect(httpStatus).toBe(200);
  await redeliver(sent.deliveryId);
  await hook.receiver.waitFor(143, () => true, 20_000);
  const begun = await beganAt(hook.webhookId);
  const { inFiveSeconds } = most(begun);
  expect(inFiveSeconds).toBeGreaterThanOrEqual(5 * maxPerSecond * 0.9);
  expect(inFiveSeconds).toBeLessThanOrEqual(5 * maxPerSecond * 1.1);
  // While they send at once to the other webhook as well, attempts begin late, and some of them together.
  const { inOneSecond } = most(begun.filter((at) => at > doneAt + 2_000));
  expect(inOneSecond).toBeLessThanOrEqual(maxPerSecond * 1.1); // threads may begin late as well
  await other.close();
  await hook.close();
});

test('a change holds from the next second', async () => {
  const hook = await startHook(account, { maxPerSecond: 1 });
  await Promise.all(Array.from({ length: 40 }, () => placeOrder(account)));
  await hook.receiver.waitFor(2, () => true, 20_000);
  await change(hook.webhookId, { maxPerSecond: null });
  const changedAt = Date.now();
  await hook.receiver.waitFor(40, () => true, 20_000);
  expect(Date.now() - changedAt).toBeLessThan(2_000);
  await change(hook.webhookId, { maxPerSecond: 2 });
  const from = Date.now();
  await Promise.all(Array.from({ length: 10 }, () => placeOrder(account)));
  await hook.receiver.waitFor(44, () => true, 20_000);
  const since = (await beganAt(hook.webhookId)).filter((at) => at >= from);
  expect(most(since).inOneSecond).toBeLessThanOrEqual(2);
  await hook.close();
});
