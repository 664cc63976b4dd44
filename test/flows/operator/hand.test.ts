import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFailure, expectSuccess, expectWrong } from '../../support/expect.js';
import { operator, placeOrder, registerAccount, type Account } from '../../support/client.js';
import {
  deliveriesOf,
  orderDelivered,
  startHook,
  untilDelivery,
  type Hook,
} from '../../support/deliveries.js';
import { scopedTokens, sharedService, type SharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

const unknownId = '018f0000-0000-7000-8000-000000000000';

let service: SharedService;
let account: Account;
let stranger: Account;
const hooks: Hook[] = [];

beforeAll(async () => {
  service = await sharedService('impatient');
  account = await registerAccount(service);
  stranger = await registerAccount(service, 'stranger@example.com');
});
afterAll(() => Promise.all(hooks.map((hook) => hook.close())));

const hookOf = async (fields?: object) => {
  const hook = await startHook(account, fields);
  hooks.push(hook);
  return hook;
};
const post = (path: string, body?: object) =>
  operator(service, path, { method: 'POST', ...(body && { body }) });
const set = (webhookId: string, status: string) =>
  account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });
const seen = async (webhookId: string) => (await account.call(`/v1/webhooks/${webhookId}`)).data;
const audited = async (webhookId: string, action: string) =>
  (await operator(service, `/audit?webhookId=${webhookId}&action=${action}`)).data.entries as object[];

