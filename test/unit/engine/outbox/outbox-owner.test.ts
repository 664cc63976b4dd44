/** Only src/engine/outbox may access the table `outbox`. */
import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { readTracked } from '../../../support/project-files.js';

const owner = 'engine/outbox/';
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
const inSql = /\b(?:from|join|into|update|using|only|table|truncate)\s+outbox\b/i;
const inText = /(['"`])outbox\1/;
const asColumn = new RegExp(`\\b(?:${ownColumns.join('|')})\\b`);
const filesWith = (what: RegExp) => sources.flatMap(({ file, code }) => (what.test(code) ? [file] : []));
const outside = (what: RegExp, but: string[]) =>
  filesWith(what).filter((file) => ![owner, ...but].some((path) => file.startsWith(path)));

test('the columns searched for exist in the schema, and the folder uses them', () => {
  expect(ownColumns).toEqual(expect.arrayContaining(['waits_turn', 'due_at', 'only_replayed', 'retry_wait']));
  for (const what of [inSql, asColumn])
    expect(filesWith(what).filter((file) => file.startsWith(owner)).length).toBeGreaterThan(4);
});

test('no statement outside the folder reads or writes the table', () => {
  expect([...outside(inSql, []), ...outside(inText, asLabel)]).toEqual([]);
});

test('no statement outside the folder names a column that only the outbox has', () => {
  expect(outside(asColumn, [])).toEqual([]);
});
