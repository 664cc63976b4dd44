import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectSuccess } from '../../support/expect.js';
import { operator, placeOrder, registerAccount, type Account } from '../../support/client.js';
import type { Received } from '../../support/receiver.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { inSequence, until } from '../../support/until.js';
import { placeOrders, trackingIdOf } from '../../support/load.js';
import { deliveriesOf, orderDelivered, startHook, type Hook } from '../../support/deliveries.js';

/** A request that arrives this soon after a response was sent before it, allowing for loopback and two event loops. */
const transitMs = 25;

let service: SharedService;
/** Its notifications prove that work has continued since. */
let witness: Account;
let witnessHook: Hook;
const hooks: Hook[] = [];

beforeAll(async () => {
  service = await sharedService('impatient');
  witness = await registerAccount(service, 'witness@example.com');
  witnessHook = await hookOf(witness);
});
afterAll(() => Promise.all(hooks.map(({ receiver }) => receiver.close())));

const hookOf = async (account: Account) => {
  const hook = await startHook(account);
  hooks.push(hook);
  return hook;
};
async function newShipper(name: string) {
  const account = await registerAccount(service, `${name}@example.com`);
  const hook = await hookOf(account);
  const path = `/shippers/${account.shipperId}`;
  const set = async (status: 'SUSPENDED' | 'ACTIVE') => {
    expectSuccess(await operator(service, path, { method: 'PATCH', body: { status } }), 200);
    return Date.now();
  };
  const startedAfter = (moment: number) =>
    hook.receiver.received.filter(({ at }) => at > moment + transitMs).length;
  const distinct = () => new Set(hook.receiver.received.map(({ headers }) => headers['webhook-id'])).size;
  return { account, hook, path, set, startedAfter, distinct };
}
/** An order of the witness, possibly with others in between: resolves when it is delivered and recorded. */
const untilWitnessed = async () => {
  const trackingId = await placeOrder(witness);
  const ofIt = (request: Received) => trackingIdOf(request) === trackingId;
  const [sent] = await witnessHook.receiver.waitFor(1, ofIt);
  const eventId = sent!.headers['webhook-id'];
  await until('the log shows it', async () =>
    (await deliveriesOf(witness, witnessHook.webhookId)).some(
      (delivery) => delivery.eventId === eventId && delivery.status === 'SUCCEEDED',
    ),
  );
};
const send = (trackingId: string, state: string) =>
  operator(service, `/shipments/${trackingId}/events`, { body: { state } });
const insertReplay = async ({ shipperId }: Account, webhookId: string) =>
  (
    await service.sql<{ replay_id: string }>(
      `insert into replays (replay_id, webhook_id, shipper_id, last_event_id, end_event_id, total)
       values (gen_random_uuid(), $1, $2, uuid_floor(now() - interval '1 h'), uuid_floor(now() + interval '1 h'), 0)
       returning replay_id`,
      [webhookId, shipperId],
    )
  )[0]!.replay_id;
const insertRedelivery = async ({ shipperId }: Account, webhookId: string) =>
  service.sql(
    `insert into redeliveries (delivery_id, shipper_id, webhook_id)
     select delivery_id, shipper_id, webhook_id from deliveries where webhook_id = $1 and shipper_id = $2 limit 1`,
    [webhookId, shipperId],
  );
const replayIs = async (replayId: string) =>
  (await service.sql<{ status: string }>('select status from replays where replay_id = $1', [replayId]))[0]
    ?.status; // unknown for a shipper whose data is gone
const asked = (webhookId: string) =>
  service.sql('select 1 from redeliveries where webhook_id = $1', [webhookId]);

const sequential = inSequence(); // both have a backlog

test.concurrent(
  'a shipper suspended with a backlog: nothing starts after the response; resumed, everything is sent',
  sequential(async () => {
    const { account, hook, set, startedAfter, distinct } = await newShipper('backlog');
    hook.response.delayMs = 300;
    const orders = await placeOrders(account, 40);
    await hook.receiver.waitFor(5);
    const suspendedAt = await set('SUSPENDED');
    expect((await send(orders[0]!, 'PICKED_UP')).httpStatus).toBe(202);
    for (let order = 0; order < 3; order += 1) await untilWitnessed();
    expect(startedAfter(suspendedAt)).toBe(0);
    expect(distinct()).toBeLessThan(41);
    hook.response.delayMs = 0;
    await set('ACTIVE');
    await until('all sent', () => distinct() === 41);
  }),
);

