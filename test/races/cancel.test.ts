import { describe, expect, test } from '@jest/globals';
import { giveBack, settle } from '../../src/engine/outbox/claim.js';
import { drain, finish, pull, record, settlementOf } from '../support/core/acts.js';
import { doneOrWaiting, stopAt } from '../support/core/barriers.js';
import { addPlantedOrder, erase } from '../support/core/erasures.js';
import {
  advance,
  askForReplay,
  cancel,
  expectWithdrawn,
  progressOf,
  replay,
  withdrawing,
} from '../support/core/replays.js';
import { failForGood, now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { addShipment, logOf, outboxOf, setStatus } from '../support/core/world.js';
import { until } from '../support/until.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

const progress = (replayId: string) => progressOf(world, replayId);
const sendAll = async (status: 'SUCCEEDED' | 'RETRY') =>
  finish(world.db, await pull(world.db, webhookId), status);
/** The older a replay was at its last check, the later is the next. */
const untilDone = (replayId: string) =>
  until('the replay is done', async () => {
    await advance(world.db);
    return (await progress(replayId))[0] === 'DONE';
  });

describe('a cancelled replay', () => {
  test('leaves the log unchanged, with the last attempt from before', async () => {
    await failForGood();
    await world.sql(`update deliveries set response_body = 'as it was'`);
    const before = await world.sql('select * from deliveries');
    const replayId = await replay(world, world.db, webhookId);
    expect(await now()).toEqual(['1 READY']);
    await cancel(world, world.db, replayId);
    const [after] = await world.sql('select * from deliveries');
    expect({ ...after, completed_at: null }).toEqual({ ...before[0], completed_at: null });
    expect(await world.sql('select * from attempts')).toEqual([]);
    await expectWithdrawn(world, webhookId, replayId);
    expect(await progress(replayId)).toEqual(['CANCELLED', 0, 1]);
  });

  test('leaves a delivery that its receiver had refused with that reason', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    const [claim] = await pull(world.db, webhookId);
    const refused = { reason: 'REFUSED', detail: '{"errorDetail":"REFUSED"}' } as const;
    await settle(world.db, [{ ...settlementOf(claim!, 'FAILED'), ...refused }]);
    const replayId = await replay(world, world.db, webhookId);
    expect(await now()).toEqual(['1 READY']);
    await cancel(world, world.db, replayId);
    expect(await logOf(world)).toMatchObject([{ status: 'FAILED', reason: 'REFUSED' }]);
  });

  test('leaves nothing of deliveries that were never owed, and another replay sends them', async () => {
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    await world.sql('delete from outbox');
    const replayId = await replay(world, world.db, webhookId);
    expect(await now()).toEqual(['1 READY', '2 waits']);
    await cancel(world, world.db, replayId);
    await expectWithdrawn(world, webhookId, replayId, []);
    const second = await replay(world, world.db, webhookId);
    await drain(world);
    expect(await now()).toEqual(['1 SUCCEEDED', '2 SUCCEEDED']);
    await advance(world.db);
    expect(await progress(second)).toEqual(['DONE', 2, 2]);
  });

  test('leaves owed deliveries owed: a retry due as before, held ones held', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    await sendAll('RETRY');
    await world.sql(`update outbox set due_at = '2030-01-01T00:00:00Z'`);
    await record(world.db, shipmentId, ['PICKED_UP']);
    const before = await outboxOf(world);
    const replayId = await replay(world, world.db, webhookId);
    expect(await outboxOf(world)).toMatchObject([{ trigger: 'REPLAY' }, { trigger: 'REPLAY' }]);
    expect(await progress(replayId)).toEqual(['RUNNING', 0, 2]);
    await cancel(world, world.db, replayId);
    expect(await outboxOf(world)).toEqual(before);
    expect(await progress(replayId)).toEqual(['CANCELLED', 0, 2]);
    await drain(world);
    expect(await now()).toEqual(['1 SUCCEEDED', '2 SUCCEEDED']);
  });

  test('leaves a hastened delivery that is being sent to its schedule if it is given back', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    await sendAll('RETRY');
    await world.sql(`update outbox set due_at = '2030-01-01T00:00:00Z'`);
    const replayId = await replay(world, world.db, webhookId);
    const claims = await pull(world.db, webhookId);
    await cancel(world, world.db, replayId);
    await giveBack(world.db, claims);
    expect(await outboxOf(world)).toMatchObject([
      { status: 'RETRY', due_at: new Date('2030-01-01T00:00:00Z') },
    ]);
  });

  test('returns a delivery that it hastened to its schedule, after a failed probe', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    await sendAll('RETRY');
    await world.sql(`update outbox set due_at = '2030-01-01T00:00:00Z'`);
    const replayId = await replay(world, world.db, webhookId);
    await finish(world.db, await pull(world.db, webhookId), 'UNCHANGED');
    const again = await pull(world.db, webhookId); // the replay still hastens it
    expect(again).toHaveLength(1);
    await giveBack(world.db, again);
    await cancel(world, world.db, replayId);
    expect(await outboxOf(world)).toMatchObject([
      { status: 'RETRY', due_at: new Date('2030-01-01T00:00:00Z') },
    ]);
  });

  test('releases later states', async () => {
    await failForGood();
    const replayId = await replay(world, world.db, webhookId);
    await record(world.db, shipmentId, ['PICKED_UP']);
    expect(await now()).toEqual(['1 READY', '2 waits']);
    await cancel(world, world.db, replayId);
    expect(await now()).toEqual(['1 FAILED', '2 READY']);
  });

  test('makes no retry of attempts that fail while it ends', async () => {
    await failForGood();
    const replayId = await replay(world, world.db, webhookId);
    await sendAll('RETRY');
    expect(await progress(replayId)).toEqual(['RUNNING', 0, 1]);
    await cancel(world, world.db, replayId);
    await expectWithdrawn(world, webhookId, replayId);
    expect((await logOf(world))[0]).toMatchObject({ attempt_count: 2, trigger: 'REPLAY' });
  });

  test('whose process is killed after the commit is finished by a worker', async () => {
    await failForGood();
    const replayId = await replay(world, world.db, webhookId);
    const stop = stopAt(world, 'take-withdrawing', 'COMMIT'); // and never let it continue
    const cancelling = cancel(world, stop.db, replayId);
    await stop.reached;
    expect(await pull(world.db, webhookId)).toEqual([]); // not claimed meanwhile
    expect((await progress(replayId))[0]).toBe('CANCELLED');
    await world.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'`,
    );
    stop.go();
    await cancelling;
    await expectWithdrawn(world, webhookId, replayId);
  });
});