describe('an operator pauses a webhook', () => {
  test('nothing is sent until an operator resumes it; its shipper sees who paused it, and cannot resume it', async () => {
    const hook = await hookOf();
    const path = `/webhooks/${hook.webhookId}`;
    const paused = await post(`${path}/pause`);
    expectSuccess(paused, 200);
    expect(paused.data).toMatchObject({
      webhookId: hook.webhookId,
      shipperId: account.shipperId,
      status: 'PAUSED',
      pausedBy: 'OPERATOR',
    });
    expect(await seen(hook.webhookId)).toMatchObject({ status: 'PAUSED', pausedBy: 'OPERATOR' });
    const deliveryId = await orderDelivered(account, hook.webhookId);
    const refused = await account.call(`/v1${path}`, {
      method: 'PATCH',
      body: { status: 'ACTIVE', description: 'mine' },
    });
    expectFailure(refused, 409);
    expect(refused.body.error.message).toContain('operator');
    expect(await seen(hook.webhookId)).toMatchObject({ status: 'PAUSED', description: '' });
    expect(hook.receiver.received).toHaveLength(0);
    expect((await operator(service, `/deliveries/${deliveryId}/explanation`)).data.why).toBe(
      'An operator has paused its webhook.',
    );
    const resumed = await post(`${path}/resume`);
    expectSuccess(resumed, 200);
    expect(resumed.data).toMatchObject({ status: 'ACTIVE', pausedBy: null });
    await hook.receiver.waitFor(1);
    const name = { kind: 'OPERATOR', name: 'operator' };
    expect(await audited(hook.webhookId, 'WEBHOOK_PAUSED')).toMatchObject([
      { actor: name, shipperId: account.shipperId },
    ]);
    expect(await audited(hook.webhookId, 'WEBHOOK_RESUMED')).toMatchObject([{ actor: name }]);
    expectSuccess(await post(`${path}/resume`), 200); // the first response may have been lost
  });

  test('a resumed webhook gets the status that its shipper wants, also if the shipper pauses it meanwhile', async () => {
    const { webhookId } = await hookOf({ status: 'PAUSED' });
    expect(await seen(webhookId)).toMatchObject({ pausedBy: null });
    await post(`/webhooks/${webhookId}/pause`);
    expect((await post(`/webhooks/${webhookId}/resume`)).data).toMatchObject({
      status: 'PAUSED',
      pausedBy: null,
    });
    expectFailure(await post(`/webhooks/${webhookId}/resume`), 409);
    expectSuccess(await set(webhookId, 'ACTIVE'), 200);
    await post(`/webhooks/${webhookId}/pause`);
    expectSuccess(await set(webhookId, 'PAUSED'), 200);
    expect(await seen(webhookId)).toMatchObject({ pausedBy: 'OPERATOR' });
    expect((await post(`/webhooks/${webhookId}/resume`)).data).toMatchObject({
      status: 'PAUSED',
      pausedBy: null,
    });
  });

  test('a disabled webhook that is paused stays paused, and when resumed is disabled again for the same reason', async () => {
    const hook = await hookOf();
    hook.response.status = 410;
    await placeOrder(account);
    await until('it is disabled', async () => (await seen(hook.webhookId)).status === 'DISABLED');
    expectFailure(await post(`/webhooks/${hook.webhookId}/resume`), 409);
    await post(`/webhooks/${hook.webhookId}/pause`);
    expect(await seen(hook.webhookId)).toMatchObject({ status: 'PAUSED', disabledReason: null });
    expectFailure(await set(hook.webhookId, 'ACTIVE'), 409);
    expect((await post(`/webhooks/${hook.webhookId}/resume`)).data).toMatchObject({
      status: 'DISABLED',
      disabledReason: 'GONE',
    });
  });

  test('a 410 to a test does not disable a webhook that an operator has paused: its shipper could then resume it', async () => {
    const hook = await hookOf();
    hook.response.status = 410;
    await post(`/webhooks/${hook.webhookId}/pause`);
    expect(
      (await account.call(`/v1/webhooks/${hook.webhookId}/test`, { method: 'POST' })).data,
    ).toMatchObject({
      statusCode: 410,
    });
    expect(await seen(hook.webhookId)).toMatchObject({ status: 'PAUSED', pausedBy: 'OPERATOR' });
  });

  test('a webhook that does not exist or is deleted is 404; a token that may only read is refused', async () => {
    const hook = await startHook(account);
    await hook.close();
    for (const id of [unknownId, 'x', '%00', hook.webhookId])
      for (const act of ['pause', 'resume']) expectFailure(await post(`/webhooks/${id}/${act}`), 404);
    const headers = { authorization: `Bearer ${scopedTokens.reader}` };
    expectFailure(await operator(service, `/webhooks/${unknownId}/pause`, { method: 'POST', headers }), 403);
    expectFailure(await account.call(`/operator/v1/webhooks/${unknownId}/pause`, { method: 'POST' }), 401);
  });
});

