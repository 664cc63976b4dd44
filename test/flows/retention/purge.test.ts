import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { placeOrder, registerAccount, type Account } from '../../support/client.js';
import { startProcess, startService, stopProcess, type Service } from '../../support/harness.js';
import { deliveriesOf, startHook, untilFound, untilDelivery } from '../../support/deliveries.js';

let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startService();
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const deleted = async () => {
  const [row] = await service.sql<{ n: number }>(
    'select count(*)::int as n from webhooks where deleted_at is not null',
  );
  return row!.n;
};

/** Index statistics of webhooks; backends report them some seconds late. */
const indexUse = async () => {
  const rows = await service.sql<{ name: string; scans: string; rows: string }>(
    `select indexrelname as name, idx_scan as scans, idx_tup_read as rows from pg_stat_user_indexes
      where relname = 'webhooks'`,
  );
  return Object.fromEntries(
    rows.map(({ name, scans, rows: read }) => [name, { scans: Number(scans), rows: Number(read) }]),
  );
};

const makeDeleted = (count: number, age: string) =>
  service.sql(
    `insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede, headers,
                           description, secret, created_at, updated_at, deleted_at)
     select gen_random_uuid(), $1, '{*}', 'https://example.org/', 'PAUSED', 'NONE', false, '{}', '', '', now(), now(),
            now() - $3::interval
       from generate_series(1, $2) n`,
    [account.shipperId, count, age],
  );

test('60,000 deleted webhooks make neither the log nor an order slower, and are purged when nothing refers to them', async () => {
  const hook = await startHook(account, { interests: ['CREATED'] });
  const mentioned = await startHook(account, { interests: ['CREATED'] });
  await placeOrder(account);
  const [delivery] = await untilFound(async () => {
    const found = await deliveriesOf(account, mentioned.webhookId);
    return found.length === 1 && found;
  });
  await untilDelivery(account, delivery!.deliveryId, ({ status }) => status === 'SUCCEEDED');
  await mentioned.close();
  await service.sql(
    `update webhooks set deleted_at = now() - interval '2 hours' where deleted_at is not null`,
  );

  await makeDeleted(60_000, '2 hours');
  await makeDeleted(700, '10 minutes'); // recent operations may still owe them something
  for (const path of ['/v1/deliveries', '/v1/webhooks', `/v1/deliveries/${delivery!.deliveryId}`])
    for (let n = 0; n < 10; n += 1) expect((await account.call(path)).httpStatus).toBe(200);
  await placeOrder(account);
  await untilFound(async () => (await deliveriesOf(account, hook.webhookId)).length === 2);

  expect(await deleted()).toBe(60_701);
  await service.sql(
    `delete from webhooks where webhook_id in (
    select webhook_id from webhooks where deleted_at < now() - interval '1 hour' and webhook_id <> $1 limit 59400)`,
    [mentioned.webhookId],
  ); // shortens the walk
  const worker = await startProcess(service.env, 'worker');
  try {
    await untilFound(async () => (await deleted()) === 701);
  } finally {
    await stopProcess(worker);
  }
  // Webhooks in the log are still shown with their address.
  expect(await deliveriesOf(account, mentioned.webhookId)).toMatchObject([
    { deliveryId: delivery!.deliveryId },
  ]);
  expect(worker.output()).toMatch(/"webhooks":(499|500),"msg":"deleted webhooks purged"/);

  await service.sql('delete from deliveries where webhook_id = $1', [mentioned.webhookId]);
  const another = await startProcess(service.env, 'worker');
  try {
    await untilFound(async () => (await deleted()) === 700);
  } finally {
    await stopProcess(another);
  }
  await hook.close();
  const use = await untilFound(async () => {
    const found = await indexUse();
    return found.webhooks_of_shipper!.scans > 30 && found;
  });
  expect(use.webhooks_of_shipper!.rows).toBeLessThan(1_000);
}, 120_000);
