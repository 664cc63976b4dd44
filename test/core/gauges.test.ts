import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { refreshGauges } from '../../src/operator/gauges.js';
import { createMetrics } from '../../src/platform/metrics.js';
import { createWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const oldestSnapshot = async () => {
  const metrics = createMetrics();
  await refreshGauges({ db: world.db, producers: new Map(), metrics });
  return Number(/^parcelhook_postgres_oldest_snapshot_seconds (.+)$/m.exec(await metrics.text())![1]);
};

test('the oldest snapshot is that of a transaction somebody has left open, and gone with it', async () => {
  const forgotten = new pg.Client({ connectionString: world.databaseUrl });
  await forgotten.connect();
  await forgotten.query('begin isolation level repeatable read');
  await forgotten.query('select 1');
  await sleep(1_100);
  expect(await oldestSnapshot()).toBeGreaterThan(1);
  await forgotten.query('commit');
  expect(await oldestSnapshot()).toBeLessThan(1);
  await forgotten.end();
});
