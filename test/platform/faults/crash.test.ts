import { describe, expect, test } from '@jest/globals';
import { registerAccount, registerWebhook } from '../../support/client.js';
import {
  backends,
  startProcess,
  startServiceToBreak,
  stopProcess,
  type Service,
} from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { expectCountsMatchLog } from '../../support/outbox.js';
import { heardOf, placeOrders, repeated, verifyAll } from '../../support/load.js';
import { until } from '../../support/until.js';
import { untilAllAre } from '../../support/deliveries.js';

/** Runs concurrently with the others. */
const withService =
  (start: () => Promise<Service>, run: (service: Service, receiver: Receiver) => Promise<void>) =>
  async () => {
    const receiver = await startReceiver();
    const service = await start();
    try {
      await run(service, receiver);
    } finally {
      await service.stop();
      await receiver.close();
    }
  };

describe('after a kill -9', () => {
  const few = 10;
  const fast = {
    DELIVERY_CONCURRENCY: String(few),
    RETRY_SCHEDULE: '500ms,1s,1s,1s',
    TIME_SCALE: '0.3', // shortens the leases of attempts in flight
  };
  test.concurrent(
    'a new process delivers every order the old one had accepted',
    withService(
      () => startServiceToBreak(fast),
      async (service, receiver) => {
        const account = await registerAccount(service);
        // Every second one of the first thirty fails: slow, but not enough to open the circuit.
        let count = 0;
        receiver.reply = () => ({
          status: count++ < 30 && count % 2 === 0 ? 500 : 200,
          delayMs: 200,
        });
        const { webhookId, secret } = await registerWebhook(account, receiver.url);

        const accepted = await placeOrders(account, 60);
        await receiver.waitFor(20);
        accepted.push(...(await placeOrders(account, 20)));
        service.process.kill('SIGKILL');
        await service.process.exited;
        const killedAt = Date.now();
        const { sql } = service;
        const [{ open }] = (await sql<{ open: number }>(
          `select (select count(*) from shipments)::int
            - (select count(*) from deliveries where status = 'SUCCEEDED')::int as open`,
        )) as [{ open: number }];
        expect(open).toBeGreaterThan(20);

        service.process = await startProcess(service.env);
        const { received } = receiver;
        await until('all notifications', () => heardOf(received, accepted) === accepted.length, 20_000);
        await untilAllAre(service, webhookId, 'SUCCEEDED', accepted.length, 20_000);
        console.info(`recovered ${Date.now() - killedAt} ms after kill -9 of everything`);

        verifyAll(received, secret);
        await expectCountsMatchLog(service);
        // Each of the 15 failures is one more request; all other duplicates were in flight.
        expect(repeated(received) - 15).toBeLessThanOrEqual(few);
        expect(
          await sql('select distinct state from shipments left join shipment_progress using (shipment_id)'),
        ).toEqual([{ state: 'CREATED' }]);
      },
    ),
  );

  const inFlight = 20;
  const slow = { DELIVERY_CONCURRENCY: String(inFlight), DELIVERY_TIMEOUT: '50s', SHUTDOWN_TIMEOUT: '50s' };
  test.concurrent.each(backends)(
    'deliveries in flight in one worker are delivered by the other within 20 s, with the queue on %s',
    (backend) => {
      const queue = backend === 'redis' && { REDIS_URL: process.env.TEST_REDIS_URL ?? '' };
      return withService(
        () => startServiceToBreak({ ...slow, ...queue }, 'api'),
        async (service, receiver) => {
          const [victim, other] = await Promise.all([
            startProcess(service.env, 'worker'),
            startProcess(service.env, 'worker'),
          ]);
          try {
            const account = await registerAccount(service);
            const responses: (() => void)[] = [];
            let hold = true;
            receiver.reply = (_, response) => (hold ? void responses.push(() => response.end('ok')) : {});
            const { webhookId, secret } = await registerWebhook(account, receiver.url);
            const accepted = await placeOrders(account, 2 * inFlight);
            await receiver.waitFor(5, undefined, 25_000); // one lane of one worker takes four: both have some
            hold = false;
            victim.kill('SIGKILL');
            await victim.exited;
            const killedAt = Date.now();
            for (const respond of responses) respond();
            await untilAllAre(service, webhookId, 'SUCCEEDED', accepted.length, 20_000);
            console.info(
              `${backend}: the other worker was through ${Date.now() - killedAt} ms after kill -9`,
            );
            const { received } = receiver;
            verifyAll(received, secret);
            expect(heardOf(received, accepted)).toBe(accepted.length);
            expect(repeated(received)).toBeGreaterThan(0);
            expect(repeated(received)).toBeLessThanOrEqual(inFlight);
            // Lost deliveries are in the log as `LOST` attempts; a few may not have reached the receiver.
            const lost = await service.sql(`select from attempts where error_code = 'LOST'`);
            expect(lost.length).toBeGreaterThanOrEqual(repeated(received));
            expect(lost.length).toBeLessThanOrEqual(inFlight);
            await expectCountsMatchLog(service);
          } finally {
            victim.kill('SIGKILL');
            await stopProcess(other);
          }
        },
      )();
    },
  );
});
