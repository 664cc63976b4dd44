import { describe, expect, test } from '@jest/globals';
import { registerAccount, registerWebhook } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectSuccess } from '../../support/expect.js';

interface Made {
  deliveryId: string;
  webhookId: string;
  status: string;
  state: string;
  statusCode: number | null;
  errorCode: string | null;
}

/** Finished ones of a large webhook and a small one, and owed ones; over the last three hours, mixed. */
const many = { finished: 11_000, small: 300, owed: 6_000 };
/** A page checks as many finished and owed ones. */
const maxChecked = 5_000;

/** Newest first. */

const service = await sharedService();
const account = await registerAccount(service);
/** Every 4,999th one failed with 503, every 7,000th timed out; most owed ones were never attempted. */
const outcome = `case when n % 4999 = 0 then 503 when n % 7000 = 0 then null else 200 end as status_code,
  case when n % 4999 = 0 then 'HTTP_STATUS' when n % 7000 = 0 then 'TIMEOUT' end as error_code`;
const logged = `insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count,
                                        completed_at, trigger, started_at, status_code, error_code)
  select $1, delivery_id, event_id, $2, state, case when error_code is null then 'SUCCEEDED' else 'FAILED' end, 1,
         now(), 'SCHEDULED', now(), status_code, error_code from d`;
const owed = `, o as (
    insert into outbox (shipper_id, delivery_id, event_id, webhook_id, state, sequence, status, due_at, attempt_count)
    select $1, delivery_id, event_id, $2, state, 1, 'READY', now(), case when error_code is null then 0 else 2 end from d)
  insert into attempts (shipper_id, delivery_id, number, trigger, started_at, status_code, error_code)
  select $1, delivery_id, number, 'SCHEDULED', now() - (2 - number) * interval '10 minutes', case when number = 2 then status_code else 418 end,
         case when number = 2 then error_code else 'HTTP_STATUS' end
    from d cross join generate_series(1, 2) as number where error_code is not null`;

const make = (webhookId: string, count: number, insert: string) =>
  service.sql(
    `with e as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       select overlay(gen_random_uuid()::text placing left(uuid_floor(moment)::text, 14) || '7' from 1 for 15)::uuid,
              $1::uuid, n, (array['CREATED', 'PICKED_UP', 'IN_TRANSIT'])[n % 3 + 1], moment, '{}'
         from generate_series(1, $3::int) n
        cross join lateral (select now() - n * interval '3 hours' / $3::int as moment) m
       returning event_id, sequence as n, state
     ), d as (
       select delivery_id(event_id, $2::uuid), event_id, state, ${outcome} from e
     ) ${insert}`,
    [account.shipperId, webhookId, count],
  );

const register = async () =>
  (await registerWebhook(account, 'http://127.0.0.1:9/', { status: 'PAUSED' })).webhookId;
const aMinuteBefore = new Date(Date.now() - 60_000).toISOString();
const webhooks = { large: await register(), small: await register() };
await make(webhooks.large, many.finished, logged);
await make(webhooks.small, many.small, logged);
await make(webhooks.large, many.owed, owed);
await service.sql('analyze');
const made = await service.sql<Made & Record<string, unknown>>(
  `select delivery_id as "deliveryId", webhook_id as "webhookId", status, state, status_code as "statusCode",
          error_code as "errorCode"
     from (select delivery_id, webhook_id, status, state, status_code, error_code from deliveries
            where shipper_id = $1
           union all
           select o.delivery_id, webhook_id, 'HELD', state, a.status_code, a.error_code
             from outbox o left join attempts a on a.delivery_id = o.delivery_id and a.number = o.attempt_count
            where o.shipper_id = $1) d
    order by delivery_id desc`,
  [account.shipperId],
);

/** All pages; `checked` is how many deliveries that match the rest of the filter lie between two cursors. */
async function walk(query: string, others: Made[], limit: number) {
  const found: Made[] = [];
  const checked: number[] = [];
  let before = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const response = await account.call(
      `/v1/deliveries?${query}&limit=${limit}${cursor && `&cursor=${cursor}`}`,
    );
    expectSuccess(response, 200);
    found.push(...(response.data.deliveries as Made[]));
    expect(response.data.deliveries.length).toBeLessThanOrEqual(limit);
    cursor = response.data.nextCursor as string | null;
    const id = cursor && idIn(cursor);
    const at = id === null ? others.length : others.findIndex(({ deliveryId }) => deliveryId <= id) + 1;
    checked.push(at - before);
    before = at;
  }
  return { found: found.map(({ deliveryId }) => deliveryId), checked };
}
const idIn = (cursor: string) =>
  Buffer.from(cursor, 'base64url')
    .toString('hex')
    .slice(0, 32)
    .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');

describe('the outcome of the last attempt, or the time of any, rare among many thousands of finished and owed deliveries', () => {
  test.each<[string, string, (one: Made) => boolean, (one: Made) => boolean]>([
    ['a status code', 'statusCode=503', (one) => one.statusCode === 503, () => true],
    ['an error code', 'errorCode=TIMEOUT', (one) => one.errorCode === 'TIMEOUT', () => true],
    ['none', 'statusCode=301', () => false, () => true],
    ['only of an earlier attempt', 'statusCode=418', () => false, () => true],
    [
      'the time of an earlier attempt',
      `attemptedTo=${aMinuteBefore}`,
      ({ status, errorCode }) => status === 'HELD' && errorCode !== null,
      () => true,
    ],
    [
      'a time after the earlier attempts',
      `attemptedFrom=${aMinuteBefore}&status=HELD`,
      ({ errorCode }) => errorCode !== null,
      ({ status }) => status === 'HELD',
    ],
    ['a failed attempt', 'attemptFailed=true', ({ errorCode }) => errorCode !== null, () => true],
    [
      'a failed attempt in a span',
      `attemptFailed=true&attemptedTo=${aMinuteBefore}`,
      ({ status, errorCode }) => status === 'HELD' && errorCode !== null,
      () => true,
    ],
    [
      'of owed ones',
      'statusCode=503&status=HELD',
      (one) => one.statusCode === 503,
      ({ status }) => status === 'HELD',
    ],
    [
      'of failed ones',
      'errorCode=HTTP_STATUS&status=FAILED',
      (one) => one.errorCode === 'HTTP_STATUS',
      ({ status }) => status === 'FAILED',
    ],
    [
      'of a state',
      'statusCode=503&state=PICKED_UP',
      (one) => one.statusCode === 503,
      ({ state }) => state === 'PICKED_UP',
    ],
  ])('is found: %s, over pages that each check a bounded number', async (_, query, matches, isOther) => {
    const others = made.filter(isOther);
    const expected = others.filter(matches).map(({ deliveryId }) => deliveryId);
    for (const limit of [2, 250]) {
      const { found, checked } = await walk(query, others, limit);
      expect(found).toEqual(expected);
      for (const count of checked) expect(count).toBeLessThanOrEqual(2 * maxChecked);
    }
  });

  test('is found of a webhook that has few of the many', async () => {
    const others = made.filter(({ webhookId }) => webhookId === webhooks.small);
    const { found, checked } = await walk(`webhookId=${webhooks.small}&statusCode=200`, others, 250);
    expect(found).toEqual(others.map(({ deliveryId }) => deliveryId));
    expect(checked).toHaveLength(2);
  });

  test('that most have fills every page but the last', async () => {
    const { data } = await account.call('/v1/deliveries?statusCode=200&limit=250');
    expect(data.deliveries).toHaveLength(250);
  });
});
