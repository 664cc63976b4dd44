import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { refreshGauges } from '../../src/operator/gauges.js';
import { createMetrics } from '../../src/platform/metrics.js';
import { lapse, muchRoom, record, takeUpLapsed } from './support/acts.js';
import { addShipment, addWebhook, createWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const gauge = async (name: string) => {
  const metrics = createMetrics();
  await refreshGauges({ db: world.db, producers: new Map(), metrics });
  return Number(new RegExp(`^parcelhook_${name} (.+)$`, 'm').exec(await metrics.text())![1]);
};
const oldestSnapshot = () => gauge('postgres_oldest_snapshot_seconds');

test('a claim that ran out is shown until somebody takes it up, and none that holds', async () => {
  const oldest = () => gauge('oldest_lapsed_claim_seconds');
  await addWebhook(world);
  await record(world.db, await addShipment(world), ['CREATED'], { room: muchRoom });
  expect(await oldest()).toBe(0);
  await lapse(world);
  expect(await oldest()).toBeGreaterThan(0.9);
  await takeUpLapsed(world.db);
  expect(await oldest()).toBe(0);
});

test.each([
  ['that reads at one snapshot', 'begin isolation level repeatable read; select 1'],
  ['that has written something', 'begin; update shippers set name = name'],
])('the oldest snapshot is that of a transaction left open %s, and gone with it', async (_what, begin) => {
  const forgotten = new pg.Client({ connectionString: world.databaseUrl });
  await forgotten.connect();
  await forgotten.query(begin);
  await sleep(1_100);
  expect(await oldestSnapshot()).toBeGreaterThan(1);
  await forgotten.query('commit');
  expect(await oldestSnapshot()).toBeLessThan(1);
  await forgotten.end();
});
