import { beforeAll, expect, test } from '@jest/globals';
import { placeOrder, registerAccount, type Account } from '../../support/client.js';
import { orderDelivered, startHook, untilFound, type Hook } from '../../support/deliveries.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';

const it = test.concurrent;
const dayMs = 86_400_000;

let service: SharedService;

beforeAll(async () => {
  service = await sharedService('impatient');
});

/** A webhook that fails, and one that gets these notices of it. */
async function startPair(interests: string[]) {
  const account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['CREATED'] });
  const owner = await startHook(account, { interests });
  hook.response.status = 500;
  const told = async (count: number) =>
    (await owner.receiver.waitFor(count)).map(({ notification }) => notification);
  const close = () => Promise.all([hook.close(), owner.close()]);
  return { account, hook, owner, told, close };
}

/** One order whose four attempts all fail. */
async function useUpRetries(account: Account, { webhookId }: Hook): Promise<string> {
  const trackingId = await placeOrder(account);
  const path = `/v1/deliveries?webhookId=${webhookId}&trackingId=${trackingId}&status=FAILED`;
  await untilFound(async () => ((await account.call(path)).data.deliveries as unknown[]).length === 1);
  return trackingId;
}
const failingSince = (webhookId: string, ago: string) =>
  service.sql(`update circuits set failing_since = now() - $2::interval where webhook_id = $1`, [
    webhookId,
    ago,
  ]);
const disablesAt = async (account: Account, { webhookId }: Hook) =>
  ((await account.call(`/v1/webhooks/${webhookId}`)).data.health as { disablesAt: string | null }).disablesAt;
const countOf = async (account: Account, state: string) =>
  (await service.sql('select from events where shipper_id = $1 and state = $2', [account.shipperId, state]))
    .length;

it('three failed attempts and an hour without a success are a failing, told once, until the next success', async () => {
  const { account, hook, told, close } = await startPair(['WEBHOOK_FAILING', 'WEBHOOK_RECOVERED']);
  await useUpRetries(account, hook);
  expect(await disablesAt(account, hook)).toBeNull();
  await failingSince(hook.webhookId, '1 hour');
  const [failing] = await told(1);
  expect(failing).toMatchObject({
    state: 'WEBHOOK_FAILING',
    webhook_id: hook.webhookId,
    reason: 'NO_SUCCESS',
    deliveries: null,
  });
  expect((failing!.disables_at as number) - (failing!.since as number)).toBe(5 * dayMs);
  expect(Date.parse((await disablesAt(account, hook))!)).toBe(failing!.disables_at);
  await useUpRetries(account, hook);
  hook.response.status = 200;
  await placeOrder(account);
  const [, recovered] = await told(2);
  expect(recovered).toMatchObject({ state: 'WEBHOOK_RECOVERED', reason: null, disables_at: null });
  expect(recovered!.since).toBe(failing!.since);
  expect(await disablesAt(account, hook)).toBeNull();
  await close();
});

it('the owner is told 72 and 24 hours before a webhook is disabled, once each', async () => {
  const { account, hook, told, close } = await startPair(['WEBHOOK_DISABLING']);
  await useUpRetries(account, hook);
  const expectTold = async (count: number, hoursLeft: number) => {
    await failingSince(hook.webhookId, `${5 * 24 - hoursLeft} hours`);
    const notices = await told(count);
    expect(notices.at(-1)).toMatchObject({ state: 'WEBHOOK_DISABLING', reason: 'FAILING' });
    const leftMs = (notices.at(-1)!.disables_at as number) - Date.now();
    expect(Math.round(leftMs / 3_600_000)).toBe(hoursLeft);
  };
  await expectTold(1, 72);
  await failingSince(hook.webhookId, '60 hours');
  await expectTold(2, 24);
  await failingSince(hook.webhookId, '100 hours');
  await useUpRetries(account, hook);
  expect(await countOf(account, 'WEBHOOK_DISABLING')).toBe(2);
  await close();
});

it('the first delivery whose retries are used up is told at once, those of the next hour together at its end', async () => {
  const { account, hook, owner, told, close } = await startPair(['DELIVERY_EXHAUSTED']);
  const first = await useUpRetries(account, hook);
  expect(await told(1)).toMatchObject([
    { state: 'DELIVERY_EXHAUSTED', webhook_id: hook.webhookId, deliveries: 1, tracking_ids: [first] },
  ]);
  hook.response.status = 200; // so that the circuit stays closed
  for (let n = 0; n < 3; n += 1) await orderDelivered(account, hook.webhookId);
  hook.response.status = 500;
  const later = [await useUpRetries(account, hook), await useUpRetries(account, hook)];
  // A test counts for nothing, and neither does a delivery that the receiver refuses.
  await account.call(`/v1/webhooks/${hook.webhookId}/test`, { method: 'POST' });
  hook.response.headers = { 'webhook-delivery': 'abort-message' };
  await useUpRetries(account, hook);
  expect(await countOf(account, 'DELIVERY_EXHAUSTED')).toBe(1);
  await service.sql(
    `update webhooks set exhausted_told_at = now() - interval '1 hour' where webhook_id = $1`,
    [hook.webhookId],
  );
  const [, together] = await told(2);
  expect(together).toMatchObject({ deliveries: 2, since: null, disables_at: null });
  expect(together!.tracking_ids).toEqual(later.sort());
  expect(owner.receiver.received).toHaveLength(2);
  await close();
});
