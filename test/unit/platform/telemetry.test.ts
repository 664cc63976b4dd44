import { describe, expect, test } from '@jest/globals';
import { conflict, describeError, unavailable } from '../../../src/platform/errors.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
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

describe('a text for a scrape that accepts OpenMetrics', () => {
  /** OpenMetrics 1.0, ABNF: lines of metadata, samples with an exemplar of a bucket, the end. */
  const label = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"`;
  const labels = String.raw`\{(?:${label}(?:,${label})*)?\}`;
  const number = String.raw`(?:[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?|[+-]Inf|NaN)`;
  const form = new RegExp(
    [
      String.raw`^# HELP (\w+) (?:[^"\\]|\\["\\n])+$`,
      String.raw`^# TYPE (\w+) (?:counter|gauge|histogram)$`,
      String.raw`^(\w+)(?:${labels})? ${number}(?: # ${labels} ${number} \d+\.\d{3})?$`,
    ].join('|'),
    'i',
  );
  const isExported = (id: string) => id === traceId;

  test('has the same series, each in the family that its metadata begins, and ends as it must', async () => {
    const metrics = createMetrics({ isExporting: true, isExported });
    metrics.httpRequests.inc({ route: '/v1/"x"\\\n', method: 'GET', status: '200' });
    metrics.attemptDuration.observe({ outcome: 'success' }, 0.3);
    const text = await metrics.text();
    const lines = metrics.exemplars!.openMetrics(text).split('\n');
    expect(lines.splice(-2)).toEqual(['# EOF', '']);
    let [family, type] = ['', ''];
    for (const line of lines) {
      const [, help, typed, name] = form.exec(line) ?? [line];
      [, type = type] = /^# TYPE \w+ (\w+)$/.exec(line) ?? [];
      if (help !== undefined) family = help;
      else if (typed !== undefined) expect(typed).toBe(family);
      else {
        const suffix = { counter: '_total', gauge: '', histogram: '(_bucket|_sum|_count)' }[type];
        expect([line, name]).toEqual([line, expect.stringMatching(new RegExp(`^${family}${suffix}$`))]);
      }
    }
    const series = (all: string[]) => all.filter((line) => line !== '' && !line.startsWith('#'));
    expect(series(lines)).toEqual(series(text.split('\n')));
  });

  test('names the last exported trace of each bucket', async () => {
    const { attemptDuration, eventToSuccess, exemplars, text } = createMetrics({
      isExporting: true,
      isExported,
    });
    const observe = (seconds: number, id = traceId) => {
      attemptDuration.observe({ outcome: 'failure' }, seconds);
      exemplars!.keep(attemptDuration, seconds, id, { outcome: 'failure' });
    };
    for (const seconds of [0.011, 0.025, 61]) observe(seconds);
    observe(0.013, traceId.replace('4b', '5c'));
    eventToSuccess.observe(86_400);
    exemplars!.keep(eventToSuccess, 86_400, traceId);
    const found = exemplars!
      .openMetrics(await text())
      .matchAll(/^parcelhook_(.+) # \{trace_id="(\w+)"\} (\S+) /gm);
    expect([...found].map(([, series, id, value]) => [series, id, value])).toEqual([
      ['delivery_attempt_duration_seconds_bucket{le="0.025",outcome="failure"} 3', traceId, '0.025'],
      ['delivery_attempt_duration_seconds_bucket{le="+Inf",outcome="failure"} 4', traceId, '61'],
      ['event_to_success_seconds_bucket{le="86400"} 1', traceId, '86400'],
    ]);
  });

  test('does not exist where no traces are exported', () => {
    expect(createMetrics().exemplars).toBeNull();
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
