import { beforeAll, expect, test } from '@jest/globals';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { startReceiver } from '../../support/receiver.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { deliveriesOf, orderDelivered, startHook, untilFound } from '../../support/deliveries.js';

const it = test.concurrent;

let service: SharedService;

beforeAll(async () => {
  service = await sharedService('impatient');
});

const webhook = async (account: Account, webhookId: string) =>
  (await account.call(`/v1/webhooks/${webhookId}`)).data;
const set = (account: Account, webhookId: string, body: object) =>
  account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body });
const expectAudited = async ({ shipperId }: Account, webhookId: string) => {
  const { data } = await operator(service, `/audit?webhookId=${webhookId}&action=WEBHOOK_DISABLED`);
  expect(data.entries).toMatchObject([
    {
      outcome: 'DONE',
      actor: { kind: 'SERVICE', name: null, address: null },
      shipperId,
      webhookId,
      fields: ['status', 'disabledReason'],
    },
  ]);
};
const heldOf = async (account: Account, webhookId: string) =>
  (await deliveriesOf(account, webhookId)).filter(({ status }) => status === 'HELD').length;

const gone = { status: 410 };
const disable = (status: number) => ({ status, headers: { 'webhook-delivery': 'DISABLE' } });

it.each([
  [gone, 'GONE', 2],
  [disable(500), 'REFUSED', 2],
  [disable(200), 'REFUSED', 1],
])(
  'the response %j disables the webhook at once, notifies the owner, and holds its deliveries until it is active again',
  async (response, reason, heldCount) => {
    const account = await registerAccount(service);
    const hook = await startHook(account, { interests: ['CREATED'] });
    const owner = await startHook(account, { interests: ['WEBHOOK_DISABLED'] });
    const targetAddress = `${hook.receiver.url}?token=of-the-receiver`;
    await set(account, hook.webhookId, { targetAddress });
    Object.assign(hook.response, response);
    await placeOrder(account);
    const [notice] = await owner.receiver.waitFor(1);
    expect(notice!.notification).toMatchObject({
      webhook_id: hook.webhookId,
      target_address: hook.receiver.url,
      reason,
    });
    expect(await webhook(account, hook.webhookId)).toMatchObject({
      status: 'DISABLED',
      disabledReason: reason,
    });
    await expectAudited(account, hook.webhookId);
    await placeOrder(account);
    await untilFound(async () => (await heldOf(account, hook.webhookId)) === heldCount);
    expect(hook.receiver.received).toHaveLength(1);
    Object.assign(hook.response, { status: 200, headers: {} });
    await set(account, hook.webhookId, { status: 'ACTIVE' });
    await hook.receiver.waitFor(1 + heldCount);
    expect((await webhook(account, hook.webhookId)).disabledReason).toBeNull();
    await Promise.all([hook.close(), owner.close()]);
  },
);

test('a webhook is disabled together with its notice, or not at all', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(() => ({ status: 410 }));
  const owner = await startReceiver();
  const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
  await registerWebhook(account, owner.url, { interests: ['WEBHOOK_DISABLED'] });
  await service.sql('create sequence refused_notices'); // survives a rollback
  await service.sql(`create function refuse_notices() returns trigger language plpgsql as $$
    begin perform nextval('refused_notices'); raise 'no notices now' using errcode = '57P03'; end $$`);
  await service.sql(`create trigger refuse_notices before insert on events for each row
    when (new.state = 'WEBHOOK_DISABLED' and new.shipper_id = '${account.shipperId}') execute function refuse_notices()`);
  await placeOrder(account);
  await receiver.waitFor(1);
  // By the second attempt the first has ended.
  const refusedTwice = `select from refused_notices, webhooks
    where webhook_id = $1 and (last_value > 1 or status = 'DISABLED')`;
  await untilFound(async () => (await service.sql(refusedTwice, [webhookId])).length > 0);
  expect((await webhook(account, webhookId)).status).toBe('ACTIVE');
  await service.sql(`drop trigger refuse_notices on events; drop function refuse_notices;
    drop sequence refused_notices`);
  await owner.waitFor(1);
  expect((await webhook(account, webhookId)).disabledReason).toBe('GONE');
  await expectAudited(account, webhookId);
  await Promise.all([receiver.close(), owner.close()]);
});

