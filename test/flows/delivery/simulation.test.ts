import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { operator, placeOrder, registerAccount, type Account } from '../../support/client.js';
import {
  startProcess,
  startServiceToBreak,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { expectFailure, expectSuccess, expectWrong } from '../../support/expect.js';
import { accountAt, crashTraces } from '../../support/deployment.js';
import { until } from '../../support/until.js';
import { trackingIdOf, verifyAll } from '../../support/load.js';
import { startHook, type Hook } from '../../support/deliveries.js';

const it = test.concurrent;
const toTheEnd = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];
const slow = 3_600_000;

let service: Service;
let second: RunningProcess;
let accounts = 0;

beforeAll(async () => {
  service = await startServiceToBreak({ SIMULATE: 'true', TIME_SCALE: '0.5' });
  second = await startProcess(service.env, 'worker');
});
afterAll(async () => {
  if (second) await stopProcess(second);
  await service?.stop();
  expect(crashTraces(service.process.output())).toEqual([]);
});

const newAccount = () => registerAccount(service, `user${(accounts += 1)}@example.com`);
const simulate = (account: Account, trackingId: string, body?: object) =>
  account.call(`/v1/shipments/${trackingId}/simulate`, { method: 'POST', ...(body && { body }) });
const historyOf = async (account: Account, trackingId: string) =>
  (await account.call(`/v1/shipment-tracking/${trackingId}`)).data.history as {
    state: string;
    timestamp: number;
  }[];
const statesOf = async (account: Account, trackingId: string) =>
  (await historyOf(account, trackingId)).map(({ state }) => state);
const untilStates = (account: Account, trackingId: string, count: number) =>
  until(`${count} states`, async () => (await statesOf(account, trackingId)).length >= count, 30_000);
const underWay = ({ shipperId }: Account) =>
  service.sql('select * from simulations where shipper_id = $1', [shipperId]);
const statesSent = ({ receiver }: Hook, trackingId: string) =>
  receiver.received
    .filter((one) => trackingIdOf(one) === trackingId)
    .map(({ notification }) => notification.state);
async function scene() {
  const account = await newAccount();
  const hook = await startHook(account);
  return { account, hook, trackingId: await placeOrder(account) };
}

const journey = ['PICKED_UP', ...Array<string>(6).fill('IN_TRANSIT'), 'OUT_FOR_DELIVERY', 'DELIVERED'];

it('a simulation with two workers records every state once, whichever is faster', async () => {
  const account = await newAccount();
  const trackingIds = await Promise.all(Array.from({ length: 20 }, () => placeOrder(account)));
  for (const trackingId of trackingIds)
    expectSuccess(await simulate(account, trackingId, { states: journey, intervalMs: 100 }), 202);
  await until('all have ended', async () => (await underWay(account)).length === 0, 60_000);
  for (const trackingId of trackingIds)
    expect(await statesOf(account, trackingId)).toEqual(['CREATED', ...journey]);
});

it('a simulation pauses while its shipper is suspended, continues when it is resumed, and ends with it', async () => {
  const { account, hook, trackingId } = await scene();
  const witness = await scene();
  const path = `/shippers/${account.shipperId}`;
  const set = (status: string) => operator(service, path, { method: 'PATCH', body: { status } });
  await simulate(account, trackingId, { intervalMs: 400 });
  await hook.receiver.waitFor(2);
  expectSuccess(await set('SUSPENDED'), 200);
  const before = await service.sql('select state from events where shipper_id = $1', [account.shipperId]);
  await simulate(witness.account, witness.trackingId, { intervalMs: 400 });
  await witness.hook.receiver.waitFor(5);
  expect(await service.sql('select state from events where shipper_id = $1', [account.shipperId])).toEqual(
    before,
  );
  expectSuccess(await set('ACTIVE'), 200);
  await hook.receiver.waitFor(5);
  expect(statesSent(hook, trackingId)).toEqual(['CREATED', ...toTheEnd]);
  const times = (
    await service.sql<{ ms: string }>(
      `select extract(epoch from recorded_at) * 1000 as ms from events where shipper_id = $1 order by sequence`,
      [account.shipperId],
    )
  ).map(({ ms }) => Number(ms));
  // Overdue steps do not all come at once.
  expect(times.at(-1)! - times.at(-2)!).toBeGreaterThanOrEqual(390);
  await Promise.all([hook.close(), witness.hook.close()]);
});

