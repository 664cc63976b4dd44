import { describe, expect, test } from '@jest/globals';
import { remakeTurns } from '../../../src/deliveries/outbox/turns.js';
import { updateWebhook } from '../../../src/webhooks/store.js';
import { finish, longHoldMs, pull, record } from '../support/acts.js';
import { expectSoundRows } from '../support/checks.js';
import { advance, askForReplay, cancel, replay } from '../support/replays.js';
import { failForGood, now, setUpRaces, shipmentId, webhookId, world } from '../support/race.js';
import { outboxOf } from '../support/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

const tenHours = 10 * 3_600_000;
/** The first state has failed for good, the second waits for a retry, which is due in ten hours: when that is. */
async function retryBehindFailed(): Promise<Date> {
  await failForGood();
  await record(world.db, shipmentId, ['PICKED_UP']);
  await finish(world.db, await pull(world.db, webhookId), 'RETRY', { delayMs: tenHours });
  const [retry] = await outboxOf(world);
  return retry!.due_at!;
}
/** A replay of what has failed only. */
const replayFailed = async () => {
  const replayId = await askForReplay(world, webhookId);
  await world.sql(`update replays set delivery_status = 'FAILED' where replay_id = $1`, [replayId]);
  await advance(world.db);
  expect(await now()).toEqual(['1 READY', '2 waits']);
  return replayId;
};
const reorder = async (ordering: 'SHIPMENT' | 'NONE') => {
  await updateWebhook(world.db, world.shipperId, webhookId, { ordering });
  await remakeTurns(world.db, webhookId, longHoldMs);
};
const owedAt = (dueAt: Date) => [{ sequence: 2, waits_turn: false, due_at: dueAt, scheduled_at: null }];

describe('a retry that waits while an earlier state is replayed', () => {
  test.each(['SUCCEEDED', 'FAILED'] as const)('is due when it was after that one %s', async (status) => {
    const dueAt = await retryBehindFailed();
    await replayFailed();
    await finish(world.db, await pull(world.db, webhookId), status);
    expect(await outboxOf(world)).toMatchObject(owedAt(dueAt));
    expect(await pull(world.db, webhookId)).toEqual([]);
    await expectSoundRows(world);
  });

  test('is due when it was after the replay is cancelled', async () => {
    const dueAt = await retryBehindFailed();
    await cancel(world, world.db, await replayFailed());
    expect(await outboxOf(world)).toMatchObject(owedAt(dueAt));
  });

  test('is due when it was after its webhook wants no order, and again wants it', async () => {
    const dueAt = await retryBehindFailed();
    await replayFailed();
    for (const ordering of ['NONE', 'SHIPMENT', 'NONE'] as const) await reorder(ordering);
    expect((await outboxOf(world)).filter((row) => row.sequence === 2)).toMatchObject(owedAt(dueAt));
  });

  test('goes at once with a replay of its own, and is due when it was if that is cancelled', async () => {
    const dueAt = await retryBehindFailed();
    await replayFailed();
    const hasty = await replay(world, world.db, webhookId);
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    const claims = await pull(world.db, webhookId);
    expect(claims).toMatchObject([{ sequence: 2, trigger: 'REPLAY' }]);
    await finish(world.db, claims, 'UNCHANGED');
    await cancel(world, world.db, hasty);
    expect(await outboxOf(world)).toMatchObject(owedAt(dueAt));
  });

  test('goes at once with a replay of its own, also after a probe that failed and a wait', async () => {
    await retryBehindFailed();
    await replay(world, world.db, webhookId);
    await finish(world.db, await pull(world.db, webhookId), 'FAILED');
    await finish(world.db, await pull(world.db, webhookId), 'UNCHANGED');
    await replayFailed();
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    expect(await pull(world.db, webhookId)).toMatchObject([{ sequence: 2, trigger: 'REPLAY' }]);
  });

  test('still waits, and is due when it was, where its own replay is cancelled first', async () => {
    const dueAt = await retryBehindFailed();
    await replayFailed();
    await cancel(world, world.db, await replay(world, world.db, webhookId));
    expect(await now()).toEqual(['1 READY', '2 waits']);
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    expect(await outboxOf(world)).toMatchObject(owedAt(dueAt));
  });
});