const circuit = async (webhookId: string) =>
  (
    await service.sql<{ failing_since: Date | null; open_until: Date | null; failed_attempts: number }>(
      'select * from circuits where webhook_id = $1',
      [webhookId],
    )
  )[0];
/** As if its first failure had been that long ago; the others are of today. */
const failingSince = (webhookId: string, ago: string) =>
  service.sql(`update circuits set failing_since = now() - $2::interval where webhook_id = $1`, [
    webhookId,
    ago,
  ]);
/** Places so many orders, whose four attempts each fail. */
const failAll = async (account: Account, webhookId: string, orders: number) => {
  for (let n = 0; n < orders; n += 1) await placeOrder(account);
  await untilFound(async () => (await circuit(webhookId))?.failed_attempts === 4 * orders);
};

it('after five days without a success a webhook is disabled, at the time that its health shows', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(() => ({ status: 500 }));
  const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
  const health = async () => (await webhook(account, webhookId)).health as { disablesAt: string | null };
  expect((await health()).disablesAt).toBeNull();
  // The tenth failure within a minute opens the circuit; two deliveries of three may wait for a probe.
  for (let n = 0; n < 3; n += 1) await placeOrder(account);
  await untilFound(async () => ((await circuit(webhookId))?.failed_attempts ?? 0) >= 10);
  const { failing_since: since } = (await circuit(webhookId))!;
  const disablesAt = Date.parse((await health()).disablesAt!);
  expect(disablesAt - since!.getTime()).toBe(5 * 86_400_000);
  await failingSince(webhookId, '5 days 1 second');
  await untilFound(async () => (await webhook(account, webhookId)).disabledReason === 'FAILING');
  expect(await webhook(account, webhookId)).toMatchObject({
    status: 'DISABLED',
    health: { disablesAt: null },
  });
  await expectAudited(account, webhookId);
  await receiver.close();
});

