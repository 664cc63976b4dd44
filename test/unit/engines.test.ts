/** `npm run test:unit` starts no engine and builds nothing. */
import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { readTracked } from '../support/project-files.js';

const needs = /TEST_(?:DATABASE|REDIS)_URL|['"]dist\/main|\/(?:harness|process|program|database|redis)\.js'/;

test('no test in this folder needs an engine or the built program: such tests belong in test/platform', () => {
  const files = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && file !== 'engines.test.ts');
  expect(files.length).toBeGreaterThan(40);
  expect(files.filter((file) => needs.test(readTracked(`test/unit/${file}`)))).toEqual([]);
});
