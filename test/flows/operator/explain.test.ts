import { beforeAll, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, type Account } from '../../support/client.js';
import { operatorToken } from '../../support/harness.js';
import { runProgram } from '../../support/program.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { deliveriesOf, startHook, untilFound, type Hook } from '../../support/deliveries.js';

let service: SharedService;
let account: Account;

beforeAll(async () => {
  service = await sharedService('impatient');
  account = await registerAccount(service);
});

const explained = async (deliveryId: string) => {
  const response = await operator(service, `/deliveries/${deliveryId}/explanation`);
  expect(response.httpStatus).toBe(200);
  return response.data;
};

const deliveryOf = (hook: Hook, state: string, status: string) =>
  untilFound(async () =>
    (await deliveriesOf(account, hook.webhookId)).find((one) => one.state === state && one.status === status),
  );

const cli = (...words: string[]) =>
  runProgram(['operator', 'explain', ...words, '--url', service.url, '--token', operatorToken]);

test('a paused webhook is named, as text and as JSON, without its address or payload', async () => {
  const hook = await startHook(account, { status: 'PAUSED' });
  await placeOrder(account);
  const { deliveryId } = await deliveryOf(hook, 'CREATED', 'HELD');
  const words = await cli('--delivery', deliveryId);
  expect(words).toMatchObject({ exit: 0, stderr: '' });
  expect(words.stdout).toMatch(
    /^Its webhook is paused\.\nNext: It continues when the shipper sets the webhook/,
  );
  expect(words.stdout).toMatch(/^Waits for\n {2}reason\n {2}PAUSED$/m);
  const json = await cli('--delivery', deliveryId.toUpperCase(), '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    deliveryId,
    shipperId: account.shipperId,
    webhookId: hook.webhookId,
    place: 'OUTBOX',
    status: 'READY',
    waitsFor: [{ reason: 'PAUSED', until: null }],
    claim: null,
  });
  for (const text of [words.stdout, json.stdout]) {
    for (const hidden of [new URL(hook.receiver.url).host, hook.secret, 'Ana', 'Reforma'])
      expect(text).not.toContain(hidden);
  }
  await hook.close();
});

test('a retry is explained with its time, and the next state with the state it waits for', async () => {
  const hook = await startHook(account);
  Object.assign(hook.response, { status: 500, headers: { 'retry-after': '3600' } });
  const trackingId = await placeOrder(account);
  const failed = await deliveryOf(hook, 'CREATED', 'PENDING');
  await untilFound(async () => (await explained(failed.deliveryId)).status === 'RETRY');
  const first = await explained(failed.deliveryId);
  expect(first).toMatchObject({
    attemptCount: 1,
    failureCount: 1,
    waitsFor: [{ reason: 'RETRY', until: first.dueAt }],
  });
  expect(Date.parse(first.dueAt as string)).toBeGreaterThan(Date.now() + 1_800_000);
  const words = await cli('--delivery', failed.deliveryId);
  expect(words.stdout).toMatch(/^Retrying 1\/4\. It waits for its next attempt at /);
  await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } });
  const second = await explained((await deliveryOf(hook, 'PICKED_UP', 'HELD')).deliveryId);
  expect(second).toMatchObject({
    waitsFor: [{ reason: 'TURN', until: expect.any(String) }],
    behind: { deliveryId: failed.deliveryId, eventId: first.eventId, sequence: 1, status: 'RETRY' },
  });
  await hook.close();
});

test('an open circuit is explained with its end, and later with a due probe', async () => {
  const hook = await startHook(account, { status: 'PAUSED' });
  await placeOrder(account);
  const { deliveryId } = await deliveryOf(hook, 'CREATED', 'HELD');
  const open = (until: string) =>
    service.sql(
      `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, open_until, times_opened)
       values ($1, now(), 9, 9, now(), now() + $2::interval, 1)
       on conflict (webhook_id) do update set open_until = excluded.open_until`,
      [hook.webhookId, until],
    );
  await open('1 hour');
  const explanation = await explained(deliveryId);
  expect(explanation.waitsFor).toEqual([
    { reason: 'PAUSED', until: null },
    { reason: 'CIRCUIT', until: expect.any(String) },
  ]);
  expect(explanation.why).toContain('The circuit of its webhook is open until');
  await open('-1 second');
  expect((await explained(deliveryId)).why).toContain('a probe has been due since');
  await hook.close();
});