test.each([
  ['withdraw-page', 'SNAPSHOT'],
  ['withdraw-page', 'COMMIT'],
  ['cancel-erased', 'SNAPSHOT'],
  ['cancel-erased', 'COMMIT'],
] as const)(
  'a cancel and an erasure, %s stopped at its %s: nothing is owed, and no response is stored',
  async (name, where) => {
    const planted = await addPlantedOrder(world);
    await record(world.db, planted, ['CREATED']);
    await finish(world.db, await pull(world.db, webhookId), 'FAILED');
    await world.sql(`update deliveries set response_body = 'planted'`);
    const replayId = await replay(world, world.db, webhookId);
    const stop = stopAt(world, name, where);
    const [first, second] =
      name === 'cancel-erased'
        ? [() => erase(stop.db, planted), () => cancel(world, world.db, replayId)]
        : [() => cancel(world, stop.db, replayId), () => erase(world.db, planted)];
    const stopped = first();
    await stop.reached;
    const other = second();
    await doneOrWaiting(world.db, other);
    stop.go();
    await Promise.all<unknown>([stopped, other]);
    await advance(world.db);
    expect(await outboxOf(world)).toEqual([]);
    expect(
      await world.sql(`select response_body from deliveries union all select response_body from attempts`),
    ).not.toContainEqual({ response_body: 'planted' });
  },
);

