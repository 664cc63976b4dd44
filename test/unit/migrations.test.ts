import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Migration, pendingMigrations } from '../../src/platform/database/migrate.js';
import { ConfigError } from '../../src/platform/errors.js';
import { refusals } from '../support/migration-rules.js';
import { editedSince, migrationsNow, versionBefore } from '../support/version-before.js';

describe('the migrations of this version', () => {
  test.each(migrationsNow())('$name leaves the version before what it uses', ({ text }) => {
    expect(refusals(text)).toEqual([]);
  });

  test('are those of the last release, and what was added since', () => {
    const before = versionBefore();
    if (typeof before !== 'string' && before.isReleased) expect(editedSince(before)).toEqual([]);
  });
});

const refused = [
  'drop table outbox',
  'drop view sendable',
  'drop index if exists outbox_due',
  'drop function event_of_any_month(uuid)',
  'alter table outbox drop column due_at',
  'alter table outbox drop due_at, add column more text',
  'alter table if exists only outbox add column more text, drop column due_at cascade',
  'alter table outbox rename to owed',
  'alter table outbox rename column due_at to due',
  'alter index outbox_due rename to outbox_at',
  'alter table outbox alter column attempt_count type bigint',
  'alter table outbox alter attempt_count set data type bigint using attempt_count::bigint',
  'alter table outbox alter column due_at set not null',
  'alter table outbox alter column attempt_count drop default',
  'alter table outbox drop constraint outbox_pkey',
  'alter table outbox add constraint short check (length(reason) < 9)',
  'alter table outbox add unique (delivery_id)',
  'alter table outbox add column more text not null',
  'alter table outbox add column more numeric(10, 2) not null',
  'alter table deliveries detach partition deliveries_20261125',
  "alter type status rename value 'READY' to 'DUE'",
  'alter table outbox set schema archive',
  'create unique index outbox_one on outbox (delivery_id)',
  'truncate attempts',
  'revoke update on outbox from parcelhook_service',
  'do $$ begin alter table outbox drop column due_at; end $$',
];
const taken = [
  'create table more (more_id uuid primary key, n int not null)',
  'create table more (n int); create unique index more_n on more (n); alter table more add check (n > 0)',
  'create table more (n int); alter table more rename n to m; drop table more',
  'alter table outbox add column more text',
  'alter table outbox add more numeric(10, 2) not null default 0.0',
  'alter table outbox add column twice int not null generated always as (attempt_count * 2) stored',
  'alter table outbox alter column attempt_count set default 0',
  'alter table outbox alter column reason drop not null',
  'alter table outbox set (fillfactor = 50)',
  'create index concurrently outbox_more on outbox (due_at)',
  'create or replace function f() returns void language sql as $$ drop table outbox $$',
  "insert into key_check (sealed) values ('drop table outbox; alter table outbox drop column due_at')",
  'do $$ begin perform 1; end $$',
  'create function f() returns void language sql as $$ select 1 $$; revoke execute on function f() from public',
  '-- drop table outbox\nselect 1',
];

describe('a migration', () => {
  test.each(refused)('is refused: %s', (sql) => {
    expect(refusals(sql)).toEqual([{ line: 1, statement: expect.any(String), why: expect.any(String) }]);
  });

  test.each(taken)('is taken: %s', (sql) => {
    expect(refusals(sql)).toEqual([]);
  });

  test('may do it where a comment says why that is safe, and only there', () => {
    const sql = `-- release: no version since 1.2 reads it
                 alter table outbox drop column due_at;
                 alter table outbox drop column lease_until;`;
    expect(refusals(sql).map(({ line }) => line)).toEqual([3]);
    expect(refusals('-- release:\ndrop table outbox')).toHaveLength(1);
  });

  const blank = fc.constantFrom(
    ' ',
    '\n',
    '\t',
    '  \n ',
    ' /* a note; of -- several */ ',
    ' -- a note; it ends here\n',
  );
  const layouts = fc.array(blank, { minLength: 12, maxLength: 12 });
  const laidOut = (sql: string, blanks: string[], isUpper: boolean) =>
    (isUpper && !/['$]/.test(sql) ? sql.toUpperCase() : sql)
      .split(' ')
      .map((word, index) => word + blanks[index % blanks.length]!)
      .join('');

  test('is judged by what it does, however it is written, among others', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...refused), { maxLength: 4 }),
        fc.array(fc.constantFrom(...taken.filter((sql) => !/^--|create table/.test(sql))), { maxLength: 4 }),
        layouts,
        fc.boolean(),
        (bad, good, blanks, isUpper) => {
          const all = [...good, ...bad].filter((sql) => !/['$]/.test(sql));
          const expected = bad.filter((sql) => !/['$]/.test(sql)).length;
          const sql = all.map((one) => laidOut(one, blanks, isUpper)).join(';\n');
          expect(refusals(sql)).toHaveLength(expected);
        },
      ),
    );
  });
});

describe('applied migrations', () => {
  const [first, second, third]: Migration[] = ['0001-a', '0002-b', '0003-c'].map((name) => ({
    name,
    sha256: `hash of ${name}`,
  })) as [Migration, Migration, Migration];
  const known = [first, second];

  describe('of the migrations that a program has', () => {
    test.each([
      ['all, in an empty database', [], known],
      ['those that were not run yet', [first], [second]],
      ['none, where all were run, in whatever order they are listed', [second, first], []],
      ['none, where a newer program has run more', [first, second, third], []],
    ])('%s are pending', (_, applied, pending) => {
      expect(pendingMigrations(known, applied)).toEqual(pending);
    });

    test.each([
      ['whose text was changed', [{ ...first, sha256: 'another' }], '0001-a'],
      ['that is at the place of another', [first, third], '0003-c'],
      ['that goes before all', [{ name: '0000-z', sha256: 'z' }, first, second], '0000-z'],
      ['without a hash', [{ name: '0001-a' } as Migration], '0001-a'],
    ])('one %s is refused by name', (_, applied, name) => {
      const refused = () => pendingMigrations(known, applied);
      expect(refused).toThrow(ConfigError);
      expect(refused).toThrow(`its migration ${name} differs from`);
    });
  });
});
