import { describe, expect, test } from '@jest/globals';
import { dropExpiredDays, isOwedUntil } from '../../src/history/retention/retention.js';
import { claimRedeliveries, settleRedelivery } from '../../src/engine/outbox/redelivery.js';
import { requestRedelivery } from '../../src/catch-up/by-hand.js';
import { cancelExpired } from '../../src/engine/outbox/turns.js';
import {
  createSweeper,
  drain,
  finish,
  leaseMs,
  muchRoom,
  pull,
  record,
  settlementOf,
} from '../support/core/acts.js';
import { doneOrWaiting, stopAt } from '../support/core/barriers.js';
import { expectEachOnce, expectOneAtATime, expectSweeperFindsStranded } from '../support/core/checks.js';
import { advance, askForReplay, replay } from '../support/core/replays.js';
import { failForGood, now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { logger, logOf, outboxOf } from '../support/core/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries');

const ask = async (): Promise<string> => {
  const [row] = [...(await outboxOf(world)), ...(await logOf(world))];
  await requestRedelivery(world.db, world.shipperId, row!.delivery_id);
  return row!.delivery_id;
};

describe('retention', () => {
  const makeOldDay = () => world.sql('select make_log_partitions(current_date - 3, current_date - 3)');
  const expire = (db = world.db) => cancelExpired(db, -1_000, 100);

  test('cancels no delivery that is being sent, and its day stays until that is finished', async () => {
    const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
    expect(await expire()).toBe(0);
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    expect(await isOwedUntil(world.db, today)).toBe(true);
    await finish(world.db, claims, 'SUCCEEDED');
    expect(await isOwedUntil(world.db, today)).toBe(false);
  });

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'a claim stopped at its %s and the cancellation: one of them gets the delivery',
    async (where) => {
      await record(world.db, shipmentId, ['CREATED']);
      const stop = stopAt(world, 'pull-due', where);
      const pulling = pull(stop.db, webhookId);
      await stop.reached;
      expect(await expire()).toBe(where === 'SNAPSHOT' ? 1 : 0);
      stop.go();
      expect(await pulling).toHaveLength(where === 'SNAPSHOT' ? 0 : 1);
      expect(await now()).toEqual([where === 'SNAPSHOT' ? '1 EXPIRED' : '1 SENDING']);
    },
  );

  test('drops no day from which an uncommitted replay has brought something back', async () => {
    await makeOldDay();
    await failForGood();
    await world.sql('delete from deliveries');
    await world.sql(
      `update events set event_id = overlay(event_id::text placing left(uuid_floor(now() - interval '3 days')::text, 13)
                                        from 1 for 13)::uuid`,
    );
    const replayId = await askForReplay(world, webhookId);
    await world.sql(
      `update replays set last_event_id = uuid_floor(now() - interval '4 days') where replay_id = $1`,
      [replayId],
    );
    const stop = stopAt(world, 'replay-piece', 'COMMIT');
    const replaying = advance(stop.db);
    await stop.reached;
    const dropping = dropExpiredDays(world.db, 86_400_000, logger);
    await doneOrWaiting(world.db, dropping);
    stop.go();
    await Promise.all([replaying, dropping]);
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    expect(await now()).toEqual(['1 SUCCEEDED']);
  });

  test('deletes replays that ended long ago, even while something of an old day is owed', async () => {
    await makeOldDay();
    const replayId = await askForReplay(world, webhookId);
    await world.sql(
      `update replays set status = 'DONE', finished_at = now() - interval '2 days' where replay_id = $1`,
      [replayId],
    );
    const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
    await world.sql(
      `update outbox set delivery_id = overlay(delivery_id::text placing left(uuid_floor(now() - interval '3 days')::text, 13)
                                               from 1 for 13)::uuid`,
    );
    expect(claims).toHaveLength(1);
    await dropExpiredDays(world.db, 86_400_000, logger);
    expect(await outboxOf(world)).toHaveLength(1);
    expect(await world.sql('select 1 from replays')).toEqual([]);
  });

  test('releases states behind an expired one through the sweeper', async () => {
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    await world.sql(`delete from outbox where sequence = 1`);
    await expectSweeperFindsStranded(world);
    await createSweeper(world.db).sweep();
    expect(await now()).toEqual(['2 READY']);
  });
});

