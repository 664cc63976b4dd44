import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { postgresStore } from '../../src/client/index.js';
import { createDatabase, dropDatabase } from '../support/database.js';

const databaseUrl = process.env.TEST_DATABASE_URL!;
const name = `t_${randomBytes(6).toString('hex')}`;
let pool: pg.Pool;

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: await createDatabase(databaseUrl, name, null), max: 8 });
  pool.on('error', () => undefined);
  await pool.query('create schema shop; create table handled (subject text, sequence int)');
  await Promise.all([storeOf().createTables(), storeOf().createTables()]);
});
afterAll(async () => {
  await pool?.end();
  await dropDatabase(databaseUrl, name);
});

/** The store as another process would have it. */
const storeOf = () => postgresStore<pg.PoolClient>(pool, { table: 'shop.received' });

const eventOf = (subject: string, sequence: number | null = 1) => ({
  ...{ eventId: randomUUID() as string, subject, sequence },
});
const write = (subject: string) => async (transaction: pg.PoolClient) => {
  await transaction.query('insert into handled values ($1, 1)', [subject]);
};
const countOf = async (subject: string) =>
  (await pool.query('select 1 from handled where subject = $1', [subject])).rows.length;

test('an effect is committed with the mark, and not again', async () => {
  const event = eventOf('ONCE');
  expect(await storeOf().look(event)).toEqual({ isSeen: false, lastSequence: 0 });
  expect(await storeOf().once(event, write('ONCE'))).toBe(true);
  expect(await storeOf().once(event, write('ONCE'))).toBe(false);
  expect(await storeOf().look(event)).toEqual({ isSeen: true, lastSequence: 1 });
  expect(await countOf('ONCE')).toBe(1);
});

test('one of ten copies at once in several processes is handled', async () => {
  const event = eventOf('TEN');
  const ran = await Promise.all(Array.from({ length: 10 }, () => storeOf().once(event, write('TEN'))));
  expect(ran.filter(Boolean)).toHaveLength(1);
  expect(await countOf('TEN')).toBe(1);
});

test('an older state is not handled; one without a sequence is, once', async () => {
  await storeOf().once(eventOf('OLD', 5), write('OLD'));
  expect(await storeOf().once(eventOf('OLD', 4), write('OLD'))).toBe(false);
  const without = eventOf('OLD', null);
  expect(await storeOf().once(without, write('OLD'))).toBe(true);
  expect(await storeOf().once(without, write('OLD'))).toBe(false);
  expect(await storeOf().look(without)).toEqual({ isSeen: true, lastSequence: 5 });
});

test('a process that dies before its commit leaves nothing, and the next copy is handled', async () => {
  const event = eventOf('DEAD');
  const dying = storeOf().once(event, async (transaction) => {
    await write('DEAD')(transaction);
    const { rows } = await transaction.query('select pg_backend_pid() as pid');
    await pool.query('select pg_terminate_backend($1)', [(rows[0] as { pid: number }).pid]);
  });
  await expect(dying).rejects.toThrow();
  expect(await countOf('DEAD')).toBe(0);
  expect(await storeOf().once(event, write('DEAD'))).toBe(true);
  expect(await countOf('DEAD')).toBe(1);
});

test('the last thousand ids of a very long journey are remembered', async () => {
  const events = Array.from({ length: 3 }, (_, index) => eventOf('LONG', index + 1_000));
  await storeOf().once(eventOf('LONG'), write('LONG'));
  await pool.query(
    `update shop.received set event_ids = array(select n::text from generate_series(1, 1000) n) where subject = 'LONG'`,
  );
  for (const event of events) await storeOf().once(event, write('LONG'));
  const { rows } = await pool.query(`select event_ids as ids from shop.received where subject = 'LONG'`);
  const { ids } = rows[0] as { ids: string[] };
  expect([ids.length, ids[0], ...ids.slice(-3)]).toEqual([
    1_000,
    '4',
    ...events.map(({ eventId }) => eventId),
  ]);
});

test.each(['Shop', 'a b', 'x; drop table y', '1a', ''])('a table named "%s" is refused', (table) => {
  expect(() => postgresStore(pool, { table })).toThrow(TypeError);
});
