import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { figureOf, operator, placeOrder, registerAccount, sampleOrder } from '../../support/client.js';
import {
  operatorToken,
  startProcess,
  startServiceToBreak,
  stopProcess,
  type Service,
} from '../../support/harness.js';
import { startHook } from '../../support/deliveries.js';
import { until } from '../../support/until.js';
import { clockOptions } from '../../programs/chaos/world/clock.js';

let service: Service;

beforeAll(async () => {
  service = await startServiceToBreak({}, 'api');
});
afterAll(() => service?.stop());

/** Signs in the process, whose clock alone is wrong: a thread has its own. */
const startWrong = (offsetMs: number, role: string) =>
  startProcess({ ...service.env, CHAOS_CLOCK_MS: String(offsetMs), SEND_THREADS: '0' }, role, clockOptions);
const clocks = async () => (await operator(service, '/status')).data.clocks as object[];

test.each([
  [600, '600 s ahead of'],
  [-600, '600 s behind'],
])(
  'what a worker sends %d s ahead verifies, and its log, its readiness, its gauge and the status say that it is wrong',
  async (seconds, words) => {
    const account = await registerAccount(service);
    const hook = await startHook(account);
    const worker = await startWrong(seconds * 1_000, 'worker');
    await placeOrder(account);
    const [received] = await hook.receiver.waitFor(1);
    const verified = new Webhook(hook.secret).verify(
      received!.body,
      received!.headers as Record<string, string>,
    );
    const { timestamp } = verified as { timestamp: number };
    expect(Math.abs(timestamp - Date.now())).toBeLessThan(60_000); // the event, too
    const reason = `the clock of this machine is ${words} PostgreSQL's`;
    await until('it is logged', () => Promise.resolve(worker.output().includes(reason)));
    const headers = { authorization: `Bearer ${operatorToken}` };
    const readiness = await fetch(`${worker.url}/readyz`, { headers });
    expect(readiness.status).toBe(503);
    expect(await readiness.json()).toMatchObject({ checks: { clock: reason } });
    await until('the status shows it', async () => (await clocks()).length === 1);
    expect(await clocks()).toMatchObject([{ role: 'worker', aheadSeconds: seconds }]);
    expect(Math.round(await figureOf(worker, 'clock_ahead_seconds'))).toBe(seconds);
    const attempt = `select started_at from deliveries where webhook_id = $1`;
    await until('it is in the log', async () => (await service.sql(attempt, [hook.webhookId])).length === 1);
    const [logged] = await service.sql<{ started_at: Date }>(attempt, [hook.webhookId]);
    expect(Math.abs(logged!.started_at.getTime() - Date.now())).toBeLessThan(60_000);
    await stopProcess(worker);
    await service.sql('delete from wrong_clocks');
    await hook.close();
  },
);

test.each([-90_000, 90_000])(
  'an idempotency key counts by the clock of PostgreSQL at an api that is %d s ahead',
  async (seconds) => {
    const api = await startWrong(seconds * 1_000, 'api');
    const account = await registerAccount(api);
    const order = { body: sampleOrder(), headers: { 'idempotency-key': 'once' } };
    const [first, again] = [
      await account.call('/v1/shipments', order),
      await account.call('/v1/shipments', order),
    ];
    expect(first.httpStatus).toBe(201);
    expect(again.data.trackingId).toBe(first.data.trackingId);
    const ages = `select abs(extract(epoch from now() - k.created_at)) < 60 as key,
      abs(extract(epoch from now() - accepted_at)) < 60 as order
      from idempotency_keys k join shipments using (shipment_id) where k.shipper_id = $1`;
    expect(await service.sql(ages, [account.shipperId])).toEqual([{ key: true, order: true }]);
    await stopProcess(api);
  },
);
