import { describe, expect, test } from '@jest/globals';
import { readAll, registerAccount, registerWebhook } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';

const daysAgo = [0.01, 0.5, 0.99, 1.01, 2, 6.9, 7.1, 12, 19.5];
const statuses = ['SUCCEEDED', 'FAILED', 'HELD', 'CANCELLED'];

/** Newest first, as inserted: four webhooks, each with its own status. */

const service = await sharedService();
const account = await registerAccount(service);
const { sql } = service;
await sql(`select make_log_partitions(current_date - 21, current_date)`);
for (const status of statuses) {
  const { webhookId } = await registerWebhook(account, 'http://127.0.0.1:9/', { status: 'PAUSED' });
  const rows = `with moments as (
       select now() - interval '1 day' * days as moment from unnest($1::float8[]) as days
     ), e as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       select overlay(gen_random_uuid()::text placing left(uuid_floor(moment)::text, 14) || '7' from 1 for 15)::uuid,
              $2::uuid, 1, 'CREATED', moment, '{}'
         from moments returning event_id, recorded_at
     ), d as (
       select $2::uuid as shipper_id, delivery_id(event_id, $3::uuid), event_id, $3::uuid as webhook_id,
              'CREATED' as state, $4::text as status, recorded_at
         from e
     )`;
  await sql(
    status === 'HELD'
      ? `${rows} insert into outbox (shipper_id, delivery_id, event_id, webhook_id, state, sequence, status, due_at)
         select shipper_id, delivery_id, event_id, webhook_id, state, 1, replace(status, 'HELD', 'READY'), recorded_at
           from d`
      : `${rows} insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count,
                                         completed_at)
         select shipper_id, delivery_id, event_id, webhook_id, state, status, 0, recorded_at from d`,
    [daysAgo, account.shipperId, webhookId, status],
  );
}
const inserted: { deliveryId: string; status: string; recordedAt: Date }[] = await sql(
  `select delivery_id as "deliveryId", status, recorded_at as "recordedAt"
     from (select event_id, delivery_id, status from deliveries where shipper_id = $1
           union all select event_id, delivery_id, 'HELD' from outbox where shipper_id = $1) d
     join events using (event_id) order by delivery_id desc`,
  [account.shipperId],
);

const found = async (query: string) =>
  (await readAll<{ deliveryId: string }>(account.call, `/v1/deliveries?${query}`, 'deliveries')).map(
    ({ deliveryId }) => deliveryId,
  );

describe('a log of many days', () => {
  const ids = (matches: (delivery: (typeof inserted)[number]) => boolean) =>
    inserted.filter(matches).map(({ deliveryId }) => deliveryId);

  test.each([1, 3, 5, 36, 37, 250])('is read completely in pages of %d', async (limit) => {
    expect(inserted).toHaveLength(36);
    expect(await found(`limit=${limit}`)).toEqual(ids(() => true));
  });

  test.each(statuses)('is filtered by status %s', async (status) => {
    expect(await found(`limit=2&status=${status}`)).toEqual(ids((delivery) => delivery.status === status));
    expect(await found(`limit=2&status=${status}&state=CREATED`)).toHaveLength(daysAgo.length);
  });

  test('is filtered by time', async () => {
    const [from, to] = [10, 1.5].map((days) => new Date(Date.now() - days * 86_400_000)) as [Date, Date];
    const ofTime = await found(`limit=3&from=${from.toISOString()}&to=${to.toISOString()}`);
    expect(ofTime).toEqual(ids(({ recordedAt }) => recordedAt >= from && recordedAt < to));
    expect(ofTime).toHaveLength(3 * statuses.length);
  });
});
