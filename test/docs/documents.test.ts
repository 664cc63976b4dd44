import { expect, test } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { variables } from '../../src/config/variables.js';
import { readTracked } from '../support/project-files.js';
import { configRows, page, rowsIn } from './config-table.js';
import { drawing, drawingIn } from './drawing.js';

const documents = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'src/client/README.md'],
  ...[
    'src/client/python/README.md',
    'src/engine/README.md',
    'src/catch-up/README.md',
    'src/history/README.md',
    'src/feed/README.md',
    'test/races/README.md',
  ],
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** Anchors as GitHub generates them. */
const anchors = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

test.each(documents)('%s links only to existing files and headings', (document) => {
  const links = [...readFileSync(document, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  const broken = links.filter(([, path, anchor]) => {
    const file = path ? join(dirname(document), path) : document;
    return !existsSync(file) || (anchor !== undefined && !anchors(file).includes(anchor));
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

test(`the table in ${page} matches the schema; if not: npm run config-table`, () => {
  expect(rowsIn(readTracked(page))).toEqual(configRows());
});

test.each(Object.entries(variables.shape))('%s has a description', (_name, schema) => {
  expect(schema.description).toMatch(/^\S.{20,}/);
});

test('the drawing of the folders is that of the imports; if not: npm run drawing', () => {
  expect(drawingIn(readTracked('docs/architecture.md')).trim()).toBe(drawing().trim());
});

test('docs/architecture.md stays short enough to be read', () => {
  expect(readTracked('docs/architecture.md').length).toBeLessThan(23_000);
});
