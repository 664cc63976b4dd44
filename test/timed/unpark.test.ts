import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { parkingKey } from '../../src/engine/engine.js';
import { parkPage } from '../../src/catch-up/replay/parked-store.js';
import { drain, record } from '../support/core/acts.js';
import { expectEachOnce } from '../support/core/checks.js';
import { advance } from '../support/core/replays.js';
import { setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { setStatus } from '../support/core/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

const isParked = async () =>
  (await world.sql(`select 1 from replays where kind = 'PARKED' and status = 'RUNNING'`)).length > 0;

/** Records with the locks of the real one. */
const recordSlowly = () =>
  world.db.transaction(async (tx) => {
    await tx.query('', `select pg_advisory_xact_lock_shared(${parkingKey('$1')})`, [world.shipperId]);
    await tx.query('', `select 1 from replays where kind = 'PARKED' and status = 'RUNNING' for key share`);
    await tx.query('', 'select pg_sleep(0.04)');
  });

test('a parked webhook is unparked soon although its shipper records all the time', async () => {
  await setStatus(world, webhookId, 'PAUSED');
  await record(world.db, shipmentId, ['CREATED']);
  await parkPage(world.db, null, { limit: 100, parkedAfter: 1 });
  await record(world.db, shipmentId, ['PICKED_UP']);
  await setStatus(world, webhookId, 'ACTIVE');
  let stopped = false;
  const recorders = [0, 1, 2, 3, 4].map(async (n) => {
    await sleep(n * 15);
    while (!stopped) await recordSlowly();
  });
  try {
    await sleep(200);
    const startedAt = performance.now();
    await advance(world.db);
    expect(await isParked()).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(900); // else the attempt would have been given up
  } finally {
    stopped = true;
    await Promise.all(recorders);
  }
  await drain(world);
  await expectEachOnce(world, [webhookId], [shipmentId]);
});
