import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder, registerAccount, registerWebhook } from '../support/client.js';
import { startServiceToInspect, type Service } from '../support/harness.js';
import { startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

let service: Service;
beforeAll(async () => {
  service = await startServiceToInspect({ TIME_SCALE: '1' });
});
afterAll(() => service.stop());

const transactions = async () => {
  const [row] = await service.sql<{ count: number }>(
    `select (xact_commit + xact_rollback)::int as count from pg_stat_database where datname = current_database()`,
  );
  return row!.count;
};

test('an order without a job is created within seconds, although every sweep has rested', async () => {
  const receiver = await startReceiver();
  const account = await registerAccount(service);
  await registerWebhook(account, receiver.url);
  await placeOrder(account);
  await receiver.waitFor(1);
  await sleep(5_000); // sweeps of orders come every four seconds as long as there are some
  await service.sql(
    `with earlier as (
       insert into shipments
       select (jsonb_populate_record(s, jsonb_build_object(
                'shipment_id', overlay(gen_random_uuid()::text placing left(uuid_floor(now() - interval '1 minute')::text, 15) from 1 for 15),
                'tracking_id', 'PHFORGOTTEN', 'process_id', gen_random_uuid()))).*
         from shipments s limit 1
       returning shipment_id
     )
     insert into orders_to_create (shipment_id) select shipment_id from earlier`,
  );
  const tookMs = await until('it is created', () =>
    receiver.received.some(({ notification }) => notification.tracking_id === 'PHFORGOTTEN'),
  );
  expect(tookMs).toBeLessThan(6_000);
  await receiver.close();
});

test('an idle process asks PostgreSQL fewer than five times a second', async () => {
  const spanMs = 10_000;
  const asked = async () => {
    const before = await transactions();
    await sleep(spanMs);
    return (await transactions()) - before;
  };
  // Connections report what they did within ten seconds, on a busy machine later.
  await until('it is idle', async () => (await asked()) < (5 * spanMs) / 1_000);
}, 120_000);
