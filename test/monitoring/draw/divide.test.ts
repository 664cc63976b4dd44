import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

import { divideExpr, divideRules, secondsOf } from '../../programs/draw/divide.js';
import { inRepository } from '../../programs/draw/paths.js';

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

  test('of the shipped rules, every `for` is divided and nothing is lost', () => {
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
