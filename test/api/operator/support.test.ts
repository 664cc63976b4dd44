import { afterAll, describe, expect, test } from '@jest/globals';
import { readAll, operator, placeOrder, registerAccount } from '../../support/client.js';
import { deliveriesOf, startHook, untilAllAre } from '../../support/deliveries.js';
import { until } from '../../support/until.js';
import { scopedTokens, sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong, untilState } from '../../support/expect.js';

const unknownId = '018f0000-0000-7000-8000-000000000000';

const service = await sharedService();
const account = await registerAccount(service);
const other = await registerAccount(service, 'other@example.com');
const hooks = [await startHook(account), await startHook(account), await startHook(other)];
hooks[1]!.response.status = 410;
const trackingIds = [
  await placeOrder(account, 'S-1'),
  await placeOrder(account, 'S-2'),
  await placeOrder(other, 'S-1'),
];
for (const [index, trackingId] of trackingIds.entries())
  await untilState(index < 2 ? account : other, trackingId, 'CREATED');
await untilAllAre(service, hooks[0]!.webhookId, 'SUCCEEDED', 2);
const held = async () =>
  (await deliveriesOf(account, hooks[1]!.webhookId)).filter(({ status }) => status === 'HELD');
await until('the webhook is disabled', async () => (await held()).length === 2);
await untilAllAre(service, hooks[2]!.webhookId, 'SUCCEEDED', 1);
afterAll(async () => {
  for (const hook of hooks ?? []) await hook.receiver.close();
});

const support = (path: string) =>
  operator(service, path, { headers: { authorization: `Bearer ${scopedTokens.reader}` } });
const audit = async () =>
  (await operator(service, `/audit?action=DELIVERY_READ&shipperId=${account.shipperId}`)).data
    .entries as (Record<string, unknown> & { count: number })[];
/** Reads of one payload within a minute are one line. */
const reads = async () => (await audit()).reduce((sum, { count }) => sum + count, 0);

describe('for support', () => {
  test.each([
    '',
    '&status=HELD',
    '&statusCode=410',
    '&errorCode=HTTP_STATUS&limit=1',
    '&shipperTrackingId=S-1',
  ])('the deliveries of a shipper are those that it sees itself: %s', async (query) => {
    const own = (await account.call(`/v1/deliveries?from=2020-01-01${query}`)).data;
    const seen = await support(`/deliveries?shipperId=${account.shipperId}&from=2020-01-01${query}`);
    expectSuccess(seen, 200);
    expect(own.deliveries.length).toBeGreaterThan(0);
    expect(seen.data.deliveries).toEqual(own.deliveries);
    expect(seen.data.nextCursor === null).toBe(own.nextCursor === null);
  });

  test('the deliveries of a shipment need no shipper, and are of that shipper only', async () => {
    const own = (await other.call('/v1/deliveries')).data.deliveries as unknown[];
    expect((await support(`/deliveries?trackingId=${trackingIds[2]}`)).data).toEqual({
      deliveries: own,
      nextCursor: null,
    });
    const nowhere = { deliveries: [], nextCursor: null };
    expect((await support('/deliveries?trackingId=PH1')).data).toEqual(nowhere);
    const wrong = `/deliveries?trackingId=${trackingIds[2]}&shipperId=${account.shipperId}`;
    expect((await support(wrong)).data).toEqual(nowhere);
  });

  test('a delivery is found by its id, and looks as its shipper sees it', async () => {
    for (const by of [account, other])
      for (const { deliveryId } of (await by.call('/v1/deliveries')).data.deliveries as {
        deliveryId: string;
      }[]) {
        const own = await by.call(`/v1/deliveries/${deliveryId}`);
        const seen = await support(`/deliveries/${deliveryId}`);
        expectSuccess(seen, 200);
        expect(seen.data).toEqual(own.data);
        expect((await support(`/deliveries/${deliveryId}?shipperId=${by.shipperId}`)).data).toEqual(own.data);
        const stranger = by === account ? other : account;
        expectFailure(await support(`/deliveries/${deliveryId}?shipperId=${stranger.shipperId}`), 404);
      }
    for (const id of [unknownId, 'x', '%00']) expectFailure(await support(`/deliveries/${id}`), 404);
  });

  test('the audit log records each read of a payload, and no read of a list', async () => {
    const before = await reads();
    await support(`/deliveries?shipperId=${account.shipperId}`);
    await support(`/shipments?shipperId=${account.shipperId}`);
    await support(`/deliveries/${unknownId}`);
    expect(await reads()).toBe(before);
    const [webhookId, trackingId] = [hooks[0]!.webhookId, trackingIds[0]];
    const query = `webhookId=${webhookId}&trackingId=${trackingId}`;
    const [{ deliveryId }] = (await account.call(`/v1/deliveries?${query}`)).data.deliveries as [
      { deliveryId: string },
    ];
    await support(`/deliveries/${deliveryId}`);
    const { shipmentId } = (await account.call(`/v1/shipment-tracking/${trackingId}`)).data;
    expect(await reads()).toBe(before + 1);
    expect(
      (await audit()).find((line) => line.shipmentId === shipmentId && line.webhookId === webhookId),
    ).toMatchObject({
      outcome: 'DONE',
      actor: { kind: 'OPERATOR', name: 'reader' },
      shipperId: account.shipperId,
      webhookId,
      shipmentId,
      fields: [],
    });
    await account.call(`/v1/deliveries/${deliveryId}`);
    expect(await reads()).toBe(before + 1);
  });

  test('the shipments of a shipper are those that it sees itself', async () => {
    for (const query of ['', '&shipperTrackingId=S-1', '&state=CREATED&limit=1', '&state=LOST']) {
      const own = (await account.call(`/v1/shipments?from=2020-01-01${query}`)).data;
      const seen = await support(`/shipments?shipperId=${account.shipperId}&from=2020-01-01${query}`);
      expectSuccess(seen, 200);
      expect(seen.data.shipments).toEqual(own.shipments);
    }
  });

  test.each(['deliveries', 'shipments'])(
    'pages of %s lead to the end, and belong to one shipper',
    async (list) => {
      const query = `/${list}?shipperId=${account.shipperId}&limit=1`;
      const found = await readAll(support, query, list);
      const own = (await account.call(`/v1/${list}`)).data[list] as unknown[];
      expect(found).toEqual(own);
      const first = (await support(query)).data.nextCursor as string;
      expectWrong(await support(`/${list}?shipperId=${other.shipperId}&limit=1&cursor=${first}`), ['cursor']);
      expectWrong(await account.call(`/v1/${list}?limit=1&cursor=${first}`), ['cursor']);
    },
  );

  test.each<[string, string[]]>([
    ['/deliveries', ['shipperId']],
    ['/deliveries?shipperId=x&statusCode=7&status=NONE', ['shipperId', 'statusCode', 'status']],
    ['/deliveries?state=NONE', ['shipperId', 'state']],
    ['/shipments', ['shipperId']],
    ['/shipments?shipperId=&trackingId=PH1', ['shipperId', 'trackingId']],
  ])('%s returns 400 naming each error', async (path, paths) => expectWrong(await support(path), paths));
});
