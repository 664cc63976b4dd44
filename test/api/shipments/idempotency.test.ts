import { beforeEach, describe, expect, test } from '@jest/globals';
import { registerAccount, sampleOrder } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong, untilState } from '../../support/expect.js';

let keys = 0;
let key: string;

const service = await sharedService();
const account = await registerAccount(service);
beforeEach(() => {
  key = `key-${(keys += 1)}`;
});

const send = (body: unknown = sampleOrder(), { by = account, header = key } = {}) =>
  by.call('/v1/shipments', {
    body,
    headers: { authorization: `Bearer ${by.token}`, 'idempotency-key': header },
  });
const other = () => ({ ...sampleOrder(), shipperTrackingId: 'ANOTHER' });
const countShipments = async () => {
  const [row] = await service.sql<{ count: string }>('select count(*) from shipments where shipper_id = $1', [
    account.shipperId,
  ]);
  return Number(row!.count);
};

describe('Idempotency-Key', () => {
  test('the same key and body return the first response again and create one shipment', async () => {
    const before = await countShipments();
    const first = await send();
    const second = await send();
    expectSuccess(first, 201);
    expectSuccess(second, 201);
    expect(second.body).toEqual(first.body);
    expect(Object.keys(second.data)).toEqual(Object.keys(first.data));
    expect(await countShipments()).toBe(before + 1);
    await untilState(account, first.data.trackingId as string, 'CREATED');
  });

  test('the first response is repeated however the same JSON is written', async () => {
    const first = await send();
    const { package: parcel, ...rest } = sampleOrder();
    const turned = { package: Object.fromEntries(Object.entries(parcel).reverse()), ...rest };
    expect((await send(turned)).body).toEqual(first.body);
  });

  test('the first response is repeated with every optional field', async () => {
    const order = {
      ...sampleOrder(),
      lotId: 'L',
      package: {
        ...sampleOrder().package,
        contentValue: 0.1 + 0.2,
        items: [{ zebra: Number.MAX_SAFE_INTEGER, a: 5e-324 }],
      },
    };
    expect((await send(order)).body).toEqual((await send(order)).body);
  });

  test('a body that differs only in unknown fields returns the first response, with warnings', async () => {
    const first = await send();
    const again = await send({ ...sampleOrder(), lotID: 'LOT-7' });
    expectSuccess(again, 201, ['lotID']);
    const { warnings, ...rest } = again.body as typeof again.body & { warnings: object[] };
    expect(warnings).toHaveLength(1);
    expect(rest).toEqual(first.body);
  });

  test('another body under a used key returns 409, says what to send, creates nothing, and keeps the first response', async () => {
    const first = await send();
    const before = await countShipments();
    const refused = await send(other());
    expectFailure(refused, 409);
    expect(refused.body.error.message).toContain(': send that body again, or use a new key for this one.');
    expect(await countShipments()).toBe(before);
    expect((await send()).body).toEqual(first.body);
  });

  test('fifty concurrent requests with one key create one shipment and get one response', async () => {
    const before = await countShipments();
    const responses = await Promise.all(Array.from({ length: 50 }, () => send()));
    for (const response of responses) {
      expectSuccess(response, 201);
      expect(response.body).toEqual(responses[0]!.body);
    }
    expect(await countShipments()).toBe(before + 1);
  });

  test('many concurrent keys sent in different orders neither block nor duplicate', async () => {
    const before = await countShipments();
    const names = Array.from({ length: 40 }, (_, n) => `${key}-${n}`);
    const rounds = [names, [...names].reverse(), names, [...names].reverse()];
    const responses = await Promise.all(rounds.flat().map((header) => send(undefined, { header })));
    for (const response of responses) expectSuccess(response, 201);
    expect(new Set(responses.map(({ data }) => data.shipmentId as string)).size).toBe(40);
    expect(await countShipments()).toBe(before + 40);
  });

  test('one of two concurrent bodies under one key is accepted, the other gets 409', async () => {
    const responses = await Promise.all([send(), send(other()), send(), send(other())]);
    expect(responses.map(({ httpStatus }) => httpStatus).sort()).toEqual([201, 201, 409, 409]);
  });

  test('a refused request does not use up its key', async () => {
    expectFailure(await send({}), 400);
    expectSuccess(await send(), 201);
  });

  test('a key is free again after 24 hours, not before', async () => {
    const first = await send();
    const age = (interval: string) =>
      service.sql('update idempotency_keys set created_at = created_at - $2::interval where key = $1', [
        key,
        interval,
      ]);
    await age('23 hours 59 minutes');
    expect((await send()).body).toEqual(first.body);
    await age('2 minutes');
    const again = await Promise.all([send(other()), send(other()), send(other())]);
    for (const response of again) {
      expectSuccess(response, 201);
      expect(response.data).toEqual(again[0].data);
    }
    expect(again[0].data.shipmentId).not.toBe(first.data.shipmentId);
    expectFailure(await send(), 409);
  });

  test('the keys of two shippers are independent', async () => {
    const neighbour = await registerAccount(service);
    const mine = await send();
    const theirs = await send(undefined, { by: neighbour });
    expectSuccess(theirs, 201);
    expect(theirs.data.trackingId).not.toBe(mine.data.trackingId);
    expectSuccess(await send(other(), { by: await registerAccount(service) }), 201);
  });

  test('keys are case-sensitive', async () => {
    const first = await send(undefined, { header: 'Letters' });
    expect((await send(undefined, { header: 'letters' })).data.shipmentId).not.toBe(first.data.shipmentId);
  });

  test('255 printable ASCII characters are a valid key', async () => {
    for (const header of ['x'.repeat(255), '!"#$%&\'()*+,-./09:;<=>?@[\\]^_`{|} ~']) {
      const first = await send(undefined, { header });
      expectSuccess(first, 201);
      expect((await send(undefined, { header })).body).toEqual(first.body);
    }
  });

  test.each(['', 'x'.repeat(256), 'ä', 'a\tb'])('%j is not a key: 400 names the header', async (header) => {
    const before = await countShipments();
    expectWrong(await send(undefined, { header }), ['Idempotency-Key']);
    expect(await countShipments()).toBe(before);
  });

  test('a wrong header and a wrong body are both named', async () => {
    const body = { ...sampleOrder(), shipperTrackingId: '' };
    expectWrong(await send(body, { header: '' }), ['Idempotency-Key', 'shipperTrackingId']);
  });

  test('without a key the same order twice makes two shipments', async () => {
    const before = await countShipments();
    for (let n = 0; n < 2; n += 1)
      expectSuccess(await account.call('/v1/shipments', { body: sampleOrder() }), 201);
    expect(await countShipments()).toBe(before + 2);
  });
});