test('an attempt under way is explained with its number and lease, and then as finished', async () => {
  const hook = await startHook(account);
  hook.response.delayMs = 1_500;
  await placeOrder(account);
  const { deliveryId } = await deliveryOf(hook, 'CREATED', 'SENDING');
  const explanation = await explained(deliveryId);
  expect(explanation).toMatchObject({
    place: 'OUTBOX',
    status: 'SENDING',
    waitsFor: [],
    claim: { attempt: 1, isByHand: false, hasLapsed: false },
  });
  expect(Date.parse(explanation.claim.leaseUntil as string)).toBeGreaterThan(
    Date.parse(explanation.asOf as string),
  );
  await deliveryOf(hook, 'CREATED', 'SUCCEEDED');
  expect(await explained(deliveryId)).toMatchObject({
    place: 'LOG',
    status: 'SUCCEEDED',
    waitsFor: [],
    claim: null,
    completedAt: expect.any(String),
  });
  await hook.close();
});

test('an event missed by a parked webhook has no row, and is still explained', async () => {
  const hook = await startHook(account, { status: 'PAUSED' });
  await service.sql(
    `insert into replays (replay_id, webhook_id, shipper_id, kind, last_position, last_event_id, end_event_id)
     values (gen_random_uuid(), $1, $2, 'PARKED', feed_position(), uuid_floor('epoch'),
             'ffffffff-ffff-ffff-ffff-ffffffffffff')`,
    [hook.webhookId, account.shipperId],
  );
  const trackingId = await placeOrder(account);
  const { delivery_id: deliveryId } = await untilFound(async () => {
    const rows = await service.sql<{ delivery_id: string }>(
      `select delivery_id(event_id, $2) from events join shipments using (shipment_id) where tracking_id = $1`,
      [trackingId, hook.webhookId],
    );
    return rows[0];
  });
  const explanation = await explained(deliveryId);
  expect(explanation).toMatchObject({
    place: 'NOWHERE',
    status: null,
    waitsFor: [{ reason: 'PAUSED' }, { reason: 'PARKED' }],
  });
  await hook.close();
});

test.each(['01990000-0000-7000-8000-000000000000', 'nonsense'])(
  'an unknown delivery id (%s) is refused with a message, on the command line with exit code 1',
  async (deliveryId) => {
    const response = await operator(service, `/deliveries/${deliveryId}/explanation`);
    expect(response).toMatchObject({
      httpStatus: 404,
      body: { status: 'NOT_FOUND', error: { message: 'This delivery was not found.' } },
    });
    const { exit, stdout, stderr } = await cli('--delivery', deliveryId);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain('This delivery was not found.');
  },
);

test('a delivery that waits for its receiver says how many are claimed, and how long responses take', async () => {
  const hook = await startHook(account);
  await placeOrder(account);
  await deliveryOf(hook, 'CREATED', 'SUCCEEDED');
  hook.response.delayMs = 2_000;
  await Promise.all(Array.from({ length: 60 }, () => placeOrder(account)));
  const told = await untilFound(async () => {
    const waiting = (await deliveriesOf(account, hook.webhookId)).filter(
      ({ status }) => status === 'PENDING',
    );
    for (const { deliveryId } of waiting.slice(0, 3)) {
      const { waitsFor, why } = await explained(deliveryId);
      if (waitsFor[0]?.reason === 'ROOM' && /took up to [\d.]+ s/.test(why as string)) return why as string;
    }
    return undefined;
  });
  expect(Number(/Workers have claimed (\d+) deliveries of its webhook/.exec(told)![1])).toBeGreaterThan(0);
  hook.response.delayMs = 0;
  await hook.close();
});