it('a simulation takes an order just accepted to DELIVERED, and webhooks get every state in order', async () => {
  const { account, hook, trackingId } = await scene();
  const response = await simulate(account, trackingId, { intervalMs: 300 });
  expectSuccess(response, 202);
  expect(response.data).toEqual({ states: toTheEnd, intervalMs: 300 });
  await hook.receiver.waitFor(5);
  expect(statesSent(hook, trackingId)).toEqual(['CREATED', ...toTheEnd]);
  verifyAll(hook.receiver.received, hook.secret);
  const times = (await historyOf(account, trackingId)).map(({ timestamp }) => timestamp);
  for (let n = 2; n < times.length; n += 1) expect(times[n]! - times[n - 1]!).toBeGreaterThanOrEqual(290);
  expect(await underWay(account)).toEqual([]);
  await hook.close();
});

it('a simulation goes through the requested states, from the current state of the shipment', async () => {
  const { account, hook, trackingId } = await scene();
  const states = ['PICKED_UP', 'IN_TRANSIT', 'IN_TRANSIT', 'RETURNING', 'RETURNED'];
  expect((await simulate(account, trackingId, { states, intervalMs: 100 })).data).toEqual({
    states,
    intervalMs: 100,
  });
  await hook.receiver.waitFor(6);
  expect(statesSent(hook, trackingId)).toEqual(['CREATED', ...states]);
  const over = await simulate(account, trackingId);
  expectFailure(over, 409);
  expect(over.body.error.message).toMatch(/RETURNED to DELIVERED; nothing follows RETURNED/);
  await hook.close();
});

it('a simulation without a body leads to DELIVERED, a state a second; a second simulation meanwhile returns 409', async () => {
  const account = await newAccount();
  const trackingId = await placeOrder(account);
  expect((await simulate(account, trackingId)).data).toEqual({ states: toTheEnd, intervalMs: 1_000 });
  const again = await simulate(account, trackingId, { states: ['LOST'] });
  expectFailure(again, 409);
  expect(again.body.error.message).toMatch(/under way/);
});

it('a simulation records its first state at once, however long the interval', async () => {
  const account = await newAccount();
  const trackingId = await placeOrder(account);
  expectSuccess(await simulate(account, trackingId, { intervalMs: slow }), 202);
  await until('the step is counted', async () => (await underWay(account))[0]!.step === 1);
  expect(await statesOf(account, trackingId)).toEqual(['CREATED', 'PICKED_UP']);
});

it('a simulation with invalid input returns 400 naming each field and the known states', async () => {
  const account = await newAccount();
  const trackingId = await placeOrder(account);
  const wrong = await simulate(account, trackingId, { states: ['PICKED_UP', 'FLYING'], intervalMs: 99 });
  expectWrong(wrong, ['states[1]', 'intervalMs']);
  expect(wrong.body.error.details![0]!.message).toMatch(/must be one of CREATED, .*LOST/);
  expect(wrong.body.error.details![1]!.message).toBe('must be at least 100');
  for (const intervalMs of [1.5, '1s', slow + 1, null])
    expectWrong(await simulate(account, trackingId, { intervalMs }), ['intervalMs']);
  for (const states of [[], Array(51).fill('IN_TRANSIT'), 'PICKED_UP'])
    expectWrong(await simulate(account, trackingId, { states }), ['states']);
  expectFailure(await simulate(account, 'PH1'), 404);
  expectFailure(await simulate(account, '%00'), 404);
});

