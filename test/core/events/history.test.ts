import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordEvents } from '../../../src/engine/record/record.js';
import { findTracking } from '../../../src/shipments/store.js';
import { collector, longHoldMs, recording } from '../../support/core/acts.js';
import { addPlantedOrder } from '../../support/core/erasures.js';
import { createWorld, type World } from '../../support/core/world.js';

const states = 20;
const evidenceBytes = 200_000;
const mebibyte = 1024 ** 2;

let world: World;
let trackingId: string;

beforeAll(async () => {
  world = await createWorld();
  const shipmentId = await addPlantedOrder(world);
  trackingId = `PH${shipmentId.replaceAll('-', '').toUpperCase()}`;
  const results = await recordEvents(
    recording(world.db, collector(), longHoldMs),
    Array.from({ length: states }, (_, n) => ({
      shipmentId,
      state: `STATE_${n + 1}`,
      evidences: ['e'.repeat(evidenceBytes)],
    })),
  );
  for (const result of results) if (result instanceof Error) throw result;
});
afterAll(() => world.stop());

const history = async () => (await findTracking(world.db, world.shipperId, trackingId))!.notifications;

/** Reads the latest 1 MiB of notifications, as one text. */
const readAsOneText = async () => {
  const [row] = await world.sql<{ text: string }>(
    `select '[' || string_agg(body, ',' order by sequence) || ']' as text from events where sequence > $1`,
    [states - Math.ceil(mebibyte / evidenceBytes)],
  );
  return JSON.parse(row!.text) as unknown[];
};

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const { user, system } = process.cpuUsage();
  for (let n = 0; n < 10; n += 1) await work();
  const used = process.cpuUsage();
  return used.user + used.system - user - system;
}

test('a history of much evidence has its latest states, as many as fit in 1 MiB, oldest first', async () => {
  const found = await history();
  const numbers = found.map(({ state }) => Number(String(state).slice(6)));
  const first = states - Math.ceil(mebibyte / evidenceBytes) + 1;
  expect(numbers).toEqual(Array.from({ length: states - first + 1 }, (_, n) => first + n));
  expect(found.at(-1)!.evidences).toEqual(['e'.repeat(evidenceBytes)]);
});

test('reading it costs a few times as much CPU as the same bytes as one text, not a hundred times', async () => {
  await history(); // connected and prepared
  const least = Math.min(...[await cpuOf(readAsOneText), await cpuOf(readAsOneText)]);
  expect(await cpuOf(history)).toBeLessThan(5 * least);
});
