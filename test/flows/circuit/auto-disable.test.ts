import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { startReceiver } from '../../support/receiver.js';
import { deliveriesOf, orderDelivered, startHook, untilFound } from '../../support/deliveries.js';

const it = test.concurrent;

describe('webhooks that are disabled automatically', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ env: { RETRY_SCHEDULE: '1h' } });
  });
  afterAll(() => service?.stop());

  const webhook = async (account: Account, webhookId: string) =>
    (await account.call(`/v1/webhooks/${webhookId}`)).data;
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

  it('a 410 disables the webhook at once, notifies the owner, and holds its deliveries until it is active again', async () => {
    const account = await registerAccount(service);
    let gone = true;
    const receiver = await startReceiver(() => (gone ? { status: 410 } : {}));
    const owner = await startReceiver();
    const address = `${receiver.url}?token=of-the-receiver`;
    const { webhookId } = await registerWebhook(account, address, { interests: ['CREATED'] });
    await registerWebhook(account, owner.url, { interests: ['WEBHOOK_DISABLED'] });
    await placeOrder(account);
    const [notice] = await owner.waitFor(1);
    expect(notice!.notification).toMatchObject({ webhook_id: webhookId, target_address: receiver.url });
    expect(await webhook(account, webhookId)).toMatchObject({ status: 'DISABLED', disabledReason: 'GONE' });
    await expectAudited(account, webhookId);
    await placeOrder(account);
    await untilFound(async () => (await heldOf(account, webhookId)) === 2);
    expect(receiver.received).toHaveLength(1);
    gone = false;
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    await receiver.waitFor(3);
    await Promise.all([receiver.close(), owner.close()]);
  });

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
      when (new.state = 'WEBHOOK_DISABLED') execute function refuse_notices()`);
    await placeOrder(account);
    await receiver.waitFor(1);
    // By the second attempt the first has ended.
    const refusedTwice = `select from refused_notices, webhooks
      where webhook_id = $1 and (last_value > 1 or status = 'DISABLED')`;
    await untilFound(async () => (await service.sql(refusedTwice, [webhookId])).length > 0);
    expect((await webhook(account, webhookId)).status).toBe('ACTIVE');
    await service.sql('drop trigger refuse_notices on events; drop function refuse_notices');
    await owner.waitFor(1);
    expect((await webhook(account, webhookId)).disabledReason).toBe('GONE');
    await expectAudited(account, webhookId);
    await Promise.all([receiver.close(), owner.close()]);
  });

  it('after five days without a success a webhook is disabled', async () => {
    const account = await registerAccount(service);
    const receiver = await startReceiver(() => ({ status: 500 }));
    const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
    await placeOrder(account);
    await receiver.waitFor(1);
    const failing = `update circuits set failing_since = now() - interval '5 days 1 second' where webhook_id = $1 returning 1`;
    await untilFound(async () => (await service.sql(failing, [webhookId])).length > 0);
    await untilFound(async () => (await webhook(account, webhookId)).disabledReason === 'FAILING');
    expect((await webhook(account, webhookId)).status).toBe('DISABLED');
    await expectAudited(account, webhookId);
    await receiver.close();
  });

  it('an uncounted outcome does not disable a webhook whose log shows a success since', async () => {
    const account = await registerAccount(service);
    const hook = await startHook(account, { interests: ['CREATED'] });
    await orderDelivered(account, hook.webhookId);
    await service.sql(
      `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since)
       values ($1, now() - interval '6 days', 1, 1, now() - interval '6 days')`,
      [hook.webhookId],
    );
    await untilFound(async () => {
      const sql = 'select 1 from circuits where webhook_id = $1 and failing_since is null';
      return (await service.sql(sql, [hook.webhookId])).length > 0;
    });
    expect((await webhook(account, hook.webhookId)).status).toBe('ACTIVE');
    await hook.close();
  });

  it('a 410 of a previous address does not disable the webhook: the delivery goes to the new one', async () => {
    const account = await registerAccount(service);
    const before = await startReceiver(() => ({ status: 410, delayMs: 1_000 }));
    const after = await startReceiver();
    const { webhookId } = await registerWebhook(account, before.url, { interests: ['CREATED'] });
    await placeOrder(account);
    await before.waitFor(1);
    const body = { targetAddress: after.url };
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body });
    await after.waitFor(1);
    expect(await webhook(account, webhookId)).toMatchObject({ status: 'ACTIVE', disabledReason: null });
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
    await Promise.all([before.close(), after.close()]);
  });

  it.each([
    ['test', 'ACTIVE'],
    ['redelivery', 'ACTIVE'],
    ['test', 'PAUSED'],
    ['redelivery', 'PAUSED'],
  ])('a 410 to a %s disables a webhook that is %s, too', async (kind, status) => {
    const account = await registerAccount(service);
    const hook = await startHook(account, { interests: ['CREATED'] });
    const deliveryId = await orderDelivered(account, hook.webhookId);
    hook.response.status = 410;
    await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status } });
    const path =
      kind === 'test' ? `/v1/webhooks/${hook.webhookId}/test` : `/v1/deliveries/${deliveryId}/redeliver`;
    await account.call(path, { method: 'POST' });
    await untilFound(async () => (await webhook(account, hook.webhookId)).disabledReason !== null);
    expect(await webhook(account, hook.webhookId)).toMatchObject({
      status: 'DISABLED',
      disabledReason: 'GONE',
    });
    await hook.close();
  });

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
});
