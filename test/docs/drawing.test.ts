import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { drawing, drawingIn } from './drawing.js';

test('the drawing of the rooms is that of the imports; if not: npm run drawing', () => {
  const document = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
  expect(drawingIn(document).trim()).toBe(drawing().trim());
});

test('docs/architecture.md stays short enough to be read: a third of what it once was', () => {
  expect(readFileSync(new URL('../../docs/architecture.md', import.meta.url)).length).toBeLessThan(23_000);
});
