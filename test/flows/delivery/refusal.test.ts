import { beforeAll, expect, test } from '@jest/globals';
import {
  figureOf,
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import {
  deliveriesOf,
  orderDelivered,
  startHook,
  untilDelivery,
  untilFound,
  type LoggedDelivery,
} from '../../support/deliveries.js';
import { startReceiver, type Reply } from '../../support/receiver.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

const it = test.concurrent;
const refusal: Reply = { status: 422, headers: { 'Webhook-Delivery': ' Abort-Message ' } };

let service: SharedService;

beforeAll(async () => {
  service = await sharedService('impatient');
});

const read = async (account: Account, deliveryId: string) =>
  (await account.call(`/v1/deliveries/${deliveryId}`)).data;
const ended = async (account: Account, webhookId: string) =>
  untilFound(async () =>
    (await deliveriesOf(account, webhookId)).find(({ status }) => ['FAILED', 'SUCCEEDED'].includes(status)),
  );

it('abort-message: no further attempt is made, and the log says that the receiver refused it', async () => {
  const account = await registerAccount(service);
  const refusing = await startReceiver(() => refusal);
  const witness = await startReceiver(() => ({ status: 422 }));
  const { webhookId } = await registerWebhook(account, refusing.url, { interests: ['CREATED'] });
  const witnessed = await registerWebhook(account, witness.url, { interests: ['CREATED'] });
  await placeOrder(account);
  expect(await ended(account, witnessed.webhookId)).toMatchObject({
    status: 'FAILED',
    reason: null,
    attemptCount: 4,
  });
  expect(refusing.received).toHaveLength(1);
  const { deliveryId } = await ended(account, webhookId);
  expect(await read(account, deliveryId)).toMatchObject({
    status: 'FAILED',
    reason: 'REFUSED',
    attemptCount: 1,
    nextAttemptAt: null,
    attempts: [
      {
        statusCode: 422,
        errorCode: 'HTTP_STATUS',
        errorDetail: 'REFUSED',
        responseHeaders: { 'webhook-delivery': 'Abort-Message' },
      },
    ],
  });
  await Promise.all([refusing.close(), witness.close()]);
});

it('abort-message: the next state of the shipment follows', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(({ notification }) =>
    notification.state === 'CREATED' ? { ...refusal, delayMs: 500 } : {},
  );
  const { webhookId } = await registerWebhook(account, receiver.url);
  const trackingId = await placeOrder(account);
  await receiver.waitFor(1);
  await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } });
  const received = await receiver.waitFor(2);
  expect(received.map(({ notification }) => notification.state)).toEqual(['CREATED', 'PICKED_UP']);
  await until('both settled', async () => {
    const all = (await deliveriesOf(account, webhookId)).map(({ status }) => status);
    return all.join() === 'SUCCEEDED,FAILED';
  });
  await receiver.close();
});

it('abort-message on a 2xx changes nothing', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['CREATED'] });
  Object.assign(hook.response, { ...refusal, status: 200 });
  const deliveryId = await orderDelivered(account, hook.webhookId);
  expect(await read(account, deliveryId)).toMatchObject({ status: 'SUCCEEDED', reason: null });
  await hook.close();
});

it('what was refused is sent again by hand and by a replay, and its success ends the reason', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['CREATED'] });
  Object.assign(hook.response, refusal);
  const [byHand, byReplay] = [
    await orderDelivered(account, hook.webhookId),
    await orderDelivered(account, hook.webhookId),
  ];
  for (const deliveryId of [byHand, byReplay])
    expect(await read(account, deliveryId)).toMatchObject({ status: 'FAILED', reason: 'REFUSED' });
  const again = () => account.call(`/v1/deliveries/${byHand}/redeliver`, { method: 'POST' });
  const attempts = (count: number) => (delivery: LoggedDelivery) => delivery.attempts.length === count;
  await again();
  expect(await untilDelivery(account, byHand, attempts(2))).toMatchObject({
    status: 'FAILED',
    reason: 'REFUSED',
  });
  Object.assign(hook.response, { status: 200, headers: {} });
  await again();
  expect(await untilDelivery(account, byHand, attempts(3))).toMatchObject({
    status: 'SUCCEEDED',
    reason: null,
  });
  await account.call(`/v1/webhooks/${hook.webhookId}/replay`, {
    body: { from: Date.now() - 600_000, to: Date.now(), status: 'FAILED' },
  });
  expect(await untilDelivery(account, byReplay, ({ status }) => status === 'SUCCEEDED')).toMatchObject({
    reason: null,
    attemptCount: 2,
  });
  await hook.close();
});

it('abort-message to a redelivery leaves a retry that is planned', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['CREATED'] });
  Object.assign(hook.response, { status: 500, headers: { 'Retry-After': '3600' } });
  const deliveryId = await orderDelivered(account, hook.webhookId);
  const planned = (await read(account, deliveryId)).nextAttemptAt;
  Object.assign(hook.response, refusal);
  await account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });
  const found = await untilDelivery(account, deliveryId, ({ attempts }) =>
    attempts.some(({ trigger }) => trigger === 'MANUAL'),
  );
  expect(found).toMatchObject({ status: 'PENDING', reason: null, nextAttemptAt: planned });
  await hook.close();
});

test('what is refused counts as refused, not as used up', async () => {
  const figure = (name: string) => figureOf(service, name);
  const names = ['deliveries_refused_total', 'deliveries_exhausted_total'];
  const before = await Promise.all(names.map(figure));
  const account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['CREATED'] });
  Object.assign(hook.response, refusal);
  await orderDelivered(account, hook.webhookId);
  await until('counted', async () => (await figure(names[0]!)) === before[0]! + 1);
  expect(await figure(names[1]!)).toBe(before[1]);
  await hook.close();
});
