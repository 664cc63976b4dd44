import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectSuccess } from '../../support/expect.js';
import { operator, placeOrder, registerAccount } from '../../support/client.js';
import {
  startProcess,
  startServiceOfRole,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { poll, statesOf, untilWaiting } from '../../support/feed.js';

let service: Service;
let worker: RunningProcess;

beforeAll(async () => {
  service = await startServiceOfRole('api');
  worker = await startProcess(service.env, 'worker');
});
afterAll(async () => {
  if (worker) await stopProcess(worker);
  await service?.stop();
});

const least = async (times: number, measure: () => Promise<number>) => {
  const measured: number[] = [];
  for (let n = 0; n < times; n += 1) measured.push(await measure());
  return Math.min(...measured);
};

test('a waiting reader gets events of a worker half a second after the commit, and those of its process at once', async () => {
  const account = await registerAccount(service);
  let trackingId = '';
  const byWorker = await least(4, async () => {
    const polled = poll(account);
    await untilWaiting(service);
    trackingId = await placeOrder(account);
    const { response, at } = await polled;
    expect(statesOf(response)).toEqual(['CREATED']);
    return at - new Date(response.data.events[0].recordedAt as string).getTime();
  });
  expect(byWorker).toBeLessThan(500);
  const states = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'].values();
  const here = await least(4, async () => {
    const polled = poll(account, undefined, '20s');
    await untilWaiting(service);
    const state = states.next().value!;
    const sent = await operator(service, `/shipments/${trackingId}/events`, { body: { state } });
    const respondedAt = Date.now();
    expectSuccess(sent, 202);
    const { response, at } = await polled;
    expect(statesOf(response)).toEqual([state]);
    return at - respondedAt;
  });
  expect(here).toBeLessThan(100); // less than the polling interval
});

test('a wait ends within ten seconds when access ended on another process', async () => {
  const account = await registerAccount(service, 'another@example.com');
  const another = await startProcess(service.env, 'api');
  try {
    const polled = poll(account, undefined, '20s');
    await untilWaiting(service);
    const endedAt = Date.now();
    await operator(another, `/users/${account.userId}/sign-out`, { method: 'POST' });
    const { response, at } = await polled;
    expect(response.httpStatus).toBe(401);
    expect(at - endedAt).toBeLessThan(10_000);
  } finally {
    await stopProcess(another);
  }
});
