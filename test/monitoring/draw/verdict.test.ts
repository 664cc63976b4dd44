import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';
import { parse } from 'yaml';
import type { Answered } from '../../programs/draw/boards/ask.js';
import { divideExpr, divideRules, secondsOf } from '../../programs/draw/divide.js';
import { createMovement, unexplained } from '../../programs/draw/movement.js';
import { inRepository } from '../../programs/draw/paths.js';
import { withFewColors } from '../../programs/draw/png.js';
import { isComplete, latest, problemsOf } from '../../programs/draw/verdict.js';
import { createTold, toldAfterSeconds } from '../../programs/draw/watch.js';

const alert = (alertname: string, severity = 'page') => ({ alertname, environment: 'production', severity });
const expected = {
  production: { told: { Late: 30 }, mayBeTold: { Slow: 'it follows' }, red: 'ours' as const },
};
const asIs = { production: { red: 'ours' as const, panels: ['p99'] } };

describe('what is told', () => {
  test('an alert counts from when it began, once nothing has kept it quiet for a while', () => {
    const { told, look } = createTold();
    look([alert('Late')], 3);
    look([], 5); // kept quiet by its cause
    look([alert('Late'), alert('Watchdog', 'none')], 6);
    look([alert('Late')], 5.5 + toldAfterSeconds);
    expect(told.size).toBe(0);
    look([alert('Late')], 6 + toldAfterSeconds);
    expect([...told]).toEqual([['production Late', 6]]);
  });

  test('all is well where everything is told in time, and nothing else', () => {
    const told = new Map([
      ['production Late', 12],
      ['production Slow', 14],
    ]);
    expect(problemsOf(expected, told, asIs)).toEqual([]);
    expect(isComplete(expected, told)).toBe(true);
    expect(latest(expected)).toBe(30);
  });

  test.each([
    ['nothing is told', new Map<string, number>(), /Late is not told/],
    ['it is told late', new Map([['production Late', 31]]), /not within 30 s/],
    [
      'something else is told',
      new Map([
        ['production Late', 1],
        ['production Gone', 2],
      ]),
      /Gone .* is not to be/,
    ],
    [
      'it is told of another environment',
      new Map([['development Late', 1]]),
      /development Late .* is not to be/,
    ],
  ])('it is wrong where %s', (_, told, problem) => {
    expect(problemsOf(expected, told, asIs).join('\n')).toMatch(problem);
  });

  test('it is wrong where the other half is red, or none', () => {
    const told = new Map([['production Late', 1]]);
    for (const red of ['theirs', 'both', 'none'] as const)
      expect(problemsOf(expected, told, { production: { red, panels: ['Failing'] } })).toHaveLength(1);
  });
});

describe('panels that move', () => {
  const answered = (title: string, ...values: (number | null)[]) =>
    ({ panel: { title }, lines: [{ name: 'a', values }], table: null }) as unknown as Answered;

  test('one that changes within a scene or between scenes moves; one that never has figures does not', () => {
    const movement = createMovement();
    movement.note('overview', [
      answered('Changes', 1, 2),
      answered('Between', 1, 1),
      answered('Still', 0, 0),
      answered('Empty', null),
    ]);
    movement.note('overview', [
      answered('Changes', 1, 1),
      answered('Between', 2, 2),
      answered('Still', 0, 0),
      answered('Empty', null),
    ]);
    expect(movement.still()).toEqual([
      { panel: 'overview › Still', hadFigures: true },
      { panel: 'overview › Empty', hadFigures: false },
    ]);
    expect(unexplained(movement.still(), [[/Still/, 'nothing is erased']])).toEqual(['overview › Empty']);
  });
});

const division = { factor: 30, leastWindow: 4, leastAge: () => 30 };
const divided = (expr: string) => divideExpr(expr, division);

