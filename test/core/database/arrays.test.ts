import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createWorld, openPool, type World } from '../../support/core/world.js';
import type { Pool } from '../../../src/platform/database/postgres.js';

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

test('arrays of any values arrive in PostgreSQL unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const column = (name: keyof (typeof given)[number]) => given.map((row) => row[name]);
      const read = await pool.query(
        'read-arrays',
        `select t.text, t.whole, t.real, t.truth, t.moment, t.bytes, t.json
           from unnest($1::text[], $2::int[], $3::float8[], $4::bool[], $5::timestamptz[], $6::bytea[], $7::jsonb[])
             with ordinality as t (text, whole, real, truth, moment, bytes, json, n) order by n`,
        [
          column('text'),
          column('whole'),
          column('real'),
          column('truth'),
          column('moment'),
          column('bytes'),
          column('json'),
        ],
      );
      expect(read).toEqual(
        given.map((row) => ({
          ...row,
          real: row.real === 0 ? expect.closeTo(0) : row.real,
          bytes: row.bytes && Buffer.from(row.bytes),
        })),
      );
    }),
    { numRuns: 200 },
  );
});