it.each([
  ['of two deliveries', 'failed_deliveries = failed_deliveries[1:2]'],
  ['of nine attempts', 'failed_attempts = 9'],
  ['of one day', 'last_failed_at = failing_since'],
])('five days of failures %s do not disable a webhook', async (_, few) => {
  const account = await registerAccount(service);
  const receiver = await startReceiver();
  const [kept, failed] = await Promise.all(
    Array.from({ length: 2 }, () => registerWebhook(account, receiver.url)),
  );
  await service.sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, failed_attempts,
                           failed_deliveries, last_failed_at)
     select unnest($1::uuid[]), now(), 0, 0, now() - interval '6 days', 10,
            array(select gen_random_uuid() from generate_series(1, 3)), now()`,
    [[kept!.webhookId, failed!.webhookId]],
  );
  await service.sql(`update circuits set ${few} where webhook_id = $1`, [kept!.webhookId]);
  await untilFound(async () => (await webhook(account, failed!.webhookId)).disabledReason === 'FAILING');
  expect(await webhook(account, kept!.webhookId)).toMatchObject({ status: 'ACTIVE' });
  await receiver.close();
});

it('a response that refuses its delivery is no failure, whatever else the webhook gets for five days', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['CREATED'] });
  const refused = { status: 400, headers: { 'webhook-delivery': 'abort-message' } };
  Object.assign(hook.response, refused);
  for (let n = 0; n < 12; n += 1) await orderDelivered(account, hook.webhookId);
  expect(await circuit(hook.webhookId)).toBeUndefined();
  hook.response.status = 500;
  hook.response.headers = {};
  await failAll(account, hook.webhookId, 1);
  expect(await circuit(hook.webhookId)).toMatchObject({ failed_attempts: 4, open_until: null });
  expect((await webhook(account, hook.webhookId)).status).toBe('ACTIVE');
  await hook.close();
});

it('another address begins anew: its circuit is closed, what waited is sent, and no failure of the one before counts', async () => {
  const account = await registerAccount(service);
  const before = await startReceiver(() => ({ status: 500 }));
  const after = await startReceiver();
  const { webhookId } = await registerWebhook(account, before.url, { interests: ['CREATED'] });
  for (let n = 0; n < 3; n += 1) await placeOrder(account);
  await untilFound(async () => (await circuit(webhookId))?.open_until);
  await service.sql(`update circuits set open_until = now() + interval '1 day' where webhook_id = $1`, [
    webhookId,
  ]);
  await placeOrder(account);
  await untilFound(async () => (await heldOf(account, webhookId)) > 0);
  expect((await set(account, webhookId, { targetAddress: before.url })).httpStatus).toBe(200);
  expect((await circuit(webhookId))!.open_until).not.toBeNull(); // the same address keeps it
  await set(account, webhookId, { targetAddress: after.url });
  await after.waitFor(1);
  await untilFound(async () => (await heldOf(account, webhookId)) === 0);
  expect(await circuit(webhookId)).toMatchObject({
    open_until: null,
    failing_since: null,
    failed_attempts: 0,
  });
  expect(await webhook(account, webhookId)).toMatchObject({
    health: { circuit: 'CLOSED', disablesAt: null },
  });
  await Promise.all([before.close(), after.close()]);
});

it('a failure of the address before, which ends after the move, does not count for the new one', async () => {
  const account = await registerAccount(service);
  const before = await startReceiver(() => ({ status: 500, delayMs: 1_000 }));
  const after = await startReceiver();
  const { webhookId } = await registerWebhook(account, before.url, { interests: ['CREATED'] });
  await placeOrder(account);
  await before.waitFor(1);
  await set(account, webhookId, { targetAddress: after.url });
  await after.waitFor(1);
  await untilFound(async () => (await deliveriesOf(account, webhookId))[0]?.status === 'SUCCEEDED');
  expect(await circuit(webhookId)).toMatchObject({ failing_since: null, failures: 0 });
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  await Promise.all([before.close(), after.close()]);
});

it('an uncounted outcome does not disable a webhook whose log shows a success since', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['CREATED'] });
  await orderDelivered(account, hook.webhookId);
  await service.sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, failed_attempts,
                           failed_deliveries, last_failed_at)
     values ($1, now() - interval '6 days', 1, 1, now() - interval '6 days', 10,
             array(select gen_random_uuid() from generate_series(1, 3)), now())`,
    [hook.webhookId],
  );
  await untilFound(async () => {
    const sql = 'select 1 from circuits where webhook_id = $1 and failing_since is null';
    return (await service.sql(sql, [hook.webhookId])).length > 0;
  });
  expect((await webhook(account, hook.webhookId)).status).toBe('ACTIVE');
  await hook.close();
});

it.each([
  ['test', 'ACTIVE', gone, 'GONE'],
  ['redelivery', 'PAUSED', gone, 'GONE'],
  ['test', 'PAUSED', disable(202), 'REFUSED'],
])(
  'a %s to a webhook that is %s disables it, too, by the response %j',
  async (kind, status, response, reason) => {
    const account = await registerAccount(service);
    const hook = await startHook(account, { interests: ['CREATED'] });
    const deliveryId = await orderDelivered(account, hook.webhookId);
    Object.assign(hook.response, response);
    await set(account, hook.webhookId, { status });
    const path =
      kind === 'test' ? `/v1/webhooks/${hook.webhookId}/test` : `/v1/deliveries/${deliveryId}/redeliver`;
    await account.call(path, { method: 'POST' });
    await untilFound(async () => (await webhook(account, hook.webhookId)).disabledReason !== null);
    expect(await webhook(account, hook.webhookId)).toMatchObject({
      status: 'DISABLED',
      disabledReason: reason,
    });
    await hook.close();
  },
);

it('a 410 to a webhook that is disabled already changes nothing', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  await service.sql(
    `update webhooks set status = 'DISABLED', disabled_reason = 'FAILING' where webhook_id = $1`,
    [hook.webhookId],
  );
  const before = await webhook(account, hook.webhookId);
  hook.response.status = 410;
  await account.call(`/v1/webhooks/${hook.webhookId}/test`, { method: 'POST' });
  expect(await webhook(account, hook.webhookId)).toMatchObject({
    disabledReason: 'FAILING',
    updatedAt: before.updatedAt,
  });
  await hook.close();
});
