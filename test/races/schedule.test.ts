import { describe, expect, test } from '@jest/globals';
import { recomputeTurns } from '../../src/engine/outbox/turns.js';
import { updateWebhook } from '../../src/webhooks/store.js';
import { finish, longHoldMs, pull, record } from '../support/core/acts.js';
import { expectSoundRows } from '../support/core/checks.js';
import { advance, askForReplay, cancel, replay } from '../support/core/replays.js';
import { failForGood, now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { outboxOf } from '../support/core/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

const tenHours = 10 * 3_600_000;
/** Sets the retry in ten hours; returns when. */
async function retryBehindFailed(): Promise<Date> {
  await failForGood();
  await record(world.db, shipmentId, ['PICKED_UP']);
  await finish(world.db, await pull(world.db, webhookId), 'RETRY', { delayMs: tenHours });
  const [retry] = await outboxOf(world);
  return retry!.due_at!;
}
const replayFailed = async () => {
  const replayId = await askForReplay(world, webhookId);
  await world.sql(`update replays set delivery_status = 'FAILED' where replay_id = $1`, [replayId]);
  await advance(world.db);
  expect(await now()).toEqual(['1 READY', '2 waits']);
  return replayId;
};
const reorder = async (ordering: 'SHIPMENT' | 'NONE') => {
  await updateWebhook(world.db, world.shipperId, webhookId, { ordering });
  await recomputeTurns(world.db, webhookId, longHoldMs);
};
const owedAt = (dueAt: Date) => [{ sequence: 2, waits_turn: false, due_at: dueAt, scheduled_at: null }];

describe('a retry that waits while an earlier state is replayed', () => {
  test.each(['SUCCEEDED', 'FAILED'] as const)('is due as before after that one %s', async (status) => {
    const dueAt = await retryBehindFailed();
    await replayFailed();
    await finish(world.db, await pull(world.db, webhookId), status);
    expect(await outboxOf(world)).toMatchObject(owedAt(dueAt));
    expect(await pull(world.db, webhookId)).toEqual([]);
    await expectSoundRows(world);
  });

  test('is due as before after the replay is cancelled', async () => {
    const dueAt = await retryBehindFailed();
    await cancel(world, world.db, await replayFailed());
    expect(await outboxOf(world)).toMatchObject(owedAt(dueAt));
  });

  test('is due as before after its webhook drops ordering and takes it up again', async () => {
    const dueAt = await retryBehindFailed();
    await replayFailed();
    for (const ordering of ['NONE', 'SHIPMENT', 'NONE'] as const) await reorder(ordering);
    expect((await outboxOf(world)).filter((row) => row.sequence === 2)).toMatchObject(owedAt(dueAt));
  });

  test('is sent at once by its own replay, and due as before if that is cancelled', async () => {
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

  test('is sent at once by its own replay, even after a failed probe and a wait', async () => {
    await retryBehindFailed();
    await replay(world, world.db, webhookId);
    await finish(world.db, await pull(world.db, webhookId), 'FAILED');
    await finish(world.db, await pull(world.db, webhookId), 'UNCHANGED');
    await replayFailed();
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    expect(await pull(world.db, webhookId)).toMatchObject([{ sequence: 2, trigger: 'REPLAY' }]);
  });

  test('still waits, and is due as before, if its own replay is cancelled first', async () => {
    const dueAt = await retryBehindFailed();
    await replayFailed();
    await cancel(world, world.db, await replay(world, world.db, webhookId));
    expect(await now()).toEqual(['1 READY', '2 waits']);
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    expect(await outboxOf(world)).toMatchObject(owedAt(dueAt));
  });
});
