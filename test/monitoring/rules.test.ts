import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { panels } from './dashboards.js';
import { alertmanagerIsInstalled } from './alertmanager.js';
import { inRepository, isInstalled } from './prometheus.js';

const read = (path: string) => readFileSync(inRepository(path), 'utf8');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);
const rules = read('grafana/prometheus/rules.yml');
const runbook = read('docs/runbook.md');
const alerts = [...new Set(matches(rules, /^ +- alert: (\w+)$/gm))];

const ruleTests = readdirSync(inRepository('grafana/prometheus')).filter((name) =>
  name.endsWith('.test.yml'),
);

const run = (tool: string, ...args: string[]) => {
  // Collecting its garbage four times as seldom takes a sixth of its time away.
  const env = { ...process.env, GOGC: '400' };
  const { status, stdout, stderr } = spawnSync(tool, args, { encoding: 'utf8', env });
  return { status, output: stdout + stderr };
};
const passes = { status: 0, output: expect.stringContaining('SUCCESS') };

(isInstalled() ? describe : describe.skip)('promtool', () => {
  test.each([
    ['check', 'config', 'prometheus.yml'],
    ['check', 'rules', 'rules.yml'],
    ...ruleTests.map((file) => ['test', 'rules', file]),
  ])(
    '%s %s %s passes',
    (verb, what, file) => {
      expect(run('promtool', verb, what, inRepository(`grafana/prometheus/${file}`))).toEqual(passes);
    },
    240_000,
  );
});

(alertmanagerIsInstalled() ? test : test.skip)('Alertmanager takes its configuration', () => {
  expect(run('amtool', 'check-config', inRepository('grafana/alertmanager/alertmanager.yml'))).toEqual(
    passes,
  );
});

describe('alerts', () => {
  test('every alert is tested where it fires and where it does not', () => {
    const tests = ruleTests.map((name) => read(`grafana/prometheus/${name}`)).join('');
    const cases = matches(tests, /ALERTS\{(alertname="\w+"[^}]*\}\n +eval_time: .*\n +exp_samples:.*)/g);
    const untested = alerts.filter((alert) => {
      if (alert === 'ParcelhookWatchdog') return false; // fires always
      const own = cases.filter((text) => text.includes(`alertname="${alert}"`));
      return !own.some((text) => text.endsWith('[]')) || !own.some((text) => !text.endsWith('[]'));
    });
    expect(untested).toEqual([]);
    expect(alerts.length).toBeGreaterThan(10);
  });

  test('every alert has a section in the runbook, and every section an alert', () => {
    expect(matches(runbook, /^### (Parcelhook\w+)$/gm).sort()).toEqual([...alerts].sort());
  });

  test('whatever Alertmanager keeps quiet, or for what, is an alert', () => {
    const named = matches(
      read('grafana/alertmanager/alertmanager.yml'),
      /alertname =~? "?(\S+?)"?(?=[\],\n])/g,
    );
    expect(
      named.filter((pattern) => !alerts.some((alert) => new RegExp(`^(${pattern})$`).test(alert))),
    ).toEqual([]);
    const alternatives = named.flatMap((pattern) => /\((.+)\)/.exec(pattern)?.[1]!.split('|') ?? []);
    const isOf = (words: string) => alerts.some((alert) => new RegExp(`^Parcelhook${words}$`).test(alert));
    expect(alternatives.filter((words) => !isOf(words))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });

  test('whatever the rules themselves ask for among the firing alerts is an alert', () => {
    const named = matches(rules, /\balertname=~?"([^"]+)"/g).flatMap((names) => names.split('|'));
    expect(named.filter((name) => !alerts.includes(name))).toEqual([]);
    expect(new Set(named).size).toBeGreaterThan(5);
  });

  test('every panel named in the runbook is on its dashboard', () => {
    const named = matches(runbook.replace(/\s+/g, ' '), /_(\w+ › [^_]+)_/g);
    const titles = panels().map(({ dashboard, title }) => `${dashboard} › ${title}`);
    expect(named.filter((name) => !titles.includes(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });
});
