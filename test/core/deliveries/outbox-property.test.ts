import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { drain } from '../../support/core/acts.js';
import { expectCountsMatchLog } from '../../support/outbox.js';
import { expectSoundRows, expectSweeperFindsStranded, notOnce } from '../../support/core/checks.js';
import { advance } from '../../support/core/replays.js';
import { runs } from '../../support/runs.js';
import { beginWalk, take, walk, type Walk } from './walks.js';
import { createWorld, logOf, setStatus, type World } from '../../support/core/world.js';

/** SEED=n tries another series; fast-check prints the seed of a failure. */
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const maxMs = 25_000;

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

test('in any order of events everything owed reaches the log once, and first successes come in order', async () => {
  await fc.assert(
    fc.asyncProperty(walk, async (rounds) => {
      await world.sql(
        'truncate outbox, events, deliveries, attempts, redeliveries, replays, attempt_counts, webhook_hours',
      );
      const done = await beginWalk(world);
      for (const steps of rounds) await Promise.all(steps.map((step) => take(world, done, step)));
      await expectSoundRows(world);
      for (const webhookId of done.webhookIds) await setStatus(world, webhookId, 'ACTIVE');
      await expectSweeperFindsStranded(world);
      await untilUnparked();
      for (const batch of await drain(world)) done.succeeded.push(...batch);
      await expectAllLoggedOnce(done);
      await expectCountsMatchLog(world);
      await expectReasonsHold(done);
      expectInOrder(done);
      await world.sql('update webhooks set deleted_at = now() where deleted_at is null'); // the next walk has its own webhooks
    }),
    { numRuns: runs(60, 20), seed, interruptAfterTimeLimit: maxMs, endOnFailure: true },
  );
}, 60_000);

async function untilUnparked(): Promise<void> {
  const parked = `select 1 from replays where kind = 'PARKED' and status = 'RUNNING'`;
  for (let step = 0; (await world.sql(parked)).length > 0; step += 1) {
    if (step === 10) throw new Error('still parked');
    await world.sql('update replays set next_at = now()');
    await advance(world.db);
  }
}

async function expectAllLoggedOnce({ webhookIds, shipmentIds }: Walk): Promise<void> {
  const [first, second, deletable] = webhookIds as [string, string, string];
  expect(await notOnce(world, [first, second], shipmentIds)).toEqual([]);
  const deleted = await world.sql('select 1 from webhooks where webhook_id = $1 and deleted_at is not null', [
    deletable,
  ]);
  const wrong = await notOnce(world, [deletable], shipmentIds);
  // Events recorded after the deletion were never owed.
  expect(wrong.filter(({ copies }) => deleted.length === 0 || copies > 1)).toEqual([]);
}

async function expectReasonsHold({ webhookIds }: Walk): Promise<void> {
  const [, superseding, deletable] = webhookIds;
  const logged = await logOf(world);
  for (const { reason, status, state, webhook_id: webhookId, shipment_id: shipmentId, sequence } of logged) {
    if (status !== 'CANCELLED') continue;
    if (reason === 'WEBHOOK_DELETED') expect(webhookId).toBe(deletable);
    else {
      expect([reason, webhookId]).toEqual(['SUPERSEDED', superseding]);
      expect(state).not.toBe('DELIVERED');
      const later = logged.some((row) => row.shipment_id === shipmentId && row.sequence > sequence);
      expect(later).toBe(true);
    }
  }
}

/** A state comes after a later one only if a replay brought it back from the log. */
function expectInOrder({ succeeded, failed }: Walk): void {
  const highest = new Map<string, number>();
  for (const { webhookId, shipmentId, sequence, deliveryId } of succeeded) {
    const key = `${webhookId} ${shipmentId}`;
    if (failed.has(deliveryId)) continue;
    expect(sequence).toBeGreaterThan(highest.get(key) ?? 0);
    highest.set(key, sequence);
  }
}
