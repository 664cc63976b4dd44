import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createWorld, openPool, type World } from '../../support/core/world.js';
import type { Pool } from '../../../src/platform/database/postgres.js';

let world: World;
let pool: Pool;

beforeAll(async () => {
  world = await createWorld();
  pool = openPool(world.databaseUrl, 1);
  await world.sql('create table told (word text primary key)');
});
afterAll(async () => {
  await pool.end();
  await world.stop();
});

const tell = (word: string) =>
  pool.together(
    (one) => one.query('tell', 'insert into told values ($1) returning word', [word]),
    (one) => one.query<{ words: number }>('heard', 'select count(*)::int as words from told'),
  );

test('of two statements in one message the second sees what the first committed, and runs even if the first fails', async () => {
  expect(await tell('once')).toEqual([
    { status: 'fulfilled', value: [{ word: 'once' }] },
    { status: 'fulfilled', value: [{ words: 1 }] },
  ]);
  expect(await tell('once')).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: '23505' }) },
    { status: 'fulfilled', value: [{ words: 1 }] },
  ]);
  const [, heard] = await tell('twice'); // the only connection was returned each time and still works
  expect(heard).toMatchObject({ value: [{ words: 2 }] });
});

test('a connection on which one of two statements failed is not reused, as after a single statement', async () => {
  const process = () => pool.query<{ pid: number }>('', 'select pg_backend_pid() as pid');
  const [first] = await process();
  await tell('well');
  expect(await process()).toEqual([first]);
  await tell('well');
  expect(await process()).not.toEqual([first]);
});
