import { describe, expect, test } from '@jest/globals';
import { recordEvents } from '../../src/engine/record/record.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { claimProbes } from '../../src/engine/outbox/claim.js';
import { recomputeTurns } from '../../src/engine/outbox/turns.js';
import { updateWebhook } from '../../src/webhooks/store.js';
import {
  collector,
  createSweeper,
  drain,
  finish,
  leaseMs,
  longHoldMs,
  muchRoom,
  pull,
  record,
  recording,
} from '../support/core/acts.js';
import { stopAt } from '../support/core/barriers.js';
import { expectEachOnce, expectOneAtATime, expectSweeperFindsStranded } from '../support/core/checks.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import {
  addShipment,
  addWebhook,
  logOf,
  openCircuit,
  picture,
  setStatus,
  type World,
} from '../support/core/world.js';

setUpRaces();

const sequencesOf = (claims: { sequence: number }[]) => claims.map(({ sequence }) => sequence);

async function expectInOrder(states: number): Promise<void> {
  await expectOneAtATime(world);
  await drain(world);
  await expectEachOnce(world, [webhookId], [shipmentId]);
  const logged = await logOf(world, webhookId);
  const inTime = [...logged].sort((a, b) => a.completed_at.getTime() - b.completed_at.getTime());
  expect(sequencesOf(inTime)).toEqual(Array.from({ length: states }, (_, index) => index + 1));
}

const isDue = async (sequence: number) =>
  world.sql('update outbox set waits_turn = false, due_at = now() where sequence = $1', [sequence]);

test('a probe is never a state that was made to wait meanwhile', async () => {
  await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
  await world.sql(`update outbox set due_at = now() + interval '1 hour' where sequence = 1`);
  await isDue(2);
  await openCircuit(world, webhookId);
  const stop = stopAt(world, 'claim-probes', 'SNAPSHOT');
  const probing = claimProbes(stop.db, leaseMs, leaseMs);
  await stop.reached;
  await world.sql('update outbox set waits_turn = true, due_at = null where sequence = 2');
  stop.go();
  expect(await probing).toEqual([]);
  await isDue(2);
  await world.sql('update circuits set probe_until = null');
  expect(sequencesOf(await claimProbes(world.db, leaseMs, leaseMs))).toEqual([2]);
});

describe('the next state goes', () => {
  test('when it was recorded while the one before was present, and is committed after that is gone', async () => {
    const [first] = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recording = record(stop.db, shipmentId, ['PICKED_UP']);
    await stop.reached;
    await finish(world.db, [first!], 'SUCCEEDED');
    stop.go();
    await recording;
    expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
    await expectInOrder(2);
  });

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'when the one before is settled, up to its %s, before it is recorded, and committed after',
    async (where) => {
      const [first] = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
      const stop = stopAt(world, 'settle', where);
      const settling = finish(stop.db, [first!], 'SUCCEEDED');
      await stop.reached;
      await record(world.db, shipmentId, ['PICKED_UP']);
      expect(await now()).toEqual(['1 SENDING', '2 waits']);
      stop.go();
      await settling;
      expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
      await expectInOrder(2);
    },
  );

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'when two release it concurrently, one of them stopped at its %s: it goes once',
    async (where) => {
      const [first] = await record(world.db, shipmentId, ['CREATED', 'PICKED_UP', 'IN_TRANSIT'], {
        room: muchRoom,
      });
      const stop = stopAt(world, 'release-turns', where);
      const settling = finish(stop.db, [first!], 'SUCCEEDED');
      await stop.reached;
      await createSweeper(world.db).sweep();
      const claims = await pull(world.db, webhookId);
      expect(sequencesOf(claims)).toEqual(where === 'SNAPSHOT' ? [2] : []);
      stop.go();
      await settling;
      await finish(world.db, claims, 'SUCCEEDED');
      await expectInOrder(3);
    },
  );

  test('by the sweeper, as soon as its webhook may be called, if the releasing process died', async () => {
    const [first] = await record(world.db, shipmentId, ['CREATED', 'PICKED_UP'], { room: muchRoom });
    const stop = stopAt(world, 'release-turns', 'COMMIT');
    const crash = { ...stop.db, query: failing(stop.db.query, 'release-turns') };
    expect(await finish(crash, [first!], 'SUCCEEDED')).toEqual([first]);
    expect(await now()).toEqual(['1 SUCCEEDED', '2 waits']);
    await expectSweeperFindsStranded(world);
    await setStatus(world, webhookId, 'PAUSED');
    await createSweeper(world.db).sweep();
    expect(await now()).toEqual(['1 SUCCEEDED', '2 waits']); // could not be sent
    await setStatus(world, webhookId, 'ACTIVE');
    await createSweeper(world.db).sweep();
    expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
  });
});

