import { describe, expect, test } from '@jest/globals';
import { createSweeper, finish, leaseMs, muchRoom, record } from '../../support/core/acts.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../../support/core/race.js';
import { addShipment, addWebhook, outboxOf, logger } from '../../support/core/world.js';
import { countOutcomes } from '../../../src/engine/circuit/circuit.js';
import { durationsOf } from '../../../src/platform/durations.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';

setUpRaces('outbox, webhooks, circuits, redeliveries, replays, simulations');

const durations = durationsOf();
const hour = `interval '1 hour'`;
const hourMs = 3_600_000;

/** All times move forward, as if the clock had been put back by an hour. */
async function putClockBack(): Promise<void> {
  await world.sql(
    `update outbox set due_at = due_at + ${hour}, scheduled_at = scheduled_at + ${hour}, lease_until = lease_until + ${hour},
                       first_failed_at = first_failed_at + ${hour}`,
  );
  await world.sql(
    `update circuits set open_until = open_until + ${hour}, probe_until = probe_until + ${hour},
                         failing_since = failing_since + ${hour}, window_started_at = window_started_at + ${hour}`,
  );
}

/** How far the only row is ahead, in milliseconds. */
const ahead = async (moment: string, table = 'outbox') => {
  const [row] = await world.sql<{ ms: number }>(
    `select (extract(epoch from ${moment} - now()) * 1000)::float8 as ms from ${table}`,
  );
  return row!.ms;
};

const fail = async (delayMs: number) =>
  finish(world.db, await record(world.db, shipmentId, ['CREATED'], { room: muchRoom }), 'RETRY', { delayMs });

describe('after PostgreSQL’s clock was put back by an hour', () => {
  test('due deliveries stay due', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    await putClockBack();
    const { sweep, notified } = createSweeper(world.db);
    await sweep();
    expect(await ahead('due_at')).toBeLessThanOrEqual(0);
    expect([...notified]).toEqual([webhookId]);
  });

  test.each([5_000, 600_000])(
    'a retry whose wait was %i ms comes after that wait at most, and not at once',
    async (delayMs) => {
      await fail(delayMs);
      await putClockBack();
      await createSweeper(world.db).sweep();
      expect(await ahead('due_at')).toBeLessThanOrEqual(delayMs);
      expect(await ahead('due_at')).toBeGreaterThan(delayMs - 5_000);
      expect(await ahead('first_failed_at')).toBeLessThanOrEqual(0); // ORDER_HOLD counts from then
    },
  );

  test('a claim lasts for the longest lease at most, unless it is renewed', async () => {
    await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
    await putClockBack();
    await createSweeper(world.db).sweep();
    expect(await now()).toEqual(['1 SENDING']);
    expect(await ahead('lease_until')).toBeLessThanOrEqual(leaseMs + 10_000);
  });

  test('a circuit stays open for its planned time at most, a probe for its own', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    const failures = {
      storedAddress: 'http://receiver.test/',
      attempts: 10,
      failures: 10,
      failedDeliveries: [],
      succeededAgoMs: null,
      probe: null,
      retryAfterMs: 0,
      lastFailure: '500',
    };
    const deps = {
      db: world.db,
      durations,
      notify: () => undefined,
      logger,
      metrics: createMetrics(),
      onDisabled: () => Promise.resolve(),
    };
    await countOutcomes(deps, new Map([[webhookId, failures]]));
    await world.sql(`update circuits set probe_until = now() + interval '20 s'`);
    await putClockBack();
    await createSweeper(world.db).sweep();
    expect(await ahead('open_until', 'circuits')).toBeLessThanOrEqual(durations.circuit.firstWaitMs);
    expect(await ahead('open_until', 'circuits')).toBeGreaterThan(durations.circuit.firstWaitMs - 5_000);
    expect(await ahead('probe_until', 'circuits')).toBeLessThanOrEqual(leaseMs + 10_000);
    expect(await ahead('failing_since', 'circuits')).toBeLessThanOrEqual(0);
    expect(await ahead('window_started_at', 'circuits')).toBeLessThanOrEqual(0);
  });

  test('replays and simulations continue', async () => {
    await world.sql(
      `insert into replays (replay_id, webhook_id, shipper_id, last_event_id, end_event_id, next_at)
       values (gen_random_uuid(), $1, $2, gen_random_uuid(), gen_random_uuid(), now() + ${hour})`,
      [webhookId, world.shipperId],
    );
    await world.sql(
      `insert into simulations (shipment_id, shipper_id, simulation_id, states, interval_ms, next_at)
       values ($1, $2, gen_random_uuid(), '{CREATED}', 5000, now() + ${hour})`,
      [shipmentId, world.shipperId],
    );
    await createSweeper(world.db).sweep();
    expect(await ahead('next_at', 'replays')).toBeLessThanOrEqual(0);
    expect(await ahead('next_at', 'simulations')).toBeLessThanOrEqual(5_000);
  });
});

test('while the clock is right, no long wait is shortened: a retry, a Retry-After, a circuit', async () => {
  await fail(2 * hourMs);
  const delayed = await addShipment(world);
  await finish(world.db, await record(world.db, delayed, ['CREATED'], { room: muchRoom }), 'RETRY', {
    delayMs: 24 * hourMs,
  });
  await world.sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, open_until, open_wait)
     values ($1, now(), 10, 10, now() + interval '20 h', interval '20 h')`,
    [await addWebhook(world)],
  );
  const picture = async () => [
    (await outboxOf(world)).map(({ due_at: dueAt }) => dueAt),
    await world.sql('select open_until from circuits'),
  ];
  const before = await picture();
  await createSweeper(world.db).sweep();
  expect(await picture()).toEqual(before);
});