describe('an attempt by hand', () => {
  test('does not make a finished delivery owed again, whatever its result', async () => {
    await failForGood();
    const id = await ask();
    const [claim] = await claimRedeliveries(world.db, [id], leaseMs);
    expect(claim!.number).toBe(2);
    expect(await outboxOf(world)).toEqual([]);
    await settleRedelivery(world.db, settlementOf(claim!, 'RETRY'));
    expect(await now()).toEqual(['1 FAILED']);
    expect((await logOf(world))[0]).toMatchObject({ attempt_count: 2, trigger: 'MANUAL' });
  });

  test('that fails leaves a delivery that a replay brought back and that failed to the next replay', async () => {
    await failForGood();
    await replay(world, world.db, webhookId);
    await finish(world.db, await pull(world.db, webhookId), 'RETRY', { delayMs: 3_600_000 });
    const [claim] = await claimRedeliveries(world.db, [await ask()], leaseMs);
    await settleRedelivery(world.db, settlementOf(claim!, 'RETRY'));
    expect(await now()).toEqual(['1 RETRY']);
    expect(await pull(world.db, webhookId)).toEqual([]);
    await replay(world, world.db, webhookId);
    expect(await pull(world.db, webhookId)).toHaveLength(1);
  });

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'that was claimed up to its %s keeps the delivery out of a replay',
    async (where) => {
      await failForGood();
      const id = await ask();
      const stop = stopAt(world, 'claim-redeliveries', where);
      const claiming = claimRedeliveries(stop.db, [id], leaseMs);
      await stop.reached;
      const replaying = replay(world, world.db, webhookId);
      await doneOrWaiting(world.db, replaying);
      stop.go();
      const [claim] = await claiming;
      await replaying;
      expect(await now()).toEqual(['1 FAILED']);
      await settleRedelivery(world.db, settlementOf(claim!, 'SUCCEEDED'));
      expect(await now()).toEqual(['1 SUCCEEDED']);
    },
  );

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'continues with the delivery where a replay, stopped at its %s, has put it',
    async (where) => {
      await failForGood();
      const id = await ask();
      const stop = stopAt(world, 'replay-piece', where);
      const replaying = replay(world, stop.db, webhookId);
      await stop.reached;
      expect(await claimRedeliveries(world.db, [id], leaseMs)).toEqual([]); // the sweep tries again
      stop.go();
      await replaying;
      const [claim] = await claimRedeliveries(world.db, [id], leaseMs);
      expect(await now()).toEqual(['1 SENDING']);
      await settleRedelivery(world.db, settlementOf(claim!, 'SUCCEEDED'));
      expect(await now()).toEqual(['1 SUCCEEDED']);
      expect((await logOf(world))[0]).toMatchObject({ attempt_count: 2, trigger: 'MANUAL' });
    },
  );

  test.each([
    ['pull-due', 'SNAPSHOT'],
    ['pull-due', 'COMMIT'],
  ] as const)(
    'and a scheduled one (%s stopped at its %s) are never under way concurrently',
    async (name, where) => {
      await record(world.db, shipmentId, ['CREATED']);
      const id = await ask();
      const stop = stopAt(world, name, where);
      const pulling = pull(stop.db, webhookId);
      await stop.reached;
      const claiming = claimRedeliveries(world.db, [id], leaseMs);
      await doneOrWaiting(world.db, claiming);
      stop.go();
      expect([...(await pulling), ...(await claiming)]).toHaveLength(1);
      await drain(world);
    },
  );
});

describe('a replay', () => {
  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'and another one, the first stopped at its %s, bring each delivery back once',
    async (where) => {
      await failForGood();
      await failForGood('PICKED_UP');
      await askForReplay(world, webhookId);
      await askForReplay(world, webhookId);
      const stop = stopAt(world, 'replay-piece', where);
      const first = advance(stop.db);
      await stop.reached;
      const second = advance(world.db);
      expect(await doneOrWaiting(world.db, second)).toBe('waiting');
      stop.go();
      await Promise.all([first, second]);
      expect(await now()).toEqual(['1 READY', '2 waits']);
      await drain(world);
      await expectEachOnce(world, [webhookId], [shipmentId]);
    },
  );

  test('that brings an earlier state back makes the later ones wait for it', async () => {
    await failForGood();
    await record(world.db, shipmentId, ['PICKED_UP']);
    await record(world.db, shipmentId, ['IN_TRANSIT']);
    await replay(world, world.db, webhookId);
    expect(await now()).toEqual(['1 READY', '2 waits', '3 waits']);
    await expectOneAtATime(world);
  });

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'stopped at its %s does not see a state recorded meanwhile: that one still waits',
    async (where) => {
      await failForGood();
      const stop = stopAt(world, 'replay-piece', where);
      const replaying = replay(world, stop.db, webhookId);
      await stop.reached;
      await record(world.db, shipmentId, ['PICKED_UP']);
      stop.go();
      await replaying;
      expect(await now()).toEqual(['1 READY', '2 waits']);
    },
  );

  test('and a state recorded before but committed after it send each once, as if it had been claimed before', async () => {
    await failForGood();
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recording = record(stop.db, shipmentId, ['PICKED_UP']);
    await stop.reached;
    await replay(world, world.db, webhookId);
    stop.go();
    await recording;
    expect(await now()).toEqual(['1 READY', '2 READY']); // neither saw the other
    await record(world.db, shipmentId, ['IN_TRANSIT']);
    expect(await now()).toEqual(['1 READY', '2 READY', '3 waits']);
    await drain(world);
    await expectEachOnce(world, [webhookId], [shipmentId]);
  });

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'skips what is claimed meanwhile, the claim stopped at its %s',
    async (where) => {
      await record(world.db, shipmentId, ['CREATED']);
      await finish(world.db, await pull(world.db, webhookId), 'RETRY', { delayMs: 60_000 });
      await askForReplay(world, webhookId);
      // Due since the replay began: for the replay, whose now() is older, it still waits for its retry.
      const begun = stopAt(world, 'count-owed-by-replays', 'COMMIT');
      const replayStop = stopAt({ ...world, db: begun.db }, 'replay-piece', where);
      const replaying = advance(replayStop.db);
      await begun.reached;
      await world.sql(`update outbox set due_at = clock_timestamp()`);
      begun.go();
      await replayStop.reached;
      const claims = await pull(world.db, webhookId);
      replayStop.go();
      await replaying;
      expect(claims).toHaveLength(where === 'SNAPSHOT' ? 1 : 0);
      claims.push(...(await pull(world.db, webhookId)));
      expect(claims).toHaveLength(1);
      await finish(world.db, claims, 'SUCCEEDED');
      expect(await now()).toEqual(['1 SUCCEEDED']);
    },
  );
});
