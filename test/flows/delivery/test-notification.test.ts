import { beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { registerAccount } from '../../support/client.js';
import { startProcess } from '../../support/harness.js';
import type { Received } from '../../support/receiver.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { deliveriesOf, orderDelivered, startHook, untilDelivery } from '../../support/deliveries.js';

const it = test.concurrent;

const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

let service: SharedService;

beforeAll(async () => {
  service = await sharedService('impatient');
});

it.each(['ACTIVE', 'PAUSED', 'DISABLED'])('a test reaches a webhook that is %s', async (status) => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  await service.sql(`update webhooks set status = $2 where webhook_id = $1`, [hook.webhookId, status]);
  const { receiver, webhookId, secret } = hook;
  const response = await account.call(`/v1/webhooks/${webhookId}/test`, { body: { state: 'DELIVERED' } });
  expect(response).toMatchObject({
    httpStatus: 200,
    data: { number: 1, trigger: 'TEST', statusCode: 200, errorCode: null, responseBody: 'ok' },
  });
  const [received] = receiver.received;
  expect(verify(secret, received!)).toMatchObject({ state: 'DELIVERED', tracking_id: 'TEST' });
  expect(received!.headers).toMatchObject({
    'webhook-id': response.data.eventId as string,
    'parcelhook-sequence': '1',
  });
  const { deliveryId, eventId, ...attempt } = response.data as Record<string, unknown>;
  const logged = await account.call(`/v1/deliveries/${deliveryId as string}`);
  expect(logged.data).toMatchObject({
    status: 'SUCCEEDED',
    eventId,
    trackingId: null,
    nextAttemptAt: null,
  });
  expect(logged.data.attempts).toEqual([attempt]);
  await hook.close();
});

it.each(["/a'b/?q='x'&y=(1)*!", '/a/../b/./%2e%2e/c', '/p?', '?', "?a?b=/@:'", '/%7Bx%7D;v=1,2//', ''])(
  'the path and query %j of an address are called as written',
  async (written) => {
    const account = await registerAccount(service);
    const hook = await startHook(account);
    const targetAddress = new URL(hook.receiver.url).origin + written;
    const moved = await account.call(`/v1/webhooks/${hook.webhookId}`, {
      method: 'PATCH',
      body: { targetAddress },
    });
    expect(moved.data.targetAddress).toBe(targetAddress);
    await account.call(`/v1/webhooks/${hook.webhookId}/test`, { body: {} });
    expect(hook.receiver.received.map(({ path }) => path)).toEqual([
      written.startsWith('/') ? written : `/${written}`,
    ]);
    await hook.close();
  },
);

it('a failed test reports the cause and is never retried', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  const { response, receiver, webhookId } = hook;
  response.status = 500;
  const result = await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
  expect(result).toMatchObject({ httpStatus: 200, data: { statusCode: 500, errorCode: 'HTTP_STATUS' } });
  response.delayMs = 3_000;
  const slow = await account.call(`/v1/webhooks/${webhookId}/test`, { body: {} });
  expect(slow.data).toMatchObject({ statusCode: null, errorCode: 'TIMEOUT' });
  const { data } = await account.call(`/v1/deliveries/${slow.data.deliveryId}`);
  expect(data).toMatchObject({ status: 'FAILED', nextAttemptAt: null, attemptCount: 1, state: 'CREATED' });
  expect(receiver.received).toHaveLength(2);
  await hook.close();
});

it('a test names wrong fields and reaches no webhook of another shipper', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  const { receiver, webhookId } = hook;
  const other = await registerAccount(service);
  const wrong = await account.call(`/v1/webhooks/${webhookId}/test`, { body: { state: 'NOWHERE' } });
  expect(wrong.httpStatus).toBe(400);
  expect(wrong.body.error.details).toMatchObject([{ path: 'state' }]);
  for (const path of [`/v1/webhooks/${webhookId}/test`, `/v1/webhooks/${webhookId}/rotate-secret`])
    expect((await other.call(path, { method: 'POST' })).httpStatus).toBe(404);
  const secrets = `/v1/webhooks/${webhookId}/secrets/previous`;
  expect((await other.call(secrets, { method: 'DELETE' })).httpStatus).toBe(404);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  const deleted = await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
  expect(deleted.httpStatus).toBe(404);
  expect(receiver.received).toHaveLength(0);
  await receiver.close();
});

it('ids in capital letters identify the same objects in every request by hand', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  const shouted = (path: string, id: string, body?: object) =>
    account.call(path.replace('{id}', id.toUpperCase()), { method: 'POST', body });
  const { httpStatus, data: sent } = await shouted('/v1/webhooks/{id}/test', hook.webhookId);
  expect(httpStatus).toBe(200);
  const { deliveryId } = sent as Record<string, string>;
  expect((await account.call(`/v1/deliveries/${deliveryId!.toUpperCase()}`)).data).toMatchObject({
    deliveryId,
  });
  expect(await shouted('/v1/deliveries/{id}/redeliver', deliveryId!)).toMatchObject({
    httpStatus: 202,
    data: { deliveryId },
  });
  const replay = await shouted('/v1/webhooks/{id}/replay', hook.webhookId, { from: 0, to: Date.now() });
  expect(replay.httpStatus).toBe(202);
  const { replayId } = replay.data as Record<string, string>;
  expect((await account.call(`/v1/replays/${replayId!.toUpperCase()}`)).data).toMatchObject({ replayId });
  await hook.close();
});

it('at most five tests of a shipper run concurrently', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  const { response, webhookId } = hook;
  response.delayMs = 1_500;
  const results = await Promise.all(
    Array.from({ length: 6 }, () => account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' })),
  );
  expect(results.map(({ httpStatus }) => httpStatus).sort()).toEqual([200, 200, 200, 200, 200, 429]);
  await hook.close();
});