describe('rules with divided durations', () => {
  test.each([
    ['sum(rate(x_total{status=~"5.."}[5m]))', 'sum(rate(x_total{status=~"5.."}[10s]))'],
    ['rate(x_total[30s])', 'rate(x_total[4s])'],
    ['max_over_time(parcelhook_ready[6h:1m])', 'max_over_time(parcelhook_ready[720s:2s])'],
    ['increase(x_total[1h] offset 1d)', 'increase(x_total[120s] offset 2880s)'],
    ['predict_linear(x_bytes[6h], 4 * 3600) > 1', 'predict_linear(x_bytes[720s], (4 * 3600) / 30) > 1'],
  ])('windows, steps, offsets and forecasts are divided: %s', (expr, expected) => {
    expect(divided(expr)).toBe(expected);
  });

  test.each([
    ['time() - max(parcelhook_walked_timestamp_seconds) > 9000', '> 300'],
    ['time() - max(parcelhook_walked_timestamp_seconds) > 30 * 60', '> 1 * 60'],
    ['max(parcelhook_sendable_oldest_seconds) > 120', '> 30'],
    ['min by (queue) (parcelhook_queue_canary_age_seconds{queue="a 90"}) > 20', '> 20'],
  ])('an age is divided, but not below what the service itself needs: %s', (expr, end) => {
    expect(divided(expr).endsWith(end)).toBe(true);
  });

  test.each([
    'sum(rate(parcelhook_x_seconds_bucket{le="5.0"}[240s])) > 100',
    'parcelhook_nodejs_eventloop_lag_p99_seconds - 0.05 > 0.25',
    'histogram_quantile(0.99, sum by (le) (rate(parcelhook_x_seconds_bucket[240s]))) > 60',
    'parcelhook_webhooks{status="90m"} > 100 and max(parcelhook_circuits_open) >= 5',
    'parcelhook:failing:ratio_rate1h > 14.4 * 0.01',
    'max(parcelhook_sendable_oldest_seconds) > 5',
  ])('latencies, counts, shares and names stay: %s', (expr) => {
    expect(divideExpr(expr, { ...division, leastWindow: 240 })).toBe(expr);
  });

  test('have every `for` of the shipped rules divided, and nothing lost', () => {
    const text = readFileSync(inRepository('grafana/prometheus/rules.yml'), 'utf8');
    const rulesOf = (yaml: string) => parse(yaml).groups.flatMap((group: any) => group.rules);
    const before = rulesOf(text);
    const after = rulesOf(divideRules(text, division));
    expect(after.map(({ for: wait }: any) => wait && secondsOf(wait))).toEqual(
      before.map(({ for: wait }: any) => wait && secondsOf(wait) / 30),
    );
    const rest = ({ for: _for, expr: _expr, ...others }: any) => others;
    expect(after.map(rest)).toEqual(before.map(rest));
    expect(before.length).toBeGreaterThan(10);
  });
});

function pngOf(pixels: [number, number, number][][]): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(pixels[0]!.length, 0);
  header.writeUInt32BE(pixels.length, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const lines = Buffer.concat(pixels.map((line) => Buffer.from([0, ...line.flat()])));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const dataOf = (png: Buffer, type: string): Buffer => {
  const at = png.indexOf(type, 0, 'latin1');
  return png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4));
};

test('a drawing keeps its frequent colours, and others become the nearest of them', () => {
  const [black, red, nearlyRed] = [
    [0, 0, 0],
    [255, 0, 0],
    [250, 4, 0],
  ] as [number, number, number][];
  const png = withFewColors(
    pngOf([
      [black!, black!, red!],
      [black!, red!, nearlyRed!],
    ]),
    2,
  );
  const palette = [...dataOf(png, 'PLTE')];
  expect(palette).toEqual([0, 0, 0, 255, 0, 0]);
  expect([...inflateSync(dataOf(png, 'IDAT'))]).toEqual([0, 0, 0, 1, 0, 0, 1, 1]);
});
