import { beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, type Account } from '../../support/client.js';
import { startHook, untilFound } from '../../support/deliveries.js';
import { addMissedEvents, replayCalls } from '../../support/replays.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';

let service: SharedService;
let account: Account;
beforeAll(async () => {
  service = await sharedService('impatient');
});

const { lastHour, replay, progressOf, untilOver } = replayCalls(
  () => service,
  () => account,
);
const cancel = (replayId: unknown) =>
  account.call(`/v1/replays/${String(replayId)}/cancel`, { method: 'POST' });

test('all replays of a webhook together owe at most 6,000 deliveries, whatever those wait for', async () => {
  account = await registerAccount(service);
  const missed = 6_100;
  await addMissedEvents(service, account.shipperId, missed);
  const hook = await startHook(account, { interests: ['*'], status: 'PAUSED' });
  const owed = async () => {
    const [row] = await service.sql<{ n: number }>(
      'select count(*)::int as n from outbox where webhook_id = $1',
      [hook.webhookId],
    );
    return row!.n;
  };
  /** They have added some, and pause until the next check. */
  const untilTheyRest = async () => {
    await untilFound(async () => (await owed()) >= 3_001);
    for (let n = 0; n < 15; n += 1, await sleep(100)) expect(await owed()).toBeLessThanOrEqual(6_000);
  };
  const replayIds: string[] = [];
  for (let n = 0; n < 6; n += 1) replayIds.push((await replay(hook.webhookId)).data.replayId as string);
  await untilTheyRest();
  for (const replayId of replayIds)
    expect(await progressOf(replayId)).toMatchObject({
      status: 'RUNNING',
      done: 0,
      total: expect.any(Number),
    });
  const last = replayIds.pop();
  for (const { data } of await Promise.all(replayIds.map(cancel)))
    expect(data).toMatchObject({ status: 'CANCELLED', done: 0 });
  const owedByLast = () => service.sql('select 1 from outbox where replay_id = $1 limit 1', [last]);
  await untilFound(async () => (await owedByLast()).length > 0);
  await cancel(last);
  await hook.close();
}, 90_000);

test('a replay of 10,000 or more events counts them as it proceeds', async () => {
  account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['LOST'] });
  await addMissedEvents(service, account.shipperId, 9_999);
  const few = await replay(hook.webhookId);
  expect(few.data).toMatchObject({ queued: 0, reason: 'NO_INTEREST' });
  await addMissedEvents(service, account.shipperId, 1, 9_999);
  const many = await replay(hook.webhookId);
  expect(many).toMatchObject({ httpStatus: 202, data: { queued: null, reason: null } });
  expect(await untilOver(many.data.replayId)).toMatchObject({ status: 'DONE', done: 0, total: 0 });
  await hook.close();
});

test('at most twenty replays of a shipper search for deliveries', async () => {
  account = await registerAccount(service);
  const hooks = [await startHook(account), await startHook(account), await startHook(account)];
  const another = await registerAccount(service, 'another@example.com');
  const theirs = await startHook(another);
  for (const { webhookId } of hooks.slice(0, 2))
    await service.sql(
      `insert into replays (replay_id, webhook_id, shipper_id, last_event_id, end_event_id, next_at)
       select gen_random_uuid(), $1, $2, uuid_floor(now()), uuid_floor(now()), 'infinity' from generate_series(1, 10)`,
      [webhookId, account.shipperId],
    );
  expect((await replay(hooks[2]!.webhookId)).httpStatus).toBe(409);
  expect((await replay(theirs.webhookId, lastHour(), another)).httpStatus).toBe(202);
  await service.sql(`update replays set walked_at = now() where webhook_id = $1`, [hooks[0]!.webhookId]);
  expect((await replay(hooks[2]!.webhookId)).httpStatus).toBe(202);
  await Promise.all([...hooks, theirs].map((hook) => hook.close()));
});

test('a replay whose count times out is still recorded', async () => {
  account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['*'] });
  await addMissedEvents(service, account.shipperId, 30);
  const [{ definition } = { definition: '' }] = await service.sql<{ definition: string }>(
    `select pg_get_functiondef('delivery_id'::regproc) as definition`,
  );
  await service.sql(
    `create or replace function delivery_id(event_id uuid, webhook_id uuid) returns uuid language plpgsql immutable as $$
     begin
       perform pg_sleep(0.05);
       return overlay(md5(event_id::text || webhook_id::text)
                placing left(replace(event_id::text, '-', ''), 16) || '8' from 1 for 17)::uuid;
     end $$`,
  );
  const { httpStatus, data } = await replay(hook.webhookId);
  const progress = await progressOf(data.replayId);
  await service.sql(definition);
  expect(httpStatus).toBe(202);
  expect(data).toMatchObject({ queued: null, reason: null });
  expect(progress).toMatchObject({ status: 'RUNNING', total: null });
  await hook.close();
});
