/** A shipper sees how its webhooks fail: their hours, their health, and the log of what is owed. */
import { afterAll, describe, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount } from '../../support/client.js';
import { startServiceWith } from '../../support/harness.js';
import { expectCountsMatchLog } from '../../support/outbox.js';
import { orderDelivered, startHook, untilFound, untilDelivery, type Hook } from '../../support/deliveries.js';
import { expectFailure, expectSuccess, expectWrong, offsetForm, untilState } from '../../support/expect.js';

const hooks: Hook[] = [];

const service = await startServiceWith({ RETRY_SCHEDULE: '10ms,1h', TIME_SCALE: '0.1' });
const account = await registerAccount(service);
afterAll(async () => {
  for (const { receiver } of hooks) await receiver.close();
  await service.stop();
});

async function newHook(fields: object = {}): Promise<Hook> {
  const made = await startHook(account, fields);
  hooks.push(made);
  return made;
}
const hook = await newHook();
/** It failed twice, and waits for an hour. */
const untilFailed = (deliveryId: string) =>
  untilDelivery(
    account,
    deliveryId,
    ({ status, attemptCount }) => status === 'PENDING' && attemptCount === 2,
  );

interface Hour {
  hour: string;
  attempts: number;
  succeeded: number;
  failed: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

const stats = async (query = '', webhookId = hook.webhookId): Promise<Hour[]> => {
  const response = await account.call(`/v1/webhooks/${webhookId}/stats${query}`);
  expectSuccess(response, 200);
  expect(Object.keys(response.data)).toEqual(['hours']);
  return response.data.hours as Hour[];
};
const sum = (hours: Hour[], field: 'attempts' | 'succeeded' | 'failed') =>
  hours.reduce((total, hour) => total + hour[field], 0);
const sums = async () => {
  const hours = await stats();
  return [sum(hours, 'attempts'), sum(hours, 'succeeded'), sum(hours, 'failed')];
};

test('the hours are all present without attempts, zero, the oldest first and the current one last', async () => {
  const hours = await stats('?hours=720');
  expect(hours).toHaveLength(720);
  const times = hours.map(({ hour }) => Date.parse(hour));
  for (const [index, time] of times.entries()) expect(time - times[0]!).toBe(index * 3_600_000);
  expect(hours[0]!.hour).toMatch(/:00:00\+00:00$/);
  expect(Date.now() - times.at(-1)!).toBeGreaterThanOrEqual(0);
  expect(Date.now() - times.at(-1)!).toBeLessThan(3_660_000);
  expect(hours.at(-1)).toMatchObject({ attempts: 0, succeeded: 0, failed: 0, p50Ms: null, p95Ms: null });
  expect(await stats()).toHaveLength(24);
  expect(await stats('?hours=1')).toHaveLength(1);
});

test.each(['0', '721', '-1', '1.5', '', 'abc', '0x10', '24&hours=1'])(
  'hours=%s returns 400',
  async (hours) => {
    expectWrong(await account.call(`/v1/webhooks/${hook.webhookId}/stats?hours=${hours}`), ['hours']);
  },
);

test('the hours of an unknown, deleted or malformed webhook id are 404', async () => {
  const gone = await newHook();
  await gone.close();
  for (const id of [gone.webhookId, account.userId, 'nothing'])
    expectFailure(await account.call(`/v1/webhooks/${id}/stats`), 404);
});

describe('logged attempts are counted at once', () => {
  const redeliver = (deliveryId: string) =>
    account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });

  test('a success, a failure with its retry, redeliveries and a replay, but no tests', async () => {
    const { response, webhookId } = hook;
    const first = await orderDelivered(account, webhookId);
    await untilDelivery(account, first, ({ status }) => status === 'SUCCEEDED');
    expect(await sums()).toEqual([1, 1, 0]);
    response.status = 500;
    const failed = await orderDelivered(account, webhookId);
    await untilFailed(failed);
    expect(await sums()).toEqual([3, 1, 2]);
    await redeliver(first);
    await untilDelivery(account, first, ({ attempts }) => attempts.length === 2);
    expect(await sums()).toEqual([4, 1, 3]);
    await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
    response.status = 200;
    await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
    expect(await sums()).toEqual([4, 1, 3]);
    const range = { from: Date.now() - 60_000, to: Date.now(), status: 'PENDING' };
    await account.call(`/v1/webhooks/${webhookId}/replay`, { body: range });
    await untilDelivery(account, failed, ({ status }) => status === 'SUCCEEDED');
    expect(await sums()).toEqual([5, 2, 3]);
    await untilFound(async () => (await service.sql('select from attempt_counts')).length === 0);
    expect(await sums()).toEqual([5, 2, 3]);
    expect(await expectCountsMatchLog(service)).toBe(5);
    const busy = (await stats()).filter(({ attempts }) => attempts > 0);
    for (const { p50Ms, p95Ms } of busy) expect(p95Ms!).toBeGreaterThanOrEqual(p50Ms!);
  });
});

