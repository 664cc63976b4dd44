import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, registerWebhook, sampleOrder } from '../../support/client.js';
import { startServiceToInspect, startProcess, stopProcess, type Service } from '../../support/harness.js';
import { accountAt } from '../../support/deployment.js';
import { expectSuccess, expectWrong } from '../../support/expect.js';
import { startReceiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import { expectLimited, limited } from './limited.js';

const limit = 64 * 1024;
let service: Service;
beforeAll(async () => {
  service = await startServiceToInspect({ STORED_BYTES_PER_DAY: '64KiB', ORDER_ITEMS_LIMIT: '8KiB' });
});
afterAll(() => service?.stop());

const withItems = (bytes: number) => {
  const order = sampleOrder();
  return { ...order, package: { ...order.package, items: 'x'.repeat(bytes - 2) } };
};
interface Stored {
  limit: number;
  shippers: { shipperId: string; bytes: number; isLimited: boolean }[];
}
const stored = async () => (await operator(service, '/status')).data.storedBytes as Stored;
const storedOf = async (shipperId: string) =>
  (await stored()).shippers.find((one) => one.shipperId === shipperId)?.bytes ?? 0;

test('items, evidences and anomalies may have ORDER_ITEMS_LIMIT bytes as JSON, and no more', async () => {
  const account = await registerAccount(service, 'items@example.com');
  const order = (items: number) => account.call('/v1/shipments', { body: withItems(items) });
  const placed = await order(8 * 1024);
  expectSuccess(placed, 201);
  expectWrong(await order(8 * 1024 + 1), ['package.items']);
  const { trackingId } = placed.data as { trackingId: string };
  const event = (fields: object) =>
    operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP', ...fields } });
  const [fits, over] = ['ü'.repeat(4_094), 'ü'.repeat(4_096)];
  expectWrong(await event({ evidences: [over], anomalies: over }), ['evidences', 'anomalies']);
  expectSuccess(await event({ evidences: [fits], anomalies: fits }), 202);
  await until('it is counted', () => storedOf(account.shipperId).then((n) => n > 16_000));
});

test('the orders, events and responses of a shipper count against its day; beyond it 429, in every process and after a restart', async () => {
  const account = await registerAccount(service, 'large@example.com');
  const other = await registerAccount(service, 'other@example.com');
  const before = await limited('stored_bytes', service);
  const place = () => account.call('/v1/shipments', { body: withItems(8 * 1024) });
  let accepted = 0;
  for (; accepted < 20; accepted += 1) if ((await place()).httpStatus !== 201) break;
  expect(accepted).toBeGreaterThanOrEqual(6);
  expect(accepted).toBeLessThanOrEqual(8);
  expectLimited(await place(), 86_400);
  expect(await limited('stored_bytes', service)).toBeGreaterThanOrEqual(before + 2);
  await placeOrder(other, 'not limited');
  await until('it is counted', () => storedOf(account.shipperId).then((n) => n >= limit));
  const status = await stored();
  expect(status.limit).toBe(limit);
  expect(status.shippers).toContainEqual(
    expect.objectContaining({ shipperId: account.shipperId, isLimited: true }),
  );
  // A process that has not heard of it hears of it with its first order.
  const second = await startProcess(service.env, 'api');
  const there = accountAt(account, second);
  await until('the second process refuses, too', async () => {
    const { httpStatus } = await there.call('/v1/shipments', { body: withItems(100) });
    return httpStatus === 429;
  });
  await stopProcess(second);
  // The next day it may store again.
  await service.sql(`update stored_bytes set day = day - 1 where shipper_id = $1`, [account.shipperId]);
  const later = await startProcess(service.env, 'api');
  const nextDay = accountAt(account, later);
  expectSuccess(await nextDay.call('/v1/shipments', { body: withItems(8 * 1024) }), 201);
  await stopProcess(later);
  expect(await storedOf(account.shipperId)).toBeLessThan(limit);
});

test('responses of receivers count as well', async () => {
  const account = await registerAccount(service, 'responses@example.com');
  const receiver = await startReceiver(() => ({ status: 500, body: 'x'.repeat(4_096) }));
  await registerWebhook(account, receiver.url);
  await placeOrder(account, 'refused by its receiver');
  await until('the response is counted', () => storedOf(account.shipperId).then((n) => n > 4_096 + 1_000));
  await receiver.close();
});
