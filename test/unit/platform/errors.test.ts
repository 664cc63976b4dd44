import { expect, test } from '@jest/globals';
import { conflict, describeError, unavailable } from '../../../src/platform/errors.js';

test('a log line states the cause of a failed connection', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
  const away = Object.assign(unavailable(), { cause: refused });
  expect(describeError(away)).toBe('UNAVAILABLE: connect ECONNREFUSED 127.0.0.1:5432');
  expect(describeError(Object.assign(new Error('deadlock detected'), { code: '40P01' }))).toBe(
    '40P01 deadlock detected',
  );
  expect(describeError(conflict('Taken.'))).toBe('Taken.');
});
