import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { panels } from './dashboards.js';
import { inRepository, isInstalled } from './prometheus.js';

const read = (path: string) => readFileSync(inRepository(path), 'utf8');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);
const rules = read('grafana/prometheus/rules.yml');
const runbook = read('docs/runbook.md');
const alerts = [...new Set(matches(rules, /^ +- alert: (\w+)$/gm))];

const promtool = (...args: string[]) => {
  // Collecting garbage a quarter as often saves a sixth of the time.
  const env = { ...process.env, GOGC: '400' };
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', env });
  return { status, output: stdout + stderr };
};

(isInstalled() ? describe : describe.skip)('promtool', () => {
  test.each([
    ['check', 'config', 'prometheus.yml'],
    ['check', 'rules', 'rules.yml'],
    ['test', 'rules', 'rules.test.yml'],
  ])(
    '%s %s %s passes',
    (verb, what, file) => {
      expect(promtool(verb, what, inRepository(`grafana/prometheus/${file}`))).toEqual({
        status: 0,
        output: expect.stringContaining('SUCCESS'),
      });
    },
    90_000,
  );
});

describe('alerts', () => {
  test('every alert is tested firing and not firing', () => {
    const tests = read('grafana/prometheus/rules.test.yml');
    const cases = matches(tests, /ALERTS\{(alertname="\w+"[^}]*\}\n +eval_time: .*\n +exp_samples:.*)/g);
    const untested = alerts.filter((alert) => {
      const own = cases.filter((text) => text.includes(`alertname="${alert}"`));
      return !own.some((text) => text.endsWith('[]')) || !own.some((text) => !text.endsWith('[]'));
    });
    expect(untested).toEqual([]);
    expect(alerts.length).toBeGreaterThan(10);
  });

  test('every alert has a section in the runbook, and every section an alert', () => {
    expect(matches(runbook, /^## (Parcelhook\w+)$/gm).sort()).toEqual([...alerts].sort());
  });

  test('every panel named in the runbook is on its dashboard', () => {
    const named = matches(runbook.replace(/\s+/g, ' '), /_(\w+ › [^_]+)_/g);
    const titles = panels().map(({ dashboard, title }) => `${dashboard} › ${title}`);
    expect(named.filter((name) => !titles.includes(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });
});
