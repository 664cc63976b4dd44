import { beforeEach, describe, expect, test } from '@jest/globals';
import { createSweeper, drain, finish, muchRoom, pull, record } from '../support/core/acts.js';
import { stopAt } from '../support/core/barriers.js';
import { expectEachOnce } from '../support/core/checks.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { openCircuit, setStatus } from '../support/core/world.js';

const holdMs = 60_000;

setUpRaces();

const failedFor = (ms: number) =>
  world.sql(
    `update outbox set first_failed_at = now() - make_interval(secs => $1) where first_failed_at is not null`,
    [ms / 1_000],
  );

describe('ORDER_HOLD', () => {
  beforeEach(async () => {
    const claims = await record(world.db, shipmentId, ['CREATED', 'PICKED_UP'], { room: muchRoom });
    await finish(world.db, claims, 'RETRY', { delayMs: 3_600_000 });
  });
  const sweep = () => createSweeper(world.db, holdMs).sweep();

  test('counts from the first failure of the blocking state: until then later states wait', async () => {
    await failedFor(holdMs - 5_000);
    await sweep();
    expect(await now()).toEqual(['1 RETRY', '2 waits']);
    await failedFor(holdMs + 1);
    await sweep();
    expect(await now()).toEqual(['1 RETRY', '2 READY']);
  });

  test('then releases a later recorded state at once', async () => {
    await failedFor(holdMs + 1);
    await sweep();
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    await record(world.db, shipmentId, ['IN_TRANSIT'], { orderHoldMs: holdMs });
    expect(await now()).toEqual(['1 RETRY', '2 SUCCEEDED', '3 READY']);
  });

  test('releases nothing while the webhook is paused', async () => {
    await failedFor(holdMs + 1);
    await setStatus(world, webhookId, 'PAUSED');
    await sweep();
    expect(await now()).toEqual(['1 RETRY', '2 waits']);
  });

  test('starts again when the webhook is resumed', async () => {
    await failedFor(holdMs + 1);
    await setStatus(world, webhookId, 'PAUSED');
    await setStatus(world, webhookId, 'ACTIVE');
    await sweep();
    expect(await now()).toEqual(['1 RETRY', '2 waits']);
  });

  test('starts again for states recorded during the pause, too', async () => {
    await world.sql(`delete from outbox where sequence = 2 and webhook_id = $1`, [webhookId]);
    await failedFor(holdMs + 1);
    await setStatus(world, webhookId, 'PAUSED');
    await record(world.db, shipmentId, ['IN_TRANSIT'], { orderHoldMs: holdMs });
    expect(await now()).toEqual(['1 RETRY', '3 waits']);
    await setStatus(world, webhookId, 'ACTIVE');
    await sweep();
    expect(await now()).toEqual(['1 RETRY', '3 waits']);
  });

  test('starts again for states that asked for their turn while the circuit was open, too', async () => {
    await failedFor(holdMs + 1);
    await openCircuit(world, webhookId, `now() + interval '1 hour'`);
    await record(world.db, shipmentId, ['IN_TRANSIT'], { orderHoldMs: holdMs });
    expect(await now()).toEqual(['1 RETRY', '2 waits', '3 waits']);
  });
});

describe('an overtaken state', () => {
  beforeEach(() => world.sql('update webhooks set supersede = true'));

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'is cancelled if it failed, the failure stopped at its %s while the later one is recorded',
    async (where) => {
      const [first] = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
      const stop = stopAt(world, 'settle', where);
      const settling = finish(stop.db, [first!], 'RETRY');
      await stop.reached;
      await record(world.db, shipmentId, ['PICKED_UP']);
      stop.go();
      await settling;
      expect(await now()).toEqual(['1 SUPERSEDED', '2 READY']);
    },
  );

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'is cancelled if it failed, the later one being recorded up to its %s',
    async (where) => {
      const [first] = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
      const stop = stopAt(world, 'insert-events', where);
      const recording = record(stop.db, shipmentId, ['PICKED_UP']);
      await stop.reached;
      await finish(world.db, [first!], 'RETRY');
      stop.go();
      await recording;
      expect(await now()).toEqual(['1 SUPERSEDED', '2 READY']);
    },
  );

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'is not cancelled if it is being sent, its claim stopped at its %s',
    async (where) => {
      await record(world.db, shipmentId, ['CREATED']);
      const stop = stopAt(world, 'pull-due', where);
      const pulling = pull(stop.db, webhookId);
      await stop.reached;
      await record(world.db, shipmentId, ['PICKED_UP']);
      stop.go();
      const claims = await pulling;
      // The first one wins: either the claim finds nothing, or the state is sent and blocks the next one.
      if (where === 'SNAPSHOT') expect(await now()).toEqual(['1 SUPERSEDED', '2 READY']);
      else expect(await now()).toEqual(['1 SENDING', '2 waits']);
      expect(claims).toHaveLength(where === 'SNAPSHOT' ? 0 : 1);
      await finish(world.db, claims, 'RETRY');
      expect(await now()).toEqual(['1 SUPERSEDED', '2 READY']);
    },
  );

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'is not sent after it was cancelled, the cancellation stopped at its %s',
    async (where) => {
      await record(world.db, shipmentId, ['CREATED']);
      const stop = stopAt(world, 'supersede', where);
      const recording = record(stop.db, shipmentId, ['PICKED_UP']);
      await stop.reached;
      const claims = await pull(world.db, webhookId);
      expect(claims).toHaveLength(where === 'SNAPSHOT' ? 1 : 0);
      stop.go();
      await recording;
      expect(await now()).toEqual(
        where === 'SNAPSHOT' ? ['1 SENDING', '2 waits'] : ['1 SUPERSEDED', '2 READY'],
      );
      await finish(world.db, claims, 'RETRY');
      await drain(world);
      expect(await now()).toEqual(['1 SUPERSEDED', '2 SUCCEEDED']);
      await expectEachOnce(world, [webhookId], [shipmentId]);
    },
  );
});