it('a test survives the kill of its process without being sent again', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  const { response, receiver, webhookId } = hook;
  response.delayMs = 900;
  const api = await startProcess(service.env, 'api');
  const path = `/v1/webhooks/${webhookId}/test?key=${account.accountKey}`;
  const asked = fetch(api.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.token}` },
  }).catch(() => null);
  await receiver.waitFor(1);
  api.kill('SIGKILL');
  await Promise.all([api.exited, asked]);
  const [delivery] = await deliveriesOf(account, webhookId);
  expect(delivery).toMatchObject({ status: 'SENDING', nextAttemptAt: null });
  await service.sql(`update outbox set lease_until = now() where delivery_id = $1`, [delivery!.deliveryId]);
  const ended = await untilDelivery(account, delivery!.deliveryId, ({ status }) => status === 'FAILED');
  expect(ended.attempts).toMatchObject([{ number: 1, trigger: 'TEST', durationMs: null, errorCode: 'LOST' }]);
  expect(receiver.received).toHaveLength(1);
  await hook.close();
});

it('after a rotation the old secret also signs for 24 hours', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  const { receiver, webhookId, secret } = hook;
  const rotated = await account.call(`/v1/webhooks/${webhookId}/rotate-secret`, { method: 'POST' });
  expect(rotated).toMatchObject({
    httpStatus: 200,
    data: { webhookId, secret: expect.stringMatching(/^whsec_/) },
  });
  expect(rotated.data.secret).not.toBe(secret);
  const validForMs = Date.parse(rotated.data.previousSecretValidUntil as string) - Date.now();
  expect(Math.abs(validForMs - 86_400_000)).toBeLessThan(10_000);
  await orderDelivered(account, webhookId);
  const [received] = receiver.received;
  expect(received!.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
  verify(secret, received!);
  verify(rotated.data.secret as string, received!);
  const expire = `update webhooks set revision = revision + 1,
    earlier_secrets = jsonb_set(earlier_secrets, '{0,until}', to_jsonb(now())) where webhook_id = $1`;
  await service.sql(expire, [webhookId]);
  await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
  verify(rotated.data.secret as string, receiver.received[1]!);
  expect(() => verify(secret, receiver.received[1]!)).toThrow();
  await hook.close();
});

it('after a rotation with overlap 0s nothing is signed with the old secret; one before signs until its time', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  const { receiver, webhookId, secret } = hook;
  const rotate = (body: object) => account.call(`/v1/webhooks/${webhookId}/rotate-secret`, { body });
  const { data: before } = await rotate({ overlap: '1h' });
  await orderDelivered(account, webhookId);
  const { data: rotated } = await rotate({ overlap: '0s' });
  expect(Date.parse(rotated.previousSecretValidUntil as string)).toBeLessThan(Date.now() + 1_000);
  await orderDelivered(account, webhookId);
  const received = receiver.received[1]!;
  for (const signs of [secret, rotated.secret as string]) verify(signs, received);
  expect(() => verify(before.secret as string, received)).toThrow();
  for (const overlap of ['soon', '31d', '-1s', 3, null])
    expect((await rotate({ overlap })).httpStatus).toBe(400);
  await hook.close();
});

it('five earlier secrets sign, even if replaced at once, and the webhook says until when; a sixth rotation waits for the first', async () => {
  const account = await registerAccount(service);
  const hook = await startHook(account);
  const { receiver, webhookId, secret } = hook;
  const path = `/v1/webhooks/${webhookId}`;
  const rotate = (overlap: string) => account.call(`${path}/rotate-secret`, { body: { overlap } });
  expect((await account.call(path)).data.secrets).toEqual({ rotatedAt: null, earlier: [] });
  const first = await rotate('2h');
  const others = await Promise.all(['3h', '24h', '1h', '2d', '1h'].map(rotate));
  expect(others.map(({ httpStatus }) => httpStatus).sort()).toEqual([200, 200, 200, 200, 409]);
  const rotations = [first, ...others.filter(({ httpStatus }) => httpStatus === 200)];
  const full = await rotate('1h');
  const untils = rotations.map(({ data }) => String(data.previousSecretValidUntil)).sort();
  expect(full).toMatchObject({ httpStatus: 409, body: { status: 'CONFLICT' } });
  expect((full.body.error as { message: string }).message).toContain(untils[0]);

  await account.call(`${path}/test`, { method: 'POST' });
  const secrets = [secret, ...rotations.map(({ data }) => data.secret as string)];
  for (const one of secrets) verify(one, receiver.received[0]!);
  const leaked = await rotate('0s'); // adds none that signs
  expect(leaked.httpStatus).toBe(200);
  const times = async () => (await account.call(path)).data.secrets;
  const { rotatedAt } = await times();
  expect(await times()).toEqual({ rotatedAt, earlier: untils.map((signsUntil) => ({ signsUntil })) });
  expect(rotatedAt).toBe(leaked.data.previousSecretValidUntil);

  const end = () => account.call(`${path}/secrets/previous`, { method: 'DELETE' });
  expect(await end()).toMatchObject({ httpStatus: 200, data: { webhookId, ended: 5 } });
  expect((await end()).data).toEqual({ webhookId, ended: 0 });
  expect(await times()).toEqual({ rotatedAt, earlier: [] });
  await account.call(`${path}/test`, { method: 'POST' });
  const last = receiver.received[1]!;
  verify(leaked.data.secret as string, last);
  for (const old of secrets) expect(() => verify(old, last)).toThrow();
  expect((await rotate('1h')).httpStatus).toBe(200);
  await hook.close();
});
