import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type Tags } from 'yaml';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import { newFolder } from '../support/deployment.js';
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

/** `0x120` is a series of zeroes, and no number. */
const customTags = (tags: Tags) =>
  tags.filter((tag) => typeof tag === 'string' || !['HEX', 'OCT'].includes(tag.format ?? ''));

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: { severity?: string };
}
interface RuleTest {
  promql_expr_test: { expr: string }[];
}
const groups = (parse(rules) as { groups: { name: string; rules: Rule[] }[] }).groups;

/** Whether an expression reads what the rule writes; one that names no alert reads those of its severity, or all. */
function reads(expr: string, { alert, record, labels }: Rule): boolean {
  if (record) return expr.includes(record);
  return matches(expr, /ALERTS(?:_FOR_STATE)?(\{[^}]*\}|\b)/g).some((matchers) => {
    const [, names] = /alertname=~?"([^"]+)"/.exec(matchers) ?? [];
    const [, severity] = /severity="(\w+)"/.exec(matchers) ?? [];
    return names
      ? new RegExp(`^(${names})$`).test(alert!)
      : severity === undefined || severity === labels?.severity;
  });
}

/** The groups with the rules alone that a test asks for, and those that these ask for: the others cost nine tenths. */
function rulesFor({ promql_expr_test: asked }: RuleTest) {
  const all = groups.flatMap((group) => group.rules);
  const needed = new Set<Rule>();
  const exprs = asked.map(({ expr }) => expr);
  for (let expr = exprs.pop(); expr !== undefined; expr = exprs.pop())
    for (const rule of all)
      if (!needed.has(rule) && reads(expr, rule)) {
        needed.add(rule);
        exprs.push(rule.expr);
      }
  return groups.map((group) => ({ ...group, rules: group.rules.filter((rule) => needed.has(rule)) }));
}

(isInstalled() ? describe : describe.skip)('promtool', () => {
  test.each([
    ['config', 'prometheus.yml'],
    ['rules', 'rules.yml'],
  ])('check %s %s passes', (what, file) => {
    expect(run('promtool', 'check', what, inRepository(`grafana/prometheus/${file}`))).toEqual(passes);
  });

  /** The lines of a registry in which each histogram has one observation of so many seconds, as series that grow. */
  const growing = async (environment: string, seconds: number) => {
    const metrics = createMetrics();
    for (const histogram of [metrics.sendable, metrics.orderToCreated]) histogram.observe(seconds);
    return matches(await metrics.text(), /^(parcelhook_(?:sendable|order_to_created)_seconds_\w+.*)$/gm).map(
      (line) => {
        const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
        const all = [labels, `environment="${environment}"`, 'job="parcelhook-worker"'].filter(Boolean);
        return { series: `${name}{${all.join(',')}}`, values: `0+${value}x70` };
      },
    );
  };

  test('with the buckets of the service, nothing late is a share of 0, and all late a share of 1', async () => {
    const folder = newFolder();
    const expected = { quick: [0.05, 0], late: [600, 1] } as const;
    const names = groups
      .flatMap((group) => group.rules)
      .flatMap(({ record }) => (record?.includes('_late:ratio') ? [record] : []));
    const one = {
      interval: '1m',
      input_series: (
        await Promise.all(Object.entries(expected).map(([name, [seconds]]) => growing(name, seconds)))
      ).flat(),
      promql_expr_test: names.map((expr) => ({
        expr,
        eval_time: '60m',
        exp_samples: Object.entries(expected).map(([environment, [, value]]) => ({
          labels: `${expr}{environment="${environment}",job="parcelhook-worker"}`,
          value,
        })),
      })),
    };
    const path = (name: string) => join(folder.path, name);
    writeFileSync(path('rules.yml'), JSON.stringify({ groups: rulesFor(one) }));
    writeFileSync(
      path('test.yml'),
      JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '1m', tests: [one] }),
    );
    const outcome = run('promtool', 'test', 'rules', path('test.yml'));
    folder.remove();
    expect(outcome).toEqual(passes);
    expect(names).toHaveLength(8);
  });

  test('test rules passes, each test on the rules that it asks for', () => {
    const folder = newFolder();
    const files = ruleTests.flatMap((name) => {
      const { tests, ...settings } = parse(read(`grafana/prometheus/${name}`), { customTags }) as {
        tests: RuleTest[];
      };
      return tests.map((one, index) => {
        const own = join(folder.path, `${name}-${index}`);
        mkdirSync(own);
        writeFileSync(join(own, 'rules.yml'), JSON.stringify({ groups: rulesFor(one) })); // JSON is YAML
        writeFileSync(join(own, 'test.yml'), JSON.stringify({ ...settings, tests: [one] }));
        return join(own, 'test.yml');
      });
    });
    const { status, output } = run('promtool', 'test', 'rules', ...files);
    folder.remove();
    expect({ status, failed: status === 0 ? '' : output }).toEqual({ status: 0, failed: '' });
    expect(output.match(/SUCCESS/g)).toHaveLength(files.length);
    expect(files.length).toBeGreaterThan(50);
  }, 240_000);
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
