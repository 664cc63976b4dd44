import { describe, expect, test } from '@jest/globals';
import { pendingMigrations, type Migration } from '../../../../src/platform/database/migrate.js';
import { ConfigError } from '../../../../src/platform/errors.js';

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