describe('lists of webhooks', () => {
  test('include health and stats of each on request', async () => {
    const other = await newHook();
    const { data } = await account.call('/v1/webhooks?include=health,stats&limit=250');
    const webhooks = data.webhooks as { webhookId: string; health: object; stats: object }[];
    expect(webhooks.map(({ webhookId }) => webhookId)).toEqual([hook.webhookId, other.webhookId]);
    for (const { webhookId, health, stats: shown } of webhooks) {
      expect(health).toEqual((await account.call(`/v1/webhooks/${webhookId}`)).data.health);
      expect(shown).toEqual({ hours: await stats('', webhookId) });
    }
    await other.close();
    const nobody = await registerAccount(service);
    expect((await nobody.call('/v1/webhooks?include=health,stats')).data.webhooks).toEqual([]);
  });

  test.each([
    ['', []],
    ['include=health', ['health']],
    ['include=stats', ['stats']],
    ['include=stats,health,stats', ['health', 'stats']],
  ])('with %j have %j', async (wanted, names) => {
    const { data } = await account.call(`/v1/webhooks?${wanted}`);
    const [webhook] = data.webhooks as object[];
    expect(['health', 'stats'].filter((name) => name in webhook!)).toEqual(names);
  });

  test.each(['', 'healht', 'health,', 'Health', 'health stats', 'secret', 'health&include=stats'])(
    'with include=%s returns 400 and names the valid values',
    async (wanted) => {
      const response = await account.call(`/v1/webhooks?include=${wanted}`);
      expectWrong(response, ['include']);
      if (!wanted.includes('&')) expect(response.body.error.details![0]!.message).toContain('health, stats');
    },
  );
});

const health = async (webhookId: string) =>
  (await account.call(`/v1/webhooks/${webhookId}`)).data.health as Record<string, unknown>;

test('the health of a webhook shows its last success, its failures and its backlog', async () => {
  const hook = await newHook();
  const none = {
    nextProbeAt: null,
    failedSince: null,
    disablesAt: null,
    lastSuccessAt: null,
    failureRate: null,
    parkedSince: null,
  };
  expect(await health(hook.webhookId)).toEqual({ circuit: 'CLOSED', ...none, pendingCount: 0 });
  await orderDelivered(account, hook.webhookId);
  const good = await health(hook.webhookId);
  expect(good).toMatchObject({ circuit: 'CLOSED', failureRate: 0, pendingCount: 0 });
  expect(Math.abs(Date.now() - Date.parse(good.lastSuccessAt as string))).toBeLessThan(10_000);
  hook.response.status = 500;
  await untilFailed(await orderDelivered(account, hook.webhookId));
  const failing = { failureRate: 2 / 3, pendingCount: 1, failedSince: expect.stringMatching(offsetForm) };
  await untilFound(async () => (await health(hook.webhookId)).failedSince); // outcomes are counted a little later
  expect(await health(hook.webhookId)).toEqual({ ...good, ...failing });
  await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
  await orderDelivered(account, hook.webhookId);
  expect(await health(hook.webhookId)).toMatchObject({ failureRate: 2 / 3, pendingCount: 2 });
  const earlier = (table: string) =>
    `update ${table} set hour = hour - interval '2 hours' where webhook_id = $1`;
  await service.sql(`with counts as (${earlier('attempt_counts')}) ${earlier('webhook_hours')}`, [
    hook.webhookId,
  ]);
  expect(await health(hook.webhookId)).toMatchObject({ failureRate: null, pendingCount: 2 });
  await hook.close();
});