describe('an operator sends again', () => {
  test('a delivery, and its shipper sees at the attempt who asked', async () => {
    const hook = await hookOf();
    const deliveryId = await orderDelivered(account, hook.webhookId);
    const asked = await post(`/deliveries/${deliveryId}/redeliver`);
    expectSuccess(asked, 202);
    expect(asked.data).toEqual({ deliveryId });
    await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 2);
    expectSuccess(await account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' }), 202);
    const { attempts } = await untilDelivery(account, deliveryId, (one) => one.attempts.length === 3);
    expect(attempts).toMatchObject([
      { trigger: 'MANUAL', requestedBy: 'SHIPPER', remoteAddress: '127.0.0.1' },
      { trigger: 'MANUAL', requestedBy: 'OPERATOR', remoteAddress: '127.0.0.1' },
      { trigger: 'SCHEDULED', requestedBy: null },
    ]);
    expect(await audited(hook.webhookId, 'DELIVERY_REDELIVERED')).toMatchObject([
      { actor: { kind: 'OPERATOR', name: 'operator' }, shipperId: account.shipperId, count: 1 },
    ]);
    expect((await stranger.call(`/v1/deliveries/${deliveryId}`)).httpStatus).toBe(404);
  });

  test('a failed delivery that is owed no longer, and a cancelled one is 409', async () => {
    const hook = await hookOf();
    hook.response.status = 500;
    const deliveryId = await orderDelivered(account, hook.webhookId);
    await untilDelivery(account, deliveryId, ({ status }) => status === 'FAILED');
    hook.response.status = 200;
    expectSuccess(await post(`/deliveries/${deliveryId}/redeliver`), 202);
    const { attempts } = await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
    expect(attempts[0]).toMatchObject({ trigger: 'MANUAL', requestedBy: 'OPERATOR' });
    await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'DELETE' });
    expectFailure(await post(`/deliveries/${deliveryId}/redeliver`), 409);
    for (const id of [unknownId, 'x']) expectFailure(await post(`/deliveries/${id}/redeliver`), 404);
  });

  test('nothing of a suspended shipper: 409, for it would not be sent', async () => {
    const suspended = await registerAccount(service, 'suspended@example.com');
    const hook = await startHook(suspended);
    hooks.push(hook);
    const deliveryId = await orderDelivered(suspended, hook.webhookId);
    await untilDelivery(suspended, deliveryId, ({ status }) => status === 'SUCCEEDED');
    const path = `/shippers/${suspended.shipperId}`;
    await operator(service, path, { method: 'PATCH', body: { status: 'SUSPENDED' } });
    const refused = await post(`/deliveries/${deliveryId}/redeliver`);
    expectFailure(refused, 409);
    expect(refused.body.error.message).toContain('suspended');
    await operator(service, path, { method: 'PATCH', body: { status: 'ACTIVE' } });
    expectSuccess(await post(`/deliveries/${deliveryId}/redeliver`), 202);
  });

  test('what a webhook missed, and its shipper sees at the replay who asked', async () => {
    const hook = await hookOf();
    hook.response.status = 500;
    const from = new Date(Date.now() - 60_000).toISOString();
    const deliveryId = await orderDelivered(account, hook.webhookId);
    await untilDelivery(account, deliveryId, ({ status }) => status === 'FAILED');
    hook.response.status = 200;
    const body = { from, to: new Date().toISOString(), status: 'FAILED' };
    const asked = await post(`/webhooks/${hook.webhookId}/replay`, body);
    expectSuccess(asked, 202);
    expect(asked.data).toMatchObject({ queued: 1, reason: null });
    await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
    const own = await account.call(`/v1/webhooks/${hook.webhookId}/replay`, { body });
    const { replays } = (await account.call(`/v1/webhooks/${hook.webhookId}/replays`)).data;
    expect(replays).toMatchObject([
      { replayId: own.data.replayId, requestedBy: 'SHIPPER' },
      { replayId: asked.data.replayId, requestedBy: 'OPERATOR' },
    ]);
    const shown = await operator(service, `/replays/${asked.data.replayId as string}`);
    expectSuccess(shown, 200);
    expect(shown.data).toMatchObject({ webhookId: hook.webhookId, requestedBy: 'OPERATOR' });
    expectFailure(await operator(service, `/replays/${unknownId}`), 404);
    expect(await audited(hook.webhookId, 'REPLAY_REQUESTED')).toMatchObject([
      { actor: { kind: 'OPERATOR', name: 'operator' }, count: 1 },
    ]);
  });

  test('a bad request names every wrong field, and the shipment of another shipper is not found', async () => {
    const { webhookId } = await hookOf();
    const path = `/webhooks/${webhookId}/replay`;
    expectWrong(await post(path, { from: 'x', to: 7.5, status: 'LOST' }), ['from', 'to', 'status']);
    expectWrong(await post(path, {}), ['from', 'to']);
    const range = { from: '2026-01-01', to: new Date().toISOString() };
    expectFailure(await post(`/webhooks/${unknownId}/replay`, range), 404);
    const trackingId = await placeOrder(stranger);
    expectFailure(await post(path, { ...range, trackingId }), 404);
    expect(await deliveriesOf(stranger, webhookId)).toEqual([]);
  });
});

