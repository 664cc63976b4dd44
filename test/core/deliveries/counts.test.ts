import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { requestRedelivery } from '../../../src/catch-up/by-hand.js';
import {
  claimRedeliveries,
  settleRedelivery,
  takeLapsedRedeliveries,
} from '../../../src/engine/outbox/redelivery.js';
import { settle, settleOnceMore } from '../../../src/engine/outbox/claim.js';
import type { Claim } from '../../../src/engine/outbox/types.js';
import { createFold, dropOldHours, readHours } from '../../../src/history/stats/store.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { newId } from '../../../src/platform/ids.js';
import {
  finish,
  lapse,
  leaseMs,
  muchRoom,
  pull,
  record,
  settlementOf,
  takeUpLapsed,
} from '../../support/core/acts.js';
import { addPlantedOrder, erase, recordPlanted } from '../../support/core/erasures.js';
import { replay } from '../../support/core/replays.js';
import { type World, addShipment, addWebhook, createWorld, logger } from '../../support/core/world.js';
import { percentile } from '../../support/load.js';
import { expectCountsMatchLog } from '../../support/outbox.js';

const hourMs = 3_600_000;

let world: World;
let webhookId: string;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.sql(
    `truncate outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, attempt_counts, webhook_hours
     cascade`,
  );
  webhookId = await addWebhook(world, { ordering: 'NONE' });
});

const claimed = async (states = ['CREATED']): Promise<Claim[]> =>
  record(world.db, await addShipment(world), states, { room: muchRoom });
const takeUpLost = () => takeUpLapsed(world.db);
const foldAll = async () => {
  const fold = createFold(world.db, logger);
  while (await fold());
};
/** The sums of the last two hours, in case the hour has just changed. */
const sums = async (db: Database = world.db) => {
  const rows = await readHours(db, [webhookId], 2);
  return [rows.reduce((n, row) => n + row.succeeded, 0), rows.reduce((n, row) => n + row.failed, 0)];
};
const redeliver = async (claim: Claim): Promise<Claim> => {
  await requestRedelivery(world.db, claim.shipperId, claim.deliveryId);
  const [byHand] = await claimRedeliveries(world.db, [claim.deliveryId], leaseMs);
  return byHand!;
};
const settleByHand = (claim: Claim, succeeded: boolean) =>
  settleRedelivery(world.db, settlementOf(claim, succeeded ? 'SUCCEEDED' : 'RETRY'));

describe('attempts are counted as they enter the log', () => {
  test('successes, retried failures, last failures, and failures that cost no retry', async () => {
    for (const status of ['SUCCEEDED', 'RETRY', 'FAILED', 'UNCHANGED'] as const)
      await finish(world.db, await claimed(['CREATED', 'PICKED_UP']), status);
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    expect(await expectCountsMatchLog(world)).toBe(12);
    expect(await sums()).toEqual([6, 6]);
    await foldAll();
    await expectCountsMatchLog(world);
    expect(await sums()).toEqual([6, 6]);
  });

  test('by hand: finished deliveries and owed ones', async () => {
    const [finished] = await claimed();
    await finish(world.db, [finished!], 'FAILED');
    for (const succeeded of [false, true, false]) await settleByHand(await redeliver(finished!), succeeded);
    const [owed] = await claimed();
    await finish(world.db, [owed!], 'RETRY', { delayMs: hourMs });
    for (const succeeded of [false, true]) await settleByHand(await redeliver(owed!), succeeded);
    expect(await expectCountsMatchLog(world)).toBe(7);
    expect(await sums()).toEqual([2, 5]);
  });

  test('a replay brings a delivery back and counts nothing twice', async () => {
    await finish(world.db, await claimed(), 'FAILED');
    await replay(world, world.db, webhookId);
    await expectCountsMatchLog(world);
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    expect(await expectCountsMatchLog(world)).toBe(2);
    expect(await sums()).toEqual([1, 1]);
  });

  test('lost attempts as failed, without a duration, and their late results not at all', async () => {
    const late = await claimed(['CREATED', 'PICKED_UP']);
    await lapse(world);
    await takeUpLost();
    expect(await finish(world.db, late, 'SUCCEEDED')).toEqual([]);
    const byHand = await redeliver(late[0]!);
    await lapse(world);
    await takeLapsedRedeliveries(world.db, leaseMs, 100);
    expect(await settleByHand(byHand, true)).toBeNull();
    await finish(world.db, await pull(world.db, webhookId), 'SUCCEEDED');
    expect(await expectCountsMatchLog(world)).toBe(5);
    expect(await sums()).toEqual([2, 3]);
  });

  test('an attempt under way when its shipment is erased', async () => {
    const shipmentId = await addPlantedOrder(world);
    await recordPlanted(world.db, shipmentId, ['CREATED']);
    await erase(world.db, shipmentId);
    expect(await expectCountsMatchLog(world)).toBe(1);
    expect(await sums()).toEqual([0, 1]);
  });

  test('but tests are not, neither settled nor lost ones', async () => {
    const [settled, lost] = await claimed(['CREATED', 'PICKED_UP']);
    await world.sql(`update outbox set trigger = 'TEST'`);
    await settle(world.db, [{ ...settlementOf(settled!, 'FAILED'), trigger: 'TEST' }]);
    await lapse(world);
    await takeUpLost();
    const logged = await world.sql('select from deliveries where delivery_id = $1', [lost!.deliveryId]);
    expect(logged).toHaveLength(1);
    expect(await expectCountsMatchLog(world)).toBe(0);
    expect(await world.sql('select from attempt_counts')).toEqual([]);
  });

  test('but a result whose delivery is in the log already is not', async () => {
    const [there, other] = await claimed(['CREATED', 'PICKED_UP']);
    await world.sql(
      `insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count, completed_at)
       select shipper_id, delivery_id, event_id, webhook_id, state, 'CANCELLED', 0, now() from outbox
        where delivery_id = $1`,
      [there!.deliveryId],
    );
    await settleOnceMore(world.db, [settlementOf(there!, 'SUCCEEDED'), settlementOf(other!, 'SUCCEEDED')]);
    expect(await expectCountsMatchLog(world)).toBe(1);
  });
});