test('the failure rate is exact over the current and the previous hour, in lists too', async () => {
  const hook = await newHook();
  for (const [hoursAgo, succeeded, failed] of [
    [0, 1_200, 60],
    [1, 800, 40],
    [2, 0, 5_000],
  ]) {
    const hour = `date_bin('1 hour', now(), timestamptz 'epoch') - make_interval(hours => $2::int)`;
    await service.sql(
      `insert into webhook_hours (webhook_id, hour, succeeded, failed, durations_ms, duration_counts)
       values ($1, ${hour}, $3::int - 10, $4, '{}', '{}')`,
      [hook.webhookId, hoursAgo, succeeded, failed],
    );
    await service.sql(
      `insert into attempt_counts (webhook_id, hour, succeeded, failed) values ($1, ${hour}, 10, 0)`,
      [hook.webhookId, hoursAgo],
    );
  }
  const { failureRate } = await health(hook.webhookId);
  expect(failureRate).toBeCloseTo(100 / 2_100, 10);
  const { data } = await account.call('/v1/webhooks?include=health');
  const listed = data.webhooks as { webhookId: string; health: object }[];
  expect(listed.find(({ webhookId }) => webhookId === hook.webhookId)!.health).toMatchObject({ failureRate });
  await hook.close();
});

describe('the last success of an idle webhook', () => {
  const hourOf = `date_bin('1 hour', now() - interval '10 days', timestamptz 'epoch')`;
  const succeededInHour = (webhookId: string) =>
    service.sql<{ hour: Date }>(
      `insert into webhook_hours (webhook_id, hour, succeeded, failed, durations_ms, duration_counts)
       values ($1, ${hourOf}, 1, 0, '{}', '{}'), ($1, now() - interval '2 days', 0, 1, '{}', '{}')
       returning hour`,
      [webhookId],
    );

  test('comes from the log', async () => {
    const hook = await newHook();
    const [row] = await succeededInHour(hook.webhookId);
    await service.sql(`select make_log_partitions(current_date - 12, current_date)`);
    for (const minutes of [5, 20, 10])
      await service.sql(
        `insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count,
                                 completed_at)
         select $1, delivery_id(event_id, $2), event_id, $2, 'S' || $3, 'SUCCEEDED', 1,
                ${hourOf} + make_interval(mins => $3::int)
           from (select uuid_floor(${hourOf} - make_interval(mins => $3::int)) as event_id) e`,
        [account.shipperId, hook.webhookId, minutes],
      );
    const { lastSuccessAt } = await health(hook.webhookId);
    expect(Date.parse(lastSuccessAt as string) - row!.hour.getTime()).toBe(20 * 60_000);
    const { data } = await account.call('/v1/webhooks?include=health');
    const listed = data.webhooks as { webhookId: string; health: object }[];
    expect(listed.find(({ webhookId }) => webhookId === hook.webhookId)!.health).toMatchObject({
      lastSuccessAt,
    });
    await hook.close();
  });

  test('is the start of its hour once the log is gone', async () => {
    const hook = await newHook();
    const [row] = await succeededInHour(hook.webhookId);
    const { lastSuccessAt } = await health(hook.webhookId);
    expect(Date.parse(lastSuccessAt as string)).toBe(row!.hour.getTime());
    await hook.close();
  });
});

type Shown = Record<string, unknown> & { deliveryId: string; status: string };
const list = async (query: string): Promise<Shown[]> => {
  const response = await account.call(`/v1/deliveries?limit=250&${query}`);
  expectSuccess(response, 200);
  return response.data.deliveries as Shown[];
};
const untilShown = (webhookId: string, status: string, count = 1): Promise<Shown[]> =>
  untilFound(async () => {
    const found = (await list(`webhookId=${webhookId}`)).filter((delivery) => delivery.status === status);
    return found.length === count && found;
  });
const placeCreated = async () => {
  const trackingId = await placeOrder(account);
  await untilState(account, trackingId, 'CREATED');
  return trackingId;
};
const statuses = ['PENDING', 'SENDING', 'HELD', 'SUCCEEDED', 'FAILED', 'CANCELLED'];

/** Finds them by their own status, alone and with the webhook, by no other status, and by id. */
async function expectFoundBy(status: string, webhookId: string, deliveries: Shown[]): Promise<void> {
  const ids = deliveries.map(({ deliveryId }) => deliveryId);
  expect((await list(`status=${status}&webhookId=${webhookId}`)).map((one) => one.deliveryId)).toEqual(ids);
  expect((await list(`status=${status}`)).map((one) => one.deliveryId)).toEqual(expect.arrayContaining(ids));
  for (const other of statuses.filter((one) => one !== status))
    for (const { deliveryId } of await list(`status=${other}&webhookId=${webhookId}`))
      expect(ids).not.toContain(deliveryId);
  for (const shown of deliveries) {
    const { data } = await account.call(`/v1/deliveries/${shown.deliveryId}`);
    expect(data).toMatchObject(shown);
  }
}