describe('an operator limits a shipper', () => {
  const limit = (who: Account, body: object) =>
    operator(service, `/shippers/${who.shipperId}`, { method: 'PATCH', body });

  test('its webhooks share that many attempts in flight, another shipper is not delayed, and the explanation names the limit', async () => {
    const limited = await registerAccount(service, 'limited@example.com');
    let atOnce = 0;
    let most = 0;
    let delayMs = 50;
    const slow = [
      await startHook(limited, { ordering: 'NONE' }),
      await startHook(limited, { ordering: 'NONE' }),
    ];
    const witness = await startHook(stranger);
    hooks.push(...slow);
    for (const { receiver } of slow)
      receiver.reply = (_, response) => {
        most = Math.max(most, (atOnce += 1));
        response.once('close', () => (atOnce -= 1));
        return { delayMs };
      };
    const logged = async () =>
      (await Promise.all(slow.map(({ webhookId }) => deliveriesOf(limited, webhookId)))).flat();
    /** How many of both webhooks were under way at once, at most, while orders were delivered. */
    const deliver = async () => {
      most = 0;
      for (let orders = 0; orders < 3; orders += 1) await placeOrder(limited);
      await until('all are delivered', async () => {
        const all = await logged();
        return all.length % 6 === 0 && all.every(({ status }) => status === 'SUCCEEDED');
      });
      return most;
    };
    const changed = await limit(limited, { maxConcurrency: 1 });
    expectSuccess(changed, 200);
    expect(changed.data).toMatchObject({ maxConcurrency: 1, rateLimit: null });
    await until('it is in effect', async () => (await deliver()) === 1, 30_000);
    delayMs = 1_000;
    for (let orders = 0; orders < 3; orders += 1) await placeOrder(limited);
    const explained = async ({ deliveryId }: { deliveryId: string }) =>
      (await operator(service, `/deliveries/${deliveryId}/explanation`)).data as {
        why: string;
        waitsFor: { reason: string }[];
      };
    await until('one is explained', async () => {
      const waiting = (await logged()).filter(({ status }) => status === 'PENDING');
      const all = await Promise.all(waiting.map(explained));
      return all.some(
        ({ why, waitsFor }) => waitsFor[0]?.reason === 'LIMIT' && why.includes('1 attempt at once'),
      );
    });
    await orderDelivered(stranger, witness.webhookId);
    expect((await logged()).some(({ status }) => status === 'PENDING')).toBe(true);
    delayMs = 50;
    expect((await limit(limited, { maxConcurrency: null })).data).toMatchObject({ maxConcurrency: null });
    await until('it is lifted', async () => (await deliver()) > 1, 30_000);
    await witness.close();
    const { data } = await operator(service, `/audit?shipperId=${limited.shipperId}&action=SHIPPER_LIMITED`);
    expect(data.entries).toMatchObject([
      { actor: { kind: 'OPERATOR' }, fields: ['maxConcurrency'], count: 2 },
    ]);
  });

  test('a bad request names every wrong field, and an unknown shipper is 404', async () => {
    const wrong = { rateLimit: 0, maxConcurrency: 1.5, name: '', status: 'x' };
    expectWrong(await limit(account, wrong), ['rateLimit', 'maxConcurrency', 'name', 'status']);
    expectWrong(await limit(account, { rateLimit: '5', maxConcurrency: 10_001 }), [
      'rateLimit',
      'maxConcurrency',
    ]);
    expectWrong(await limit(account, {}), ['body']);
    expectFailure(await limit({ ...account, shipperId: unknownId }, { rateLimit: 5 }), 404);
    const shown = (await operator(service, '/shippers?limit=250')).data.shippers as { shipperId: string }[];
    expect(
      shown.find(({ shipperId }) => shipperId === account.shipperId) ?? { rateLimit: null },
    ).toMatchObject({
      rateLimit: null,
    });
  });
});