it('a simulation ends if the operator moves the shipment to another state', async () => {
  const { account, hook, trackingId } = await scene();
  await simulate(account, trackingId, { intervalMs: slow });
  await hook.receiver.waitFor(2);
  await until('the step is counted', async () => (await underWay(account))[0]!.step === 1);
  await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'LOST' } });
  // Only now its next state is due, however busy the machine is.
  await service.sql('update simulations set next_at = now() where shipper_id = $1', [account.shipperId]);
  await until('the simulation has ended', async () => (await underWay(account)).length === 0);
  expect(await statesOf(account, trackingId)).toEqual(['CREATED', 'PICKED_UP', 'LOST']);
  await hook.close();
});

it('a simulation is limited to a hundred per shipper', async () => {
  const account = await newAccount();
  await service.sql(
    `insert into simulations (shipment_id, shipper_id, simulation_id, states, interval_ms, next_at)
     select gen_random_uuid(), $1, gen_random_uuid(), '{LOST}', 1000, now() + interval '1 hour'
       from generate_series(1, 98)`,
    [account.shipperId],
  );
  const trackingIds = await Promise.all(Array.from({ length: 5 }, () => placeOrder(account)));
  const begin = (trackingId: string) => simulate(account, trackingId, { intervalMs: slow });
  const responses = await Promise.all(trackingIds.map(begin));
  expect(responses.filter(({ httpStatus }) => httpStatus === 202).length).toBeLessThanOrEqual(2);
  for (const trackingId of trackingIds) await begin(trackingId); // those with a Retry-After
  expect(await underWay(account)).toHaveLength(100);
  const refused = await begin(await placeOrder(account));
  expectFailure(refused, 429);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  await service.sql('delete from simulations where shipper_id = $1', [account.shipperId]);
});

test('a simulation is limited to a thousand requests an hour per shipper; other shippers are not affected', async () => {
  const { account, trackingId, hook } = await scene();
  expectSuccess(await simulate(account, trackingId, { intervalMs: slow }), 202);
  let left = 1_000 - 1;
  const askAgain = async () => {
    while ((left -= 1) >= 0) expectFailure(await simulate(account, trackingId), 409);
  };
  await Promise.all(Array.from({ length: 3 }, askAgain));
  const refused = await simulate(account, trackingId);
  expectFailure(refused, 429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_500);
  const other = await scene();
  expectSuccess(await simulate(other.account, other.trackingId), 202);
  await Promise.all([hook.close(), other.hook.close()]);
}, 120_000);

// The last test, because it kills both processes.
test('a simulation records a state once if its worker was killed before counting it', async () => {
  const { account, hook, trackingId } = await scene();
  await until('created', async () => (await statesOf(account, trackingId)).length === 1);
  await simulate(account, trackingId, { states: journey, intervalMs: 500 });
  const blocker = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await blocker.connect();
  await untilStates(account, trackingId, 3);
  const lock = 'begin; lock table simulations in share mode'; // steps can be recorded, but not counted
  await blocker.query(lock);
  const counted = (await underWay(account))[0]!.step as number;
  await untilStates(account, trackingId, counted + 2); // CREATED and one more
  expect((await underWay(account))[0]!.step).toBe(counted);
  for (const killed of [service.process, second]) {
    killed.kill('SIGKILL');
    await killed.exited;
  }
  await blocker.query('rollback');
  await blocker.query('update simulations set interval_ms = 50'); // finishes the rest quickly
  await blocker.end();
  service.process = await startProcess(service.env);
  await until('the simulation has ended', async () => (await underWay(account)).length === 0, 60_000);
  expect(await statesOf(accountAt(account, service.process), trackingId)).toEqual(['CREATED', ...journey]);
  await until(
    'all are delivered',
    () => new Set(hook.receiver.received.map(({ headers }) => headers['webhook-id'])).size === 10,
  );
  await hook.receiver.close();
});
