import { afterAll, describe, expect, test } from '@jest/globals';
import { operator, registerAccount, registerWebhook } from '../../support/client.js';
import { startServiceToInspect } from '../../support/harness.js';
import { expectSuccess, expectWrong, offsetForm } from '../../support/expect.js';
import { until } from '../../support/until.js';

interface Top {
  webhookId: string;
  failureRate: number | null;
  pendingCount: number;
  isMore: boolean;
  p95Ms: number | null;
}

const ids: Record<string, string> = {};

const service = await startServiceToInspect({}, 'api');
const accounts = [await registerAccount(service), await registerAccount(service, 'other@example.com')];
for (const [index, name] of ['dead', 'flaky', 'slow', 'quick', 'paused', 'deleted', 'idle'].entries()) {
  const fields = { name, ...(name === 'paused' && { status: 'PAUSED' }) };
  const registered = await registerWebhook(
    accounts[index % 2]!,
    `http://127.0.0.1:9/${name}?token=planted`,
    fields,
  );
  ids[name] = registered.webhookId;
}
await accounts[1]!.call(`/v1/webhooks/${ids.deleted}`, { method: 'DELETE' });
afterAll(() => service.stop());

/** `ago` in hours. */
const hour = (name: string, ago: number, succeeded: number, failed: number, p95Ms: number | null) =>
  service.sql(
    `insert into webhook_hours (webhook_id, hour, succeeded, failed, p95_ms, durations_ms, duration_counts)
     values ($1, date_bin('1 hour', now(), 'epoch') - $2::int * interval '1 hour', $3, $4, $5, '{}', '{}')`,
    [ids[name], ago, succeeded, failed, p95Ms],
  );
const owe = (name: string, count: number) =>
  service.sql(
    `insert into outbox (shipper_id, delivery_id, event_id, webhook_id, state, sequence, status, due_at)
     select shipper_id, gen_random_uuid(), gen_random_uuid(), webhook_id, 'CREATED', 1, 'READY', now() - n * interval '1 s'
       from webhooks, generate_series(1, $2::int) n where webhook_id = $1`,
    [ids[name], count],
  );
