import { describe, expect, test } from '@jest/globals';
import { giveBack } from '../../../src/deliveries/outbox/claim.js';
import { drain, finish, pull, record } from '../support/acts.js';
import { doneOrWaiting, stopAt } from '../support/barriers.js';
import { addPlantedOrder, erase } from '../support/erasures.js';
import {
  advance,
  askForReplay,
  cancel,
  expectWithdrawn,
  progressOf,
  replay,
  withdrawing,
} from '../support/replays.js';
import { failForGood, now, setUpRaces, shipmentId, webhookId, world } from '../support/race.js';
import { addShipment, logOf, outboxOf, setStatus } from '../support/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

const progress = (replayId: string) => progressOf(world, replayId);
const sendAll = async (status: 'SUCCEEDED' | 'RETRY') =>
  finish(world.db, await pull(world.db, webhookId), status);

describe('a cancelled replay', () => {
  test('leaves the log as it was, with the attempt that had been the last one', async () => {
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

  test('leaves nothing of what never was owed, and another one catches up on it', async () => {
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

  test('leaves what was owed anyway owed: a retry due when it was, the held held', async () => {
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

  test('leaves what is hastened and being sent to its schedule if it is given back', async () => {
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

  test('leaves what is hastened and was an unlucky probe to its schedule', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    await sendAll('RETRY');
    await world.sql(`update outbox set due_at = '2030-01-01T00:00:00Z'`);
    const replayId = await replay(world, world.db, webhookId);
    await finish(world.db, await pull(world.db, webhookId), 'UNCHANGED');
    const again = await pull(world.db, webhookId); // the replay hastens it still
    expect(again).toHaveLength(1);
    await giveBack(world.db, again);
    await cancel(world, world.db, replayId);
    expect(await outboxOf(world)).toMatchObject([
      { status: 'RETRY', due_at: new Date('2030-01-01T00:00:00Z') },
    ]);
  });

  test('gives later states their turn', async () => {
    await failForGood();
    const replayId = await replay(world, world.db, webhookId);
    await record(world.db, shipmentId, ['PICKED_UP']);
    expect(await now()).toEqual(['1 READY', '2 waits']);
    await cancel(world, world.db, replayId);
    expect(await now()).toEqual(['1 FAILED', '2 READY']);
  });

  test('sends no retry of what failed while it was under way', async () => {
    await failForGood();
    const replayId = await replay(world, world.db, webhookId);
    await sendAll('RETRY');
    expect(await progress(replayId)).toEqual(['RUNNING', 0, 1]);
    await cancel(world, world.db, replayId);
    await expectWithdrawn(world, webhookId, replayId);
    expect((await logOf(world))[0]).toMatchObject({ attempt_count: 2, trigger: 'REPLAY' });
  });

  test('whose process was killed after the commit is seen to by a worker', async () => {
    await failForGood();
    const replayId = await replay(world, world.db, webhookId);
    const stop = stopAt(world, 'take-withdrawing', 'COMMIT'); // and it never goes on
    const cancelling = cancel(world, stop.db, replayId);
    await stop.reached;
    expect(await pull(world.db, webhookId)).toEqual([]); // nobody claims it meanwhile
    expect((await progress(replayId))[0]).toBe('CANCELLED');
    await world.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'`,
    );
    stop.go();
    await cancelling; // what it could not do is left
    await expectWithdrawn(world, webhookId, replayId);
  });
});

test.each([
  ['withdraw-page', 'SNAPSHOT'],
  ['withdraw-page', 'COMMIT'],
  ['cancel-erased', 'SNAPSHOT'],
  ['cancel-erased', 'COMMIT'],
] as const)(
  'a cancel and an erasure, %s stopped at its %s: nothing is owed, and no answer is kept',
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
  test('the first cancelled: the other one sends what it has set going, and the first nothing', async () => {
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

  test('the second cancelled: what the first owes is hastened and stays owed by it', async () => {
    await failForGood();
    const first = await replay(world, world.db, webhookId);
    await sendAll('RETRY');
    await world.sql(`update outbox set due_at = now() + interval '1 hour'`);
    const second = await replay(world, world.db, webhookId);
    expect(await progress(second)).toEqual(['DONE', 0, 0]);
    await cancel(world, world.db, second);
    expect(await sendAll('SUCCEEDED')).toHaveLength(1);
    await advance(world.db);
    expect(await progress(first)).toEqual(['DONE', 1, 1]);
  });

  test('what was owed anyway stays the first one’s, too, when it has hastened it and it failed', async () => {
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
    expect(await sendAll('SUCCEEDED')).toHaveLength(1); // hastened all the same
    await advance(world.db);
    expect(await progress(first)).toEqual(['DONE', 1, 1]);
  });

  test('what is being sent for a cancelled one goes on with the next that is asked for', async () => {
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

test('of a paused webhook a replay is over when what it owes went out after all', async () => {
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

test('what a request does not look at is counted when all was found', async () => {
  for (const state of ['CREATED', 'PICKED_UP']) await record(world.db, shipmentId, [state]);
  await world.sql('delete from outbox');
  const replayId = await askForReplay(world, webhookId, 2);
  expect(await progress(replayId)).toEqual(['RUNNING', 0, null]);
  await advance(world.db);
  expect(await progress(replayId)).toEqual(['RUNNING', 0, 2]);
});

test('a replay that only waits for retries is looked at the more rarely the longer it lasts', async () => {
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