describe('two replays of one webhook', () => {
  test('the first cancelled: the other sends its deliveries, and the first nothing', async () => {
    await failForGood();
    const first = await replay(world, world.db, webhookId);
    const other = await addShipment(world);
    await record(world.db, other, ['CREATED']);
    await finish(world.db, (await pull(world.db, webhookId)).slice(0, 2), 'FAILED');
    await world.sql(`update replays set status = 'DONE' where replay_id = $1`, [first]);
    const [one, two] = [await replay(world, world.db, webhookId), await replay(world, world.db, webhookId)];
    expect([await progress(one), await progress(two)]).toEqual([
      ['RUNNING', 0, 2],
      ['DONE', 0, 0],
    ]);
    await cancel(world, world.db, one);
    expect(await now()).toEqual(['1 FAILED', '1 FAILED']);
    await replay(world, world.db, webhookId);
    await drain(world);
    expect(await now()).toEqual(['1 SUCCEEDED', '1 SUCCEEDED']);
  });

  test('the second cancelled: the first still hastens and owes its deliveries', async () => {
    await failForGood();
    const first = await replay(world, world.db, webhookId);
    await sendAll('RETRY');
    await world.sql(`update outbox set due_at = now() + interval '1 hour'`);
    const second = await replay(world, world.db, webhookId);
    expect(await progress(second)).toEqual(['DONE', 0, 0]);
    await cancel(world, world.db, second);
    expect(await sendAll('SUCCEEDED')).toHaveLength(1);
    await untilDone(first);
    expect(await progress(first)).toEqual(['DONE', 1, 1]);
  });

  test('an owed delivery that the first hastened and that failed also stays with the first', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    await sendAll('RETRY');
    await world.sql(`update outbox set due_at = now() + interval '1 hour'`);
    const first = await replay(world, world.db, webhookId);
    await sendAll('RETRY');
    await world.sql(`update outbox set due_at = now() + interval '1 hour'`);
    const second = await replay(world, world.db, webhookId);
    await advance(world.db);
    expect([await progress(first), await progress(second)]).toEqual([
      ['RUNNING', 0, 1],
      ['DONE', 0, 0],
    ]);
    expect(await sendAll('SUCCEEDED')).toHaveLength(1);
    await untilDone(first);
    expect(await progress(first)).toEqual(['DONE', 1, 1]);
  });

  test('a delivery being sent for a cancelled replay continues with the next replay', async () => {
    await failForGood();
    const first = await replay(world, world.db, webhookId);
    const claims = await pull(world.db, webhookId);
    await cancel(world, world.db, first);
    const second = await replay(world, world.db, webhookId);
    await finish(world.db, claims, 'RETRY');
    expect(await progress(second)).toEqual(['RUNNING', 0, 1]);
    expect(await sendAll('SUCCEEDED')).toHaveLength(1);
    await advance(world.db);
    expect(await progress(second)).toEqual(['DONE', 1, 1]);
    expect(await world.sql(withdrawing)).toEqual([]);
  });
});

test('a replay of a paused webhook is over when its deliveries went out after all', async () => {
  await failForGood();
  await setStatus(world, webhookId, 'PAUSED');
  const replayId = await replay(world, world.db, webhookId);
  await advance(world.db);
  expect(await progress(replayId)).toEqual(['RUNNING', 0, 1]);
  await setStatus(world, webhookId, 'ACTIVE');
  await sendAll('SUCCEEDED');
  await advance(world.db);
  expect(await progress(replayId)).toEqual(['DONE', 1, 1]);
});

test('events that a request does not search are counted when all are found', async () => {
  for (const state of ['CREATED', 'PICKED_UP']) await record(world.db, shipmentId, [state]);
  await world.sql('delete from outbox');
  const replayId = await askForReplay(world, webhookId, 2);
  expect(await progress(replayId)).toEqual(['RUNNING', 0, null]);
  await advance(world.db);
  expect(await progress(replayId)).toEqual(['RUNNING', 0, 2]);
});

test('a replay that only waits for retries is checked more rarely the longer it lasts', async () => {
  await failForGood();
  const replayId = await replay(world, world.db, webhookId);
  const pauseMs = async (sinceMs: number) => {
    await world.sql(
      `update replays set walked_at = now() - make_interval(secs => $2::float8 / 1000), next_at = now()
        where replay_id = $1`,
      [replayId, sinceMs],
    );
    await advance(world.db);
    const [row] = await world.sql<{ ms: number }>(
      'select extract(epoch from next_at - walked_at)::float8 * 1000 as ms from replays where replay_id = $1',
      [replayId],
    );
    return row!.ms - sinceMs;
  };
  expect(await pauseMs(0)).toBeLessThan(1_000);
  expect(await pauseMs(200_000)).toBeGreaterThan(9_000);
  expect(await pauseMs(200_000)).toBeLessThan(15_000);
  expect(await pauseMs(86_400_000)).toBeLessThan(35_000);
});