test.concurrent('a held delivery shows SUSPENDED in the log, whatever else holds it', async () => {
  const { account, hook, set, distinct } = await newShipper('held');
  const trackingId = await placeOrder(account);
  await hook.receiver.waitFor(1);
  const pause = (status: string) =>
    account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status } });
  const heldBy = async () =>
    (await deliveriesOf(account, hook.webhookId)).map(
      (delivery) => (delivery as unknown as { heldBy: string | null }).heldBy,
    );
  const look = (status: string) =>
    service.sql('update shippers set status = $2 where shipper_id = $1', [account.shipperId, status]);
  await pause('PAUSED');
  await set('SUSPENDED');
  await send(trackingId, 'PICKED_UP');
  await look('ACTIVE'); // its own requests are refused; its webhooks stay as they are
  expect(await heldBy()).toEqual(['SUSPENDED', null]);
  await look('SUSPENDED');
  await set('ACTIVE');
  expect(await heldBy()).toEqual(['PAUSED', null]);
  await pause('ACTIVE');
  await until('sent', () => distinct() === 2);
});

test.concurrent(
  'while a shipper is suspended no redelivery and no replay is sent; a replay continues after the resume',
  async () => {
    const { account, hook, set, startedAfter, distinct } = await newShipper('resumed');
    await placeOrders(account, 3);
    await until('sent', () => distinct() === 3);
    await until('in the log', async () =>
      (await deliveriesOf(account, hook.webhookId)).every(({ status }) => status === 'SUCCEEDED'),
    );
    const late = await hookOf(account);
    await untilWitnessed();
    const suspendedAt = await set('SUSPENDED');
    // As if another process that does not know yet had accepted them.
    await insertRedelivery(account, hook.webhookId);
    const replayId = await insertReplay(account, late.webhookId);
    await insertRedelivery(witness, witnessHook.webhookId);
    const witnessed = await insertReplay(witness, witnessHook.webhookId);
    await until('the witness', async () => {
      const [one, others] = [await asked(hook.webhookId), await asked(witnessHook.webhookId)];
      return one.length + others.length === 0 && (await replayIs(witnessed)) === 'DONE';
    });
    expect(startedAfter(suspendedAt)).toBe(0);
    expect(late.receiver.received).toEqual([]);
    expect(await replayIs(replayId)).toBe('RUNNING');
    await set('ACTIVE');
    await late.receiver.waitFor(3);
    await until('the replay is over', async () => (await replayIs(replayId)) === 'DONE');
  },
);

test.concurrent('a webhook that failed for long before starts afresh after the resume', async () => {
  const { account, hook, set, distinct } = await newShipper('failing');
  await orderDelivered(account, hook.webhookId);
  await service.sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, open_until)
     values ($1, now(), 1, 1, now() - interval '4 days', now() + interval '1 h')
     on conflict (webhook_id) do update set failing_since = excluded.failing_since, open_until = excluded.open_until`,
    [hook.webhookId],
  );
  await set('SUSPENDED');
  await service.sql(`update circuits set failing_since = now() - interval '9 days' where webhook_id = $1`, [
    hook.webhookId,
  ]);
  await untilWitnessed();
  await set('ACTIVE');
  await placeOrder(account);
  await until('sent', () => distinct() === 2);
  const { data } = await account.call(`/v1/webhooks/${hook.webhookId}`);
  expect(data).toMatchObject({ status: 'ACTIVE', health: { circuit: 'CLOSED' } });
});

test.concurrent(
  'a shipper removed with a backlog: nothing starts after the response, and nothing is owed any more',
  sequential(async () => {
    const { account, hook, path, startedAfter } = await newShipper('removed');
    hook.response.delayMs = 300;
    await placeOrders(account, 40);
    await hook.receiver.waitFor(5);
    const replayId = await insertReplay(account, hook.webhookId);
    expect((await operator(service, path, { method: 'DELETE' })).httpStatus).toBe(202);
    const removedAt = Date.now();
    await until('nothing owed', async () => {
      const rows = await service.sql('select 1 from outbox where shipper_id = $1 limit 1', [
        account.shipperId,
      ]);
      return rows.length === 0;
    });
    await until('no replay', async () => (await replayIs(replayId)) !== 'RUNNING');
    await untilWitnessed();
    expect(startedAfter(removedAt)).toBe(0);
  }),
);
