import { describe, expect, test } from '@jest/globals';
import type { Due } from '../../src/engine/outbox/types.js';
import { settle, takeLapsed } from '../../src/engine/outbox/claim.js';
import { resultsOf, type SettleBatchOptions } from '../../src/engine/settle/settler.js';
import { unavailable } from '../../src/platform/errors.js';
import { drain, finish, leaseMs, muchRoom, pull, record, settlementOf } from '../support/core/acts.js';
import { expectEachOnce } from '../support/core/checks.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { outboxOf } from '../support/core/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts');

const lost = { status: 'rejected' as const, reason: unavailable() };

/** The first state is being sent; the second waits for it. */
const sendFirst = () => record(world.db, shipmentId, ['CREATED', 'PICKED_UP'], { room: muchRoom });

const startedAt = new Date();

async function settleOver(db: SettleBatchOptions['db'], claims: Awaited<ReturnType<typeof record>>) {
  const notified: string[] = [];
  const notify = (due: Due[]) => void notified.push(...due.map(({ webhookId }) => webhookId));
  const settled = await finish(db, claims, 'SUCCEEDED', { notify, startedAt }).catch(
    (error: unknown) => error,
  );
  return { settled, notified };
}

const withResults = (change: (results: [unknown, unknown]) => [unknown, unknown]) => ({
  ...world.db,
  together: async (...statements: Parameters<typeof world.db.together>) =>
    change(await world.db.together(...statements)),
});

async function expectBothSent(): Promise<void> {
  await drain(world);
  await expectEachOnce(world, [webhookId], [shipmentId]);
}

describe('the webhook with the next due state is notified', () => {
  test('when both statements succeed', async () => {
    const { notified } = await settleOver(world.db, await sendFirst());
    expect(notified).toEqual([webhookId]);
    expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
    await expectBothSent();
  });

  test('when both are done and both results are lost: the outcome is found when it is recorded again', async () => {
    const claims = await sendFirst();
    const silent = withResults(() => [lost, lost]) as SettleBatchOptions['db'];
    expect((await settleOver(silent, claims)).settled).toBe(lost.reason);
    expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
    const { settled, notified } = await settleOver(world.db, claims);
    expect(settled).toEqual(claims);
    expect(notified).toEqual([webhookId]);
    await expectBothSent();
  });

  test('when only the result of the release is lost', async () => {
    const claims = await sendFirst();
    const silent = withResults(([settled]) => [settled, lost]) as SettleBatchOptions['db'];
    const { settled, notified } = await settleOver(silent, claims);
    expect(settled).toEqual(claims);
    expect(notified).toEqual([webhookId]);
    await expectBothSent();
  });

  test('when the release fails at first: it is repeated', async () => {
    const claims = await sendFirst();
    const { settled, notified } = await settleOver(
      {
        ...world.db,
        together: async (first) => [(await Promise.allSettled([first(world.db)]))[0], lost],
      },
      claims,
    );
    expect(settled).toEqual(claims);
    expect(new Set(notified)).toEqual(new Set([webhookId]));
    expect(await now()).toEqual(['1 SUCCEEDED', '2 READY']);
    await expectBothSent();
  });

  test('when the log has the delivery already: it leaves the outbox, and the next is released', async () => {
    const claims = await sendFirst();
    const [row] = await outboxOf(world);
    await world.sql(
      `insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count, completed_at)
       select shipper_id, delivery_id, event_id, webhook_id, state, 'FAILED', 1, now() from outbox where delivery_id = $1`,
      [row!.delivery_id],
    );
    const { settled, notified } = await settleOver(world.db, claims);
    expect(settled).toEqual(claims);
    expect(notified).toContain(webhookId);
    expect(await outboxOf(world)).toMatchObject([{ sequence: 2, waits_turn: false }]);
  });
});

test('one of two attempts of a delivery settled together is already recorded, and the other is lost', async () => {
  const [lapsed] = await sendFirst();
  await world.sql('update outbox set lease_until = now()');
  await takeLapsed(world.db, [lapsed!], { leaseMs, testLeaseMs: leaseMs });
  const [again] = await pull(world.db, webhookId);
  const both = [settlementOf(lapsed!, 'SUCCEEDED'), settlementOf(again!, 'SUCCEEDED')];
  await settle(world.db, both.slice(1));
  const settled = await settle(world.db, both);
  expect(await resultsOf(world.db, both, settled)).toEqual([{ kind: 'lost' }, { kind: 'alreadySettled' }]);
});

test('the outcome of an attempt whose claim another has taken over since is refused', async () => {
  const [stale] = await sendFirst();
  await world.sql(`update outbox set attempt_count = 2 where status = 'SENDING'`); // as the next claim does
  const before = await outboxOf(world);
  expect(await finish(world.db, [stale!], 'SUCCEEDED')).toEqual([]);
  expect(await outboxOf(world)).toEqual(before);
});
