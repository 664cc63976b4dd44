/** `shipments.waitFor` against a service that shows one state after another. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createClient, type Client } from '../../src/client/index.js';
import {
  credentials,
  failureOf,
  inSequence,
  refused,
  startStandIn,
  type Responder,
  type StandIn,
} from './stand-in.js';

let standIn: StandIn;
let client: Client;

beforeEach(async () => {
  standIn = await startStandIn();
  client = createClient({ url: standIn.url, ...credentials });
});
afterEach(() => standIn.close());

const shown = (...states: string[]) => ({
  data: { state: states.at(-1) ?? null, history: states.map((state) => ({ state })) },
});

const catalogue = {
  data: {
    states: [
      { state: 'CREATED', terminal: false, next: ['CANCELLED'] },
      { state: 'CANCELLED', terminal: true, next: [] },
    ],
  },
};

/** The replies to reading the shipment; the states are known all the time. */
function tracked(...replies: Parameters<typeof inSequence>): Responder {
  const next = inSequence(...replies);
  return (call, response) => (call.path.endsWith('/v1/states') ? catalogue : next(call, response));
}

test('waiting resolves once the shipment has the state or had it', async () => {
  const [now, later] = [shown('CREATED'), shown('CREATED', 'PICKED_UP', 'IN_TRANSIT')];
  standIn.respond = tracked(shown(), now, refused(503, 'UNAVAILABLE'), later);
  expect(await client.shipments.waitFor('PH1', ['DELIVERED', 'PICKED_UP'])).toEqual(later.data);
  expect(standIn.calls.at(-1)!.path).toContain('/v1/shipment-tracking/PH1');
  expect(await client.shipments.waitFor('PH1', 'CREATED')).toEqual(later.data);
});

test.each([
  [shown('CREATED'), 'PH1 was not DELIVERED or LOST within 0.4 s: it is CREATED.'],
  [shown(), 'PH1 was not DELIVERED or LOST within 0.4 s: it is not created yet.'],
])('it ends in time, and says the state now: %j', async (reply, message) => {
  standIn.respond = tracked(reply);
  const startedAt = performance.now();
  const waiting = client.shipments.waitFor('PH1', ['DELIVERED', 'LOST'], { totalTimeoutMs: 400 });
  expect(await failureOf(waiting)).toMatchObject({ code: 'TIMEOUT', message });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test('it ends in time if the service does not respond, and at once when its signal is aborted', async () => {
  standIn.respond = () => 'hang';
  const late = await failureOf(client.shipments.waitFor('PH1', 'LOST', { totalTimeoutMs: 300 }));
  expect(late.code).toBe('TIMEOUT');
  standIn.respond = tracked(shown('CREATED'));
  const signal = AbortSignal.timeout(100);
  const waiting = client.shipments.waitFor('PH1', 'LOST', { signal }).catch((error: unknown) => error);
  expect(await waiting).toBe(signal.reason);
});

test('it ends at once when the shipment has ended in another state', async () => {
  const ended = shown('CREATED', 'CANCELLED');
  standIn.respond = tracked(shown(), shown('CREATED'), ended);
  expect(await failureOf(client.shipments.waitFor('PH1', ['DELIVERED', 'LOST']))).toMatchObject({
    code: 'CONFLICT',
    message: 'PH1 cannot become DELIVERED or LOST any more: it is CANCELLED, which is final.',
  });
  expect(standIn.calls.filter(({ path }) => path.endsWith('/v1/states'))).toHaveLength(1);
  expect(await client.shipments.waitFor('PH1', 'CREATED')).toEqual(ended.data);
});

test('a refusal is thrown at once', async () => {
  standIn.respond = () => refused(404, 'NOT_FOUND');
  expect(await failureOf(client.shipments.waitFor('PH1', 'LOST'))).toMatchObject({ code: 'NOT_FOUND' });
});