test('a failing sweep step does not keep a circuit from its probe', async () => {
  await record(world.db, await addShipment(world), ['CREATED']);
  const [first] = await record(world.db, shipmentId, ['CREATED', 'PICKED_UP'], { room: muchRoom });
  const { transaction, query } = world.db;
  const crash = { transaction, query: failing(query, 'release-turns') };
  await finish(crash, [first!], 'SUCCEEDED');
  await openCircuit(world, webhookId);
  const sweeper = createSweeper(crash);
  await sweeper.sweep();
  expect(sweeper.probes).toHaveLength(1);
});

test('a page that cannot be read in time does not keep a circuit from its probe', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  await openCircuit(world, webhookId);
  const { transaction, query } = world.db;
  const sweeper = createSweeper({ transaction, query: failing(query, 'inspect-page') });
  await expect(sweeper.sweep()).rejects.toThrow();
  expect(sweeper.probes).toHaveLength(1);
});

describe('several states recorded in one statement', () => {
  test('only the first is claimed, the others wait', async () => {
    const claims = await record(world.db, shipmentId, ['CREATED', 'PICKED_UP', 'DELIVERED'], {
      room: muchRoom,
    });
    expect(sequencesOf(claims)).toEqual([1]);
    expect(await now()).toEqual(['1 SENDING', '2 waits', '3 waits']);
    await finish(world.db, claims, 'SUCCEEDED');
    await expectInOrder(3);
  });

  test('the first one that a webhook wants goes, even if it is not the first recorded', async () => {
    const choosy = await addWebhook(world, { interests: ['PICKED_UP', 'DELIVERED'] });
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP', 'DELIVERED'], { room: muchRoom });
    expect(await picture(world, choosy)).toEqual(['2 SENDING', '3 waits']);
  });

  test('all go if the webhook wants no order', async () => {
    const eager = await addWebhook(world, { ordering: 'NONE' });
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP', 'DELIVERED']);
    expect(sequencesOf(await pull(world.db, eager)).sort()).toEqual([1, 2, 3]);
  });
});

describe('a webhook that is resumed', () => {
  test('gets only the first state of a shipment, whatever else was held', async () => {
    await setStatus(world, webhookId, 'PAUSED');
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    await record(world.db, shipmentId, ['IN_TRANSIT']);
    expect(await pull(world.db, webhookId)).toEqual([]);
    await setStatus(world, webhookId, 'ACTIVE');
    const claims = await pull(world.db, webhookId);
    expect(sequencesOf(claims)).toEqual([1]);
    await finish(world.db, claims, 'SUCCEEDED');
    await expectInOrder(3);
  });

  test('gets everything that was held if its ordering was turned off meanwhile', async () => {
    await setStatus(world, webhookId, 'PAUSED');
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP', 'IN_TRANSIT']);
    await updateWebhook(world.db, world.shipperId, webhookId, { ordering: 'NONE' });
    await recomputeTurns(world.db, webhookId, longHoldMs);
    await setStatus(world, webhookId, 'ACTIVE');
    expect(sequencesOf(await pull(world.db, webhookId)).sort()).toEqual([1, 2, 3]);
  });

  test('a state recorded as waiting while ordering ended does not wait', async () => {
    const [first] = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recording = record(stop.db, shipmentId, ['PICKED_UP']);
    await stop.reached;
    await updateWebhook(world.db, world.shipperId, webhookId, { ordering: 'NONE' });
    await recomputeTurns(world.db, webhookId, longHoldMs);
    stop.go();
    await recording;
    expect(await now()).toEqual(['1 SENDING', '2 READY']);
    await finish(world.db, [first!], 'SUCCEEDED');
  });

  test('whose ordering starts gets one state at a time, even of those due already', async () => {
    await updateWebhook(world.db, world.shipperId, webhookId, { ordering: 'NONE' });
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP', 'IN_TRANSIT']);
    await updateWebhook(world.db, world.shipperId, webhookId, { ordering: 'SHIPMENT' });
    await recomputeTurns(world.db, webhookId, longHoldMs);
    expect(await now()).toEqual(['1 READY', '2 waits', '3 waits']);
    await expectInOrder(3);
  });
});

function failing(query: World['db']['query'], name: string): World['db']['query'] {
  return (called, text, values) =>
    called === name ? Promise.reject(new Error('gone')) : query(called, text, values);
}

test('an event that another process records between the two reads of a recording is repeated, not refused', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  const event = { shipmentId, state: 'PICKED_UP', externalId: 'picked-up-1' };
  const deps = {
    ...recording(world.db, collector(), longHoldMs),
    allows: (from: string | null, to: string) => from !== to,
  };
  let reads = 0;
  const db: Database = {
    ...world.db,
    query: async (...statement: Parameters<Database['query']>) => {
      const rows = await world.db.query(...statement);
      if ((reads += 1) === 1) await recordEvents(deps, [event]);
      return rows;
    },
  } as Database;
  expect(await recordEvents({ ...deps, db }, [event])).toEqual([{ eventId: event.externalId }]);
  expect(
    await world.sql('select state from events where shipment_id = $1 order by sequence', [shipmentId]),
  ).toEqual([{ state: 'CREATED' }, { state: 'PICKED_UP' }]);
});
