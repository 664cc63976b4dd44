import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import { dueSinceUnknown } from '../../src/engine/outbox/types.js';
import { recordAll } from '../support/core/acts.js';
import { openSending, startDispatcher } from '../support/core/dispatcher.js';
import { setUpRaces, world } from '../support/core/race.js';
import { addShipments, addWebhook, logOf, outboxOf } from '../support/core/world.js';
import { repeated } from '../support/load.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { busyAt, onceAt, programWith } from '../support/sender-program.js';

const concurrency = 20;
const count = 600;
let receiver: Receiver;
setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts');
beforeAll(async () => {
  receiver = await startReceiver();
});
beforeEach(() => void receiver.received.splice(0));
afterAll(() => receiver?.close());

/** Owes these states, each of another shipment, to a new webhook. */
async function owe(states: string[]): Promise<string> {
  await world.sql('update webhooks set interests = $1', [[]]);
  const webhookId = await addWebhook(world, { ordering: 'NONE' });
  const shipments = await addShipments(world, states.length);
  await recordAll(
    world.db,
    shipments.map((id, index) => [id, states[index]!]),
  );
  return webhookId;
}

const start = (program: string, metrics = createMetrics()) => {
  const sending = openSending({ threads: 2, program, metrics });
  const dispatcher = startDispatcher(world, receiver.url, { sending, concurrency });
  const end = async () => {
    await dispatcher.drain();
    sending.close();
  };
  return { dispatcher, end };
};

const longestGapMs = (received: Received[]) =>
  Math.max(...received.slice(1).map(({ at }, index) => at - received[index]!.at));

const states = (mark: string) =>
  Array.from({ length: count }, (_, n) => (n === count / 2 ? mark : 'CREATED'));

test('a thread that exits under load costs a second and at most repeats what was in flight; nothing is lost', async () => {
  const webhookId = await owe(states('EXITS'));
  receiver.reply = () => ({ delayMs: 2 });
  const { dispatcher, end } = start(programWith(onceAt('EXITS', 'process.exit(1);')));
  dispatcher.notify(dueSinceUnknown([webhookId]));
  const ids = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size;
  await receiver.waitFor(count, () => ids() === count, 40_000);
  await end();
  expect(await outboxOf(world)).toEqual([]);
  expect((await logOf(world)).map(({ status }) => status)).toEqual(Array<string>(count).fill('SUCCEEDED'));
  const lost = await world.sql(`select error_code, duration_ms from attempts`);
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.length).toBeLessThanOrEqual(concurrency);
  expect(new Set(lost.map(({ error_code }) => error_code))).toEqual(new Set(['LOST']));
  expect(repeated(receiver.received)).toBeLessThanOrEqual(lost.length);
  expect(longestGapMs(receiver.received)).toBeLessThan(1_500);
  expect(await world.sql('select 1 from circuits where failures > 0')).toEqual([]);
});

test('a thread that is stuck is replaced after 5 s, and what it had is sent by another', async () => {
  const webhookId = await owe(['STUCK', 'CREATED', 'CREATED']);
  receiver.reply = () => ({});
  const metrics = createMetrics();
  const { dispatcher, end } = start(
    programWith(
      onceAt('STUCK', 'for (const until = performance.now() + 20_000; performance.now() < until; );'),
    ),
    metrics,
  );
  const startedAt = performance.now();
  dispatcher.notify(dueSinceUnknown([webhookId]));
  await receiver.waitFor(3, undefined, 10_000);
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeGreaterThan(4_000);
  expect(tookMs).toBeLessThan(9_000);
  await end();
  expect(await metrics.text()).toContain('sender_threads_lost_total{cause="stuck"} 1');
  expect(await outboxOf(world)).toEqual([]);
});

test('a receiver that nobody has proved, and whose handshake takes a second, delays no proved one', async () => {
  receiver.reply = () => ({});
  const { dispatcher, end } = start(programWith(busyAt('HANDSHAKE', 1_000)));
  const deliver = async (webhookId: string, wanted: number) => {
    const before = receiver.received.length;
    dispatcher.notify(dueSinceUnknown([webhookId]));
    await receiver.waitFor(before + wanted);
  };
  const proved = await owe(['CREATED']);
  await deliver(proved, 1);
  const slow = await owe(Array<string>(4).fill('HANDSHAKE'));
  await world.sql(`update webhooks set interests = '{CREATED}' where webhook_id = $1`, [proved]);
  dispatcher.notify(dueSinceUnknown([slow]));
  const tookMs: number[] = [];
  let longestTickMs = 0;
  let tickedAt = performance.now();
  const ticking = setInterval(() => {
    longestTickMs = Math.max(longestTickMs, performance.now() - tickedAt);
    tickedAt = performance.now();
  }, 5);
  for (let n = 0; n < 20; n += 1) {
    const [shipment] = await addShipments(world, 1);
    await recordAll(world.db, [[shipment!, 'CREATED']]);
    const startedAt = performance.now();
    await deliver(proved, 1);
    tookMs.push(performance.now() - startedAt);
  }
  clearInterval(ticking);
  expect(tookMs.sort((a, b) => a - b)[tookMs.length / 2]).toBeLessThan(100);
  expect(longestTickMs).toBeLessThan(300);
  await receiver.waitFor(25, undefined, 10_000);
  await end();
});
