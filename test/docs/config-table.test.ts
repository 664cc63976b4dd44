import { expect, test } from '@jest/globals';
import { variables } from '../../src/config/variables.js';
import { configRows, page, rowsIn } from './config-table.js';
import { readTracked } from '../support/project-files.js';

test(`the table in ${page} matches the schema; if not: npm run config-table`, () => {
  expect(rowsIn(readTracked(page))).toEqual(configRows());
});

test.each(Object.entries(variables.shape))('%s has a description', (_name, schema) => {
  expect(schema.description).toMatch(/^\S.{20,}/);
});
