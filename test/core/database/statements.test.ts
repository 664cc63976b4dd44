import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Pool } from '../../../src/platform/database/postgres.js';
import { rowSet } from '../../../src/platform/database/parameters.js';
import { type World, createWorld, openPool } from '../../support/core/world.js';

let world: World;
let pool: Pool;
beforeAll(async () => {
  world = await createWorld();
  pool = openPool(world.databaseUrl, 1);
});
afterAll(async () => {
  await pool.end();
  await world.stop();
});

const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', 'null', 'NULL', ' ', '{}', ',', '"', '\\', '\\x00', "it's", 'a\nb', '0', 'é😀'),
);
const rows = fc.array(
  fc.record({
    text: fc.option(texts.map((text) => text.replaceAll('\0', ''))),
    whole: fc.option(fc.integer()),
    real: fc.option(fc.double({ noNaN: true })),
    truth: fc.option(fc.boolean()),
    moment: fc.option(fc.date({ min: new Date(0), max: new Date('+020000-01-01'), noInvalidDate: true })),
    bytes: fc.option(fc.uint8Array()),
    json: fc.option(
      fc.json().map((json) => ({ json: JSON.parse(json.replaceAll('\\u0000', '')) as unknown })),
    ),
  }),
);

const columns = {
  text: 'text',
  whole: 'int',
  real: 'float8',
  truth: 'bool',
  moment: 'timestamptz',
  bytes: 'bytea',
  json: 'jsonb',
} as const;
type Column = keyof typeof columns;
const inAnyOrder = fc.shuffledSubarray(Object.keys(columns) as Column[], { minLength: 1 });

test('rows of any values and columns arrive in PostgreSQL unchanged, after any other parameters', async () => {
  await fc.assert(
    fc.asyncProperty(
      inAnyOrder,
      rows,
      fc.array(fc.integer(), { maxLength: 3 }),
      async (names, all, others) => {
        const given = all.map(
          (row) => Object.fromEntries(names.map((name) => [name, row[name]])) as typeof row,
        );
        const set = rowSet<(typeof all)[number]>(
          Object.fromEntries(names.map((name) => [name, [columns[name], (row) => row[name]]])),
        );
        const before = others.map((_, index) => `$${index + 1}::int`).join(', ');
        const read = await pool.query(
          '',
          `select ${names.map((name) => `t.${name}`).join(', ')} from (select ${before || '1'}) others
          cross join ${set.as('t', others.length + 1, 'place')} order by place`,
          [...others, ...set.arrays(given)],
        );
        expect(set.count).toBe(names.length);
        expect(read).toEqual(
          given.map((row) => ({
            ...row,
            ...(names.includes('real') && { real: row.real === 0 ? expect.closeTo(0) : row.real }),
            ...(names.includes('bytes') && { bytes: row.bytes && Buffer.from(row.bytes) }),
          })),
        );
      },
    ),
    { numRuns: 200 },
  );
});

beforeAll(() => world.sql('create table told (word text primary key)'));

const tell = (word: string) =>
  pool.together(
    (one) => one.query('tell', 'insert into told values ($1) returning word', [word]),
    (one) => one.query<{ words: number }>('heard', 'select count(*)::int as words from told'),
  );

test('the second of two statements in one message sees what the first committed, and runs even if the first fails', async () => {
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

test('a connection on which either of two statements failed is not used again', async () => {
  const process = () => pool.query<{ pid: number }>('', 'select pg_backend_pid() as pid');
  const [first] = await process();
  await tell('well');
  expect(await process()).toEqual([first]);
  await tell('well');
  expect(await process()).not.toEqual([first]);
});