const waiting = { heldBy: null, nextProbeAt: null, reason: null, completedAt: null };

describe('the log of owed deliveries', () => {
  test('an attempt under way is SENDING: it counts, but is not the last attempt yet', async () => {
    const sent = await newHook();
    sent.receiver.reply = () => undefined; // no response at all
    const { webhookId } = sent;
    await placeCreated();
    const sending = await untilShown(webhookId, 'SENDING');
    expect(sending[0]).toMatchObject({ ...waiting, attemptCount: 1, lastAttempt: null });
    await expectFoundBy('SENDING', webhookId, sending);
    sent.receiver.reply = () => ({});
    await sent.close();
  });

  test('after a failure it is PENDING until the next attempt, and shows the previous attempt', async () => {
    const failing = await newHook();
    failing.response.status = 503;
    const { webhookId } = failing;
    await untilFailed(await orderDelivered(account, webhookId));
    const pending = await untilShown(webhookId, 'PENDING');
    expect(pending[0]).toMatchObject({
      ...waiting,
      attemptCount: 2,
      lastAttempt: {
        startedAt: expect.stringMatching(offsetForm),
        durationMs: expect.any(Number),
        statusCode: 503,
        errorCode: 'HTTP_STATUS',
      },
      nextAttemptAt: expect.stringMatching(offsetForm),
    });
    const inMs = Date.parse(pending[0]!.nextAttemptAt as string) - Date.now();
    expect(inMs).toBeGreaterThan(50 * 60_000);
    expect(inMs).toBeLessThan(67 * 60_000);
    await expectFoundBy('PENDING', webhookId, pending);
    const found = (query: string) => list(`webhookId=${webhookId}&${query}`);
    expect(await found('statusCode=503')).toEqual(pending);
    expect(await found('errorCode=HTTP_STATUS&status=PENDING')).toEqual(pending);
    expect(await found('statusCode=500')).toEqual([]);
    await failing.close();
  });

  test('it is HELD by its TURN behind an earlier state, by an open CIRCUIT, by a pause, and after a 410', async () => {
    const failing = await newHook();
    failing.response.status = 503;
    const { webhookId } = failing;
    const trackingId = await placeCreated();
    const [first] = await untilShown(webhookId, 'PENDING');
    await untilFailed(first!.deliveryId);
    await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } });
    const behind = await untilShown(webhookId, 'HELD');
    const none = { nextProbeAt: null, attemptCount: 0, lastAttempt: null, nextAttemptAt: null };
    expect(behind[0]).toMatchObject({ ...none, state: 'PICKED_UP', heldBy: 'TURN' });
    await expectFoundBy('HELD', webhookId, behind);

    await service.sql(
      `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, open_until, open_wait, times_opened)
       values ($1, now(), 10, 10, now(), '2099-01-01T00:00:00Z', '100 years', 1)
       on conflict (webhook_id) do update set open_until = excluded.open_until, open_wait = excluded.open_wait`,
      [webhookId],
    );
    await placeCreated();
    const [stopped, ...others] = await untilShown(webhookId, 'HELD', 2);
    expect(stopped).toMatchObject({ ...none, heldBy: 'CIRCUIT', nextProbeAt: '2099-01-01T00:00:00+00:00' });
    await expectFoundBy('HELD', webhookId, [stopped!, ...others]);
    await untilShown(webhookId, 'PENDING'); // the failed one is retried in an hour, whatever the circuit does

    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
    const paused = await untilShown(webhookId, 'HELD', 2);
    for (const one of paused) expect(one).toMatchObject({ ...none, heldBy: 'PAUSED' });
    await expectFoundBy('HELD', webhookId, paused);

    await service.sql('delete from circuits where webhook_id = $1', [webhookId]);
    failing.response.status = 410;
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    const disabled = await untilFound(async () => {
      const held = await untilShown(webhookId, 'HELD', 2);
      return held.every(({ heldBy }) => heldBy === 'DISABLED') && held;
    });
    await expectFoundBy('HELD', webhookId, disabled);
    await failing.close();
  });
});
