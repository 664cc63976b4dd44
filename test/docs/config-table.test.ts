import { expect, test } from '@jest/globals';
import { variables } from '../../src/config/variables.js';
import { configRows, rowsIn } from './config-table.js';
import { readReadme } from '../support/project-files.js';

test("the README's configuration table matches the schema; if not: npm run config-table", () => {
  expect(rowsIn(readReadme())).toEqual(configRows());
});

test.each(Object.entries(variables.shape))('%s has a description', (_name, schema) => {
  expect(schema.description).toMatch(/^\S.{20,}/);
});
