import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readdirSync } from 'node:fs';
import { recentMonths } from '../../../../src/engine/outbox/sql.js';
import { firstIdOf, timeOfId } from '../../../../src/platform/ids.js';
import { readTracked } from '../../../support/project-files.js';

/** Only these may access the table `outbox`. */
const owner = 'engine/outbox/';
const writers = [owner, 'catch-up/replay/piece-store.ts', 'catch-up/replay/parked-store.ts'];
const readers = ['observe/owed.ts', 'observe/backlog.ts', 'operator/delivery-facts.ts'];
const asLabel = ['platform/telemetry/metrics.ts', 'accounts/removal/removal.ts'];

const schema = readTracked('src/migrations/0001-first-release.sql');
const columnsOf = (table: string) =>
  [...schema.matchAll(new RegExp(`^create table ${table} \\(\\n(.*?)^\\)`, 'gms'))].flatMap(([, body]) =>
    [...body!.matchAll(/^ {2}(\w+) (?!key\b)/gm)].map(([, name]) => name!),
  );
const elsewhere = new Set(columnsOf('(?!outbox )\\w+'));
/** Columns that no other table has. */
const ownColumns = columnsOf('outbox').filter((column) => !elsewhere.has(column));

const sources = readdirSync(new URL('../../../../src/', import.meta.url), {
  recursive: true,
  encoding: 'utf8',
})
  .filter((path) => path.endsWith('.ts'))
  .map((path) => path.replaceAll('\\', '/'))
  .map((file) => ({
    file,
    code: readTracked(`src/${file}`).replace(/\/\*.*?\*\/|^\s*(?:\/\/|--).*?$/gms, ''),
  }));
const inWrite = /\b(?:insert\s+into|update|delete\s+from|truncate)\s+outbox\b/i;
const inSql = /\b(?:from|join|into|update|using|only|table|truncate)\s+outbox\b/i;
const inText = /(['"`])outbox\1/;
const asColumn = new RegExp(`\\b(?:${ownColumns.join('|')})\\b`);
const filesWith = (what: RegExp) => sources.flatMap(({ file, code }) => (what.test(code) ? [file] : []));
const outside = (what: RegExp, but: string[]) =>
  filesWith(what).filter((file) => !but.some((path) => file.startsWith(path)));

test('the columns searched for exist in the schema, and the folder uses them', () => {
  expect(ownColumns).toEqual(expect.arrayContaining(['waits_turn', 'due_at', 'only_replayed', 'retry_wait']));
  for (const what of [inSql, asColumn])
    expect(filesWith(what).filter((file) => file.startsWith(owner)).length).toBeGreaterThan(4);
});

test('no statement writes the table, except those of the folder and of replays', () => {
  expect(outside(inWrite, writers)).toEqual([]);
});

test('no statement reads the table, except those of a few files', () => {
  expect([
    ...outside(inSql, [...writers, ...readers]),
    ...outside(inText, [...writers, ...readers, ...asLabel]),
  ]).toEqual([]);
});

test('no statement names a column that only the outbox has, except those of a few files', () => {
  expect(outside(asColumn, [...writers, ...readers])).toEqual([]);
});

const dayMs = 86_400_000;
const moments = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2060, 0) });

test('the range covers whole months, from a week ago to a day ahead, at most two of them', () => {
  fc.assert(
    fc.property(moments, (nowMs) => {
      const { firstId, endId } = recentMonths(nowMs);
      const [first, end] = [firstId, endId].map((id) => new Date(timeOfId(id))) as [Date, Date];
      for (const bound of [first, end])
        expect(bound.toISOString()).toMatch(/^\d{4}-\d{2}-01T00:00:00\.000Z$/);
      expect(firstId <= firstIdOf(nowMs - 7 * dayMs)).toBe(true);
      expect(endId > firstIdOf(nowMs + dayMs)).toBe(true);
      expect(end.getTime() - first.getTime()).toBeLessThanOrEqual(62 * dayMs);
    }),
  );
});

test('different months have different names', () => {
  fc.assert(
    fc.property(moments, moments, (one, other) => {
      const [a, b] = [recentMonths(one), recentMonths(other)];
      expect(a.name === b.name).toBe(a.firstId === b.firstId && a.endId === b.endId);
    }),
  );
});
