import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createWorld, openPool, type World } from './support/world.js';
import type { Pool } from '../../src/platform/database/postgres.js';

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

test('of two statements in one message the second sees what the first has committed, and runs where it has failed', async () => {
  expect(await tell('once')).toEqual([
    { status: 'fulfilled', value: [{ word: 'once' }] },
    { status: 'fulfilled', value: [{ words: 1 }] },
  ]);
  expect(await tell('once')).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: '23505' }) },
    { status: 'fulfilled', value: [{ words: 1 }] },
  ]);
  const [, heard] = await tell('twice'); // the only connection is given back each time, and goes on
  expect(heard).toMatchObject({ value: [{ words: 2 }] });
});

test('who asks for two statements beside others waits for his connection, and none is mixed up', async () => {
  const counts = Array.from({ length: 50 }, (_, number) => number);
  const answers = await Promise.all(
    counts.map((number) =>
      pool.together(
        (one) => one.query('first', 'select $1::int as number', [number]),
        (one) => one.query('second', 'select $1::int * 2 as double', [number]),
      ),
    ),
  );
  expect(answers).toEqual(
    counts.map((number) => [
      { status: 'fulfilled', value: [{ number }] },
      { status: 'fulfilled', value: [{ double: number * 2 }] },
    ]),
  );
});
