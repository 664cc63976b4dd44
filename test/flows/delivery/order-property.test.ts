import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCatalogue } from '../../../src/shipments/states.js';
import { operator, registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { crashTraces } from '../../support/deployment.js';
import { placeOrders, verifyAll } from '../../support/load.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';
import { deliveriesOf, untilDelivery, type LoggedDelivery } from '../../support/deliveries.js';

const retryMs = 200;
const maxFailures = 2;
/** SEED=n tries another series. */
const seed = Number(process.env.SEED ?? 20_261_121);
const runs = { numRuns: 3, seed, endOnFailure: true };

const catalogue = createCatalogue();

interface Scenario {
  shipments: number;
  requests: { events: { shipment: number; state: string }[]; pauseMs: number }[];
  behaviours: Behaviour[];
}

interface Outcome {
  entries: Entry[];
  log: LoggedDelivery[];
  trackingIds: string[];
  states: Map<string, string[]>;
}

let service: SharedService;
let second: RunningProcess;

beforeAll(async () => {
  service = await sharedService('impatient');
  second = await startProcess(service.env, 'worker');
});
afterAll(async () => {
  expect(await stopProcess(second)).toBe(0);
  expect(crashTraces(second.output())).toEqual([]);
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

/** The response to a request; `reset` breaks the connection instead. */
interface Behaviour {
  status?: number;
  delayMs?: number;
  reset?: boolean;
  retryAfterSeconds?: number;
}

/** One request as the receiver saw it. Times are of Date.now(); `statusCode` is null after a reset. */
interface Entry {
  id: string;
  attempt: number;
  sequence: number;
  trackingId: string;
  state: string;
  arrivedAt: number;
  /** Null until the response. */
  endedAt: number | null;
  statusCode: number | null;
  retryAfterMs: number;
  /** Another request of its shipment had no response yet when it came. */
  overlaps: boolean;
}

interface Journal {
  receiver: Receiver;
  entries: Entry[];
}

/** `behave` decides each response, `earlier` are the previous requests of the same notification. */
async function startJournal(
  behave: (entry: Entry, earlier: Entry[], count: number) => Behaviour,
): Promise<Journal> {
  const entries: Entry[] = [];
  const receiver = await startReceiver(({ headers, notification, at }, response) => {
    const id = String(headers['webhook-id']);
    const trackingId = String(notification.tracking_id);
    const open = entries.filter((entry) => entry.trackingId === trackingId && entry.endedAt === null);
    const entry: Entry = {
      id,
      attempt: Number(headers['parcelhook-attempt']),
      sequence: Number(headers['parcelhook-sequence']),
      trackingId,
      state: String(notification.state),
      arrivedAt: at,
      endedAt: null,
      statusCode: null,
      retryAfterMs: 0,
      overlaps: open.length > 0,
    };
    const earlier = entries.filter((other) => other.id === id);
    const behaviour = behave(entry, earlier, entries.push(entry));
    void sleep(behaviour.delayMs ?? 0).then(() => {
      entry.endedAt = Date.now();
      if (behaviour.reset) return void response.destroy();
      entry.statusCode = behaviour.status ?? 200;
      entry.retryAfterMs = (behaviour.retryAfterSeconds ?? 0) * 1_000;
      const headers = entry.retryAfterMs > 0 ? { 'retry-after': String(behaviour.retryAfterSeconds) } : {};
      response.writeHead(entry.statusCode, headers).end('ok');
    });
  });
  return { receiver, entries };
}

/** The requests by attempt; a broken kept connection may cause two with the same number. */
function attemptsOf(entries: Entry[], id: string): Entry[][] {
  const byNumber = new Map<number, Entry[]>();
  for (const entry of entries.filter((entry) => entry.id === id))
    byNumber.set(entry.attempt, [...(byNumber.get(entry.attempt) ?? []), entry]);
  return [...byNumber.keys()].sort((a, b) => a - b).map((number) => byNumber.get(number)!);
}

const firstArrivals = (entries: Entry[], trackingId: string): number[] => [
  ...new Set(entries.filter((entry) => entry.trackingId === trackingId).map(({ sequence }) => sequence)),
];

const fine = fc.record({ delayMs: fc.constantFrom(0, 0, 5) });
const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  { weight: 6, arbitrary: fine },
  { weight: 2, arbitrary: fc.record({ delayMs: fc.integer({ min: 50, max: 400 }) }) },
  { weight: 3, arbitrary: fc.record({ status: fc.constantFrom(500, 503, 404, 302), delayMs: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.constant({ status: 503, retryAfterSeconds: 1 }) },
  { weight: 2, arbitrary: fc.record({ reset: fc.constant(true), delayMs: fc.nat(100) }) },
);

/** Interleaved, in requests of one to ten events. */
const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    walks: fc.array(fc.array(fc.nat(99), { minLength: 1, maxLength: 6 }), { minLength: 4, maxLength: 10 }),
    mix: fc.array(fc.nat(99), { minLength: 20, maxLength: 20 }),
    cuts: fc.array(fc.tuple(fc.integer({ min: 1, max: 10 }), fc.nat(200)), { minLength: 5, maxLength: 5 }),
    behaviours: fc.array(behaviour, { minLength: 20, maxLength: 40 }),
  })
  .map(({ walks, mix, cuts, behaviours }) => ({
    shipments: walks.length,
    requests: cut(mixed(walks.map(statesOf), mix), cuts),
    behaviours,
  }));

function statesOf(choices: number[]): string[] {
  const states: string[] = [];
  let from = catalogue.initial;
  for (const choice of choices) {
    const next = [...catalogue.names].filter((to) => catalogue.allows(from, to));
    if (next.length === 0) break;
    states.push((from = next[choice % next.length]!));
  }
  return states;
}

function mixed(walks: string[][], mix: number[]): { shipment: number; state: string }[] {
  const events: { shipment: number; state: string }[] = [];
  const rest = walks.map((states, shipment) => ({ shipment, states: [...states] }));
  for (let n = 0; ; n += 1) {
    const open = rest.filter(({ states }) => states.length > 0);
    if (open.length === 0) return events;
    const { shipment, states } = open[mix[n % mix.length]! % open.length]!;
    events.push({ shipment, state: states.shift()! });
  }
}

function cut(events: { shipment: number; state: string }[], cuts: [number, number][]): Scenario['requests'] {
  const requests: Scenario['requests'] = [];
  for (let n = 0, start = 0; start < events.length; n += 1) {
    const [size, pauseMs] = cuts[n % cuts.length]!;
    requests.push({ events: events.slice(start, start + size), pauseMs });
    start += size;
  }
  return requests;
}