const fail = (name: string, minutes: number, isOpen: boolean) =>
  service.sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, open_until)
     values ($1, now(), 1, 1, now() - $2::int * interval '1 minute', case when $3 then now() + interval '1 minute' end)`,
    [ids[name], minutes, isOpen],
  );
const top = async (query: string) => {
  const response = await operator(service, `/webhooks?${query}`);
  expectSuccess(response, 200);
  return response.data.webhooks as Top[];
};
const named = (webhooks: Top[]) =>
  webhooks.map(({ webhookId }) => Object.keys(ids).find((name) => ids[name] === webhookId));

test('the status lists the open circuits, latest first failure first', async () => {
  const account = await registerAccount(service);
  const { shipperId } = account;
  const webhookIds: string[] = [];
  for (const minutesAgo of [20, 5, null, 10]) {
    const paused = minutesAgo === null && { status: 'PAUSED' };
    const { webhookId } = await registerWebhook(account, 'http://127.0.0.1:9/', { ...paused });
    webhookIds.push(webhookId);
    await service.sql(
      `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, open_until, open_wait, times_opened)
       values ($1, now(), 10, 10, now() - make_interval(mins => $2::int), '2099-01-01T00:00:00Z', '100 years', 1)`,
      [webhookId, minutesAgo ?? 0],
    );
  }
  const { openCircuits, circuits } = (await operator(service, '/status')).data as Record<string, unknown>;
  const [oldest, newest, , middle] = webhookIds;
  expect(openCircuits).toBe(3);
  expect(circuits).toEqual(
    [newest, middle, oldest].map((webhookId) => ({
      webhookId,
      shipperId,
      failingSince: expect.stringMatching(offsetForm),
      nextProbeAt: '2099-01-01T00:00:00+00:00',
    })),
  );
  await service.sql('delete from circuits');
});

describe('the webhooks of all shippers that lead', () => {
  test('are none while nothing has failed, is owed or was attempted', async () => {
    for (const sort of ['failing', 'backlog', 'slow']) expect(await top(`sort=${sort}`)).toEqual([]);
  });

  test('are known without reading the log, by failures, by owed deliveries and by slow attempts', async () => {
    await until('the hour does not end meanwhile', () => Date.now() % 3_600_000 < 3_580_000, 30_000);
    await service.sql('alter table deliveries rename to deliveries_elsewhere');
    await service.sql('alter table attempts rename to attempts_elsewhere');
    await hour('dead', 0, 0, 6, 900);
    await fail('dead', 600, true);
    await hour('flaky', 1, 30, 70, 400);
    await hour('slow', 1, 50, 50, 9_000);
    await hour('slow', 0, 3, 0, 20); // too few to say otherwise
    await hour('quick', 0, 1_000, 0, 15);
    await hour('quick', 2, 0, 1_000, 15_000); // too long ago
    await fail('idle', 60, false);
    for (const name of ['paused', 'deleted']) {
      await hour(name, 0, 0, 100, 14_000);
      await fail(name, 900, true);
    }
    await owe('paused', 300);
    await owe('dead', 3_000);
    await owe('slow', 2);
    await owe('deleted', 500);

    const failing = await top('');
    expect(named(failing)).toEqual(['dead', 'idle', 'flaky', 'slow']);
    expect(failing[0]).toEqual({
      webhookId: ids.dead,
      shipperId: accounts[0]!.shipperId,
      shipperName: expect.any(String),
      name: 'dead',
      targetAddress: 'http://127.0.0.1:9/dead',
      status: 'ACTIVE',
      circuit: 'OPEN',
      heldBy: 'CIRCUIT',
      failingSince: expect.stringMatching(offsetForm),
      pendingCount: 3_000,
      isMore: false,
      failureRate: 1,
      p95Ms: 900,
    });
    expect(failing[1]).toMatchObject({ circuit: 'CLOSED', heldBy: null, failureRate: null, p95Ms: null });
    expect(failing[2]).toMatchObject({ failureRate: 0.7, failingSince: null });

    const backlog = await top('sort=backlog');
    expect(named(backlog)).toEqual(['dead', 'paused', 'slow']);
    expect(backlog.map(({ pendingCount }) => pendingCount)).toEqual([3_000, 300, 2]);
    expect(backlog[1]).toMatchObject({ status: 'PAUSED', heldBy: 'PAUSED' });

    const slow = await top('sort=slow');
    expect(named(slow)).toEqual(['paused', 'slow', 'dead', 'flaky', 'quick']);
    expect(slow.map(({ p95Ms }) => p95Ms)).toEqual([14_000, 9_000, 900, 400, 15]);
    for (const sort of ['failing', 'backlog', 'slow'])
      expect(await top(`sort=${sort}&limit=2`)).toEqual((await top(`sort=${sort}`)).slice(0, 2));
  });

  test('are found among many webhooks, with what is owed to them counted up to a bound', async () => {
    await service.sql(
      `with w as (
         insert into webhooks (webhook_id, shipper_id, interests, target_address, status, disabled_reason, ordering,
                supersede, headers, description, secret, created_at, updated_at)
         select gen_random_uuid(), shipper_id, interests, target_address, status, disabled_reason,
                ordering, supersede, headers, description, secret, now(), now()
           from webhooks, generate_series(1, 10500) where webhook_id = $1 returning webhook_id, shipper_id)
       insert into outbox (shipper_id, delivery_id, event_id, webhook_id, state, sequence, status, due_at)
       select shipper_id, gen_random_uuid(), gen_random_uuid(), webhook_id, 'CREATED', 1, 'READY', now() from w`,
      [ids.idle],
    );
    await owe('slow', 3_000);
    await owe('dead', 1_000);
    const backlog = await top('sort=backlog');
    expect(named(backlog.slice(0, 3))).toEqual(['dead', 'slow', 'paused']);
    expect(backlog.slice(0, 3).map(({ pendingCount, isMore }) => [pendingCount, isMore])).toEqual([
      [4_000, false],
      [3_002, false],
      [300, false],
    ]);
    await owe('dead', 1);
    expect((await top('sort=backlog'))[0]).toMatchObject({ pendingCount: 4_000, isMore: true });
    expect(await top('sort=backlog&limit=250')).toHaveLength(250);
  });

  test.each<[string, string[]]>([
    ['sort=fast', ['sort']],
    ['limit=251&sort=', ['limit', 'sort']],
    ['cursor=x', ['cursor']],
  ])('%s returns 400 naming each error', async (query, paths) =>
    expectWrong(await operator(service, `/webhooks?${query}`), paths),
  );
});
