import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createFold } from '../../../src/history/stats/fold.js';
import { readHours } from '../../../src/history/stats/store.js';
import { newId } from '../../../src/platform/ids.js';
import { percentile } from '../../support/load.js';
import { createWorld, logger, type World } from '../../support/core/world.js';

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const duration = fc.oneof(
  fc.integer({ min: 0, max: 100 }),
  fc.integer({ min: 60, max: 20_000 }),
  fc.integer({ min: 0, max: 2 ** 31 - 1 }),
);
const pieces = fc.array(
  fc.record({ durations: fc.array(duration, { minLength: 1, maxLength: 30 }), folded: fc.boolean() }),
  { minLength: 1, maxLength: 5 },
);

/** Expects it within 5 %, and exact for short durations. */
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
