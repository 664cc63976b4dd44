import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { operator, registerAccount, registerWebhook, type Account } from '../../support/client.js';
import {
  backends,
  startProcess,
  startService,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { crashTraces } from '../../support/deployment.js';
import { placeOrders, verifyAll } from '../../support/load.js';
import { until } from '../../support/until.js';
import { attemptsOf, firstArrivals, startJournal, type Behaviour, type Entry } from './journal.js';
import { deliveriesOf, untilDelivery, type LoggedDelivery } from '../../support/deliveries.js';
import { catalogue, scenario, type Scenario } from './walks.js';

const retryMs = 200;
const maxFailures = 2;
/** SEED=n tries another series. */
const seed = Number(process.env.SEED ?? 20_261_121);
const runs = { numRuns: 3, seed, endOnFailure: true };

interface Outcome {
  entries: Entry[];
  log: LoggedDelivery[];
  trackingIds: string[];
  states: Map<string, string[]>;
}

describe.each(backends)('order with two workers and the queue on %s:', (backend) => {
  let service: Service;
  let second: RunningProcess;

  beforeAll(async () => {
    service = await startService({
      backend,
      env: { RETRY_SCHEDULE: Array(6).fill(`${retryMs}ms`).join() },
    });
    second = await startProcess(service.env, 'worker');
  });
  afterAll(async () => {
    expect(await stopProcess(second)).toBe(0);
    expect(crashTraces(service.process.output() + second.output())).toEqual([]);
    await service?.stop();
  });

  async function play({ shipments, requests, behaviours }: Scenario, fields: object): Promise<Outcome> {
    const account = await registerAccount(service);
    // Every third request succeeds, or the circuit would open; no notification fails forever.
    const behave = (_: Entry, earlier: Entry[], count: number): Behaviour =>
      count % 3 === 0 || earlier.length >= maxFailures ? {} : behaviours[count % behaviours.length]!;
    const { receiver, entries } = await startJournal(behave);
    const { webhookId, secret } = await registerWebhook(account, receiver.url, fields);
    const trackingIds = await placeOrders(account, shipments);
    await untilCreated(account, trackingIds);
    const states = new Map(trackingIds.map((id) => [id, [catalogue.initial]]));
    for (const { events, pauseMs } of requests) {
      const body = {
        events: events.map(({ shipment, state }) => ({ trackingId: trackingIds[shipment], state })),
      };
      const { data } = await operator(service, '/events', { body });
      expect(data.results.filter((result: { error?: unknown }) => result.error)).toEqual([]);
      for (const { shipment, state } of events) states.get(trackingIds[shipment]!)!.push(state);
      await sleep(pauseMs);
    }
    const open = `select from outbox where webhook_id = $1 limit 1`;
    await until('all are settled', async () => (await service.sql(open, [webhookId])).length === 0, 40_000);
    const deliveries = await deliveriesOf(account, webhookId);
    const log = await Promise.all(
      deliveries.map(({ deliveryId }) => untilDelivery(account, deliveryId, () => true)),
    );
    await receiver.close();
    verifyAll(receiver.received, secret);
    const bodies = new Set(
      receiver.received.map(({ headers, body }) => `${headers['webhook-id'] as string} ${body}`),
    );
    expect(bodies.size).toBe(new Set(entries.map(({ id }) => id)).size); // the same bytes on every attempt
    return { entries, log, trackingIds, states };
  }

  async function untilCreated(account: Account, trackingIds: string[]) {
    for (const id of trackingIds)
      await until(
        'all are created',
        async () => (await account.call(`/v1/shipment-tracking/${id}`)).data.state !== null,
      );
  }

  test.concurrent(
    'every state arrives, first arrivals of a shipment in order and one at a time; no retry is early; the log matches the receiver',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async (scenario) => {
          const { entries, log, trackingIds, states } = await play(scenario, { ordering: 'SHIPMENT' });
          for (const id of trackingIds) {
            const expected = states.get(id)!.map((_, index) => index + 1);
            expect(firstArrivals(entries, id)).toEqual(expected);
          }
          expect(entries.filter(({ overlaps }) => overlaps)).toEqual([]);
          expect(new Set(log.map(({ status }) => status))).toEqual(new Set(['SUCCEEDED']));
          expect(log).toHaveLength([...states.values()].flat().length);
          expectNoEarlyRetry(entries);
          expectSameAsLog(entries, log);
        }),
        runs,
      );
    },
    120_000,
  );

  test.concurrent(
    'with supersede the last and every terminal state arrive, skipped states were overtaken, and nothing follows the overtaking state',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async (scenario) => {
          const { entries, log, trackingIds, states } = await play(scenario, { supersede: true });
          for (const id of trackingIds) {
            const arrivals = firstArrivals(entries, id);
            expect(arrivals).toEqual([...arrivals].sort((a, b) => a - b));
            const succeeded = entries.filter(
              ({ trackingId, statusCode }) => trackingId === id && statusCode === 200,
            );
            expect(succeeded.at(-1)!.sequence).toBe(states.get(id)!.length);
          }
          expect(entries.filter(({ overlaps }) => overlaps)).toEqual([]);
          for (const { status, state } of log) {
            expect(['SUCCEEDED', 'CANCELLED']).toContain(status);
            if (catalogue.isTerminal(state)) expect(status).toBe('SUCCEEDED');
          }
          expectNoEarlyRetry(entries);
          expectSameAsLog(entries, log);
        }),
        runs,
      );
    },
    120_000,
  );

  test('a burst of states of many shipments is sent without a sweep', async () => {
    const account = await registerAccount(service);
    const { receiver, entries } = await startJournal(() => ({}));
    await registerWebhook(account, receiver.url);
    const trackingIds = await placeOrders(account, 60);
    await receiver.waitFor(60);
    const states = ['PICKED_UP', 'IN_TRANSIT', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];
    const events = states.flatMap((state) => trackingIds.map((trackingId) => ({ trackingId, state })));
    await operator(service, '/events', { body: { events } });
    // The sweeper would take 10 s at least.
    await receiver.waitFor(60 + events.length, undefined, 9_000);
    for (const id of trackingIds) expect(firstArrivals(entries, id)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(entries).toHaveLength(60 + events.length);
    await receiver.close();
  });
});

/** Jitter takes at most a tenth off; a millisecond or two is lost to rounding. */
function expectNoEarlyRetry(entries: Entry[]): void {
  for (const id of new Set(entries.map(({ id }) => id))) {
    const attempts = attemptsOf(entries, id);
    attempts.slice(1).forEach(([next], index) => {
      const last = attempts[index]!.at(-1)!;
      const waitedMs = next!.arrivedAt - last.endedAt!;
      expect(waitedMs).toBeGreaterThanOrEqual(Math.max(retryMs * 0.9, last.retryAfterMs) - 2);
    });
  }
}

function expectSameAsLog(entries: Entry[], log: LoggedDelivery[]): void {
  for (const { eventId, attempts, status } of log) {
    const seen = attemptsOf(entries, eventId)
      .toReversed()
      .map((requests) => {
        const { attempt, statusCode } = requests.at(-1)!;
        return {
          number: attempt,
          trigger: 'SCHEDULED',
          statusCode,
          errorCode: statusCode === null ? 'RESET' : statusCode === 200 ? null : 'HTTP_STATUS',
        };
      });
    expect(attempts).toMatchObject(seen);
    expect(attempts).toHaveLength(seen.length);
    expect(seen.filter(({ errorCode }) => errorCode === null)).toHaveLength(status === 'SUCCEEDED' ? 1 : 0);
  }
}
