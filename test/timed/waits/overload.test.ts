/** A receiver that refuses what is more than it bears, as it is seen from there. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { deliveriesOf, untilFound } from '../../support/deliveries.js';
import { startServiceWith, type Service } from '../../support/harness.js';
import { placeOrders } from '../../support/load.js';
import { startReceiver } from '../../support/receiver.js';

let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startServiceWith({ API_RATE_LIMIT: '0', DESTINATION_RATE: '0' });
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const perSecond = 5;

test('a webhook that resumes with a backlog does not burst, and one that refuses all beyond five a second soon gets most of them', async () => {
  const counted = { second: 0, count: 0 };
  const answers: { at: number; status: number }[] = [];
  const receiver = await startReceiver(({ at }) => {
    const second = Math.floor(at / 1_000);
    if (second !== counted.second) Object.assign(counted, { second, count: 0 });
    counted.count += 1;
    const status = counted.count > perSecond ? 503 : 200;
    answers.push({ at, status });
    return { status, delayMs: 20 };
  });
  const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
  const setStatus = (status: string) =>
    account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });
  await setStatus('PAUSED');
  await placeOrders(account, 360);
  await untilFound(
    async () => (await service.sql('select from outbox where webhook_id = $1', [webhookId])).length === 360,
  );
  await setStatus('ACTIVE');
  const resumedAt = Date.now();
  await receiver.waitFor(1);
  await untilFound(async () => {
    const held = (await deliveriesOf(account, webhookId)).find(({ status }) => status === 'HELD');
    return held && expect(held).toMatchObject({ heldBy: 'RATE', nextAttemptAt: null }) === undefined;
  });
  await sleep(resumedAt + 45_000 - Date.now());
  const between = (fromMs: number, toMs: number) =>
    answers.filter(({ at }) => at >= resumedAt + fromMs && at < resumedAt + toMs);
  expect(between(0, 2_000).length).toBeLessThan(100); // a burst would be all of the 360
  const measured = between(25_000, 45_000);
  console.info(`2 s: ${between(0, 2_000).length}, then ${measured.length}`);
  const succeeded = measured.filter(({ status }) => status === 200).length;
  expect(succeeded / 20).toBeGreaterThanOrEqual(0.8 * perSecond);
  expect(1 - succeeded / measured.length).toBeLessThanOrEqual(0.05);
  await receiver.close();
}, 180_000);