test('the counts match the log at any time, while workers settle and others fold', async () => {
  const shipmentIds = await Promise.all(Array.from({ length: 8 }, () => addShipment(world)));
  let working = true;
  const workers = shipmentIds.map(async (shipmentId, index) => {
    for (const state of ['CREATED', 'PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED']) {
      const claims = await record(world.db, shipmentId, [state], { room: muchRoom });
      await finish(world.db, claims, index % 2 === 0 ? 'RETRY' : 'SUCCEEDED');
      await finish(world.db, await pull(world.db, webhookId, 2), 'SUCCEEDED');
    }
  });
  const folds = [0, 1].map(async () => {
    const fold = createFold(world.db, logger);
    while (working) await fold();
  });
  const reads = (async () => {
    let looks = 0;
    for (; working; looks += 1)
      await world.db.transaction(async (tx) => {
        await tx.query('', 'set transaction isolation level repeatable read');
        const [succeeded, failed] = await sums(tx);
        const sql = <Row>(text: string) => tx.query<Row>('', text);
        expect(await expectCountsMatchLog({ sql })).toBe(succeeded! + failed!);
      });
    return looks;
  })();
  await Promise.all(workers);
  working = false;
  await Promise.all(folds);
  expect(await reads).toBeGreaterThan(3);
  await foldAll();
  expect(await expectCountsMatchLog(world)).toBeGreaterThanOrEqual(40);
  expect(await world.sql('select from attempt_counts')).toEqual([]);
});

test('a fold that fails halfway changes nothing', async () => {
  await finish(world.db, await claimed(['CREATED', 'PICKED_UP']), 'SUCCEEDED');
  await world.sql(`alter table webhook_hours add constraint never check (succeeded < 0)`);
  await expect(foldAll()).rejects.toThrow('never');
  expect(await sums()).toEqual([2, 0]);
  await world.sql('alter table webhook_hours drop constraint never');
  await foldAll();
  expect(await sums()).toEqual([2, 0]);
  await expectCountsMatchLog(world);
});

test('only hours older than the log, which are not shown, are dropped', async () => {
  await world.sql(
    `insert into webhook_hours (webhook_id, hour, succeeded, failed, durations_ms, duration_counts)
     select $1, date_trunc('hour', now(), 'UTC') - n * interval '1 hour', 1, 0, '{}', '{}'
       from generate_series(0, 800) n`,
    [webhookId],
  );
  await dropOldHours(world.db, 24 * hourMs);
  const rows = await readHours(world.db, [webhookId], 720);
  expect(rows.map((row) => row.succeeded)).toEqual(Array.from({ length: 720 }, () => 1));
  const left = await world.sql<{ n: number }>('select count(*)::int as n from webhook_hours');
  expect(left[0]!.n).toBeLessThanOrEqual(722);
});

describe('percentiles', () => {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

  const duration = fc.oneof(
    fc.integer({ min: 0, max: 100 }),
    fc.integer({ min: 60, max: 20_000 }),
    fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  );
  const pieces = fc.array(
    fc.record({ durations: fc.array(duration, { minLength: 1, maxLength: 30 }), folded: fc.boolean() }),
    { minLength: 1, maxLength: 5 },
  );

  /** Within 5 %, and exact for short durations. */
  const expectClose = (shown: number | null, exact: number) => {
    if (exact < 64) expect(shown).toBe(exact);
    else expect(Math.abs(shown! - exact) / exact).toBeLessThanOrEqual(0.05);
  };

  test('percentiles are within 5 % for any durations, folded or not', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (counts) => {
        const webhookId = newId();
        const fold = createFold(world.db, logger);
        for (const { durations, folded } of counts) {
          await world.sql(
            `insert into attempt_counts values ($1, date_trunc('hour', now(), 'UTC'), cardinality($2::int[]), 0, $2)`,
            [webhookId, durations],
          );
          if (folded) await fold();
        }
        const all = counts.flatMap(({ durations }) => durations);
        const rows = await readHours(world.db, [webhookId], 2);
        const hour = rows.find((row) => row.succeeded > 0)!;
        expect(hour.succeeded).toBe(all.length);
        expectClose(hour.p50Ms, percentile(all, 0.5));
        expectClose(hour.p95Ms, percentile(all, 0.95));
      }),
      { numRuns: 60, seed },
    );
  });
});
