import { describe, expect, test } from '@jest/globals';
import { conflict, describeError, unavailable } from '../../../src/platform/errors.js';
import {
  parseTraceparent,
  spanIdOf,
  traceIdOf,
  traceparentOf,
  withoutExport,
} from '../../../src/platform/telemetry/tracing.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('traceparent', () => {
  test.each(['00', '01', 'ff'])('is read whatever its flags are: %s', (flags) => {
    const context = parseTraceparent(`00-${traceId}-${spanId}-${flags}`)!;
    expect([traceIdOf(context), spanIdOf(context)]).toEqual([traceId, spanId]);
  });

  test('of a later version may have more fields', () => {
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01-what-the-future`)).not.toBeNull();
  });

  test.each([
    undefined,
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}1-${spanId}-01`,
    `00-${traceId}-${spanId}-0x`,
  ])('that is invalid gives no trace: %s', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });

  test('of a span has the trace of its parent and an id of its own', () => {
    const parent = parseTraceparent(`00-${traceId}-${spanId}-01`);
    const header = traceparentOf(withoutExport.start('attempt', { parent }));
    expect(header).toMatch(new RegExp(`^00-${traceId}-(?!${spanId})[\\da-f]{16}-00$`));
  });
});

test('a log line states the cause of a failed connection', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
  const away = Object.assign(unavailable(), { cause: refused });
  expect(describeError(away)).toBe('UNAVAILABLE: connect ECONNREFUSED 127.0.0.1:5432');
  expect(describeError(Object.assign(new Error('deadlock detected'), { code: '40P01' }))).toBe(
    '40P01 deadlock detected',
  );
  expect(describeError(conflict('Taken.'))).toBe('Taken.');
});
