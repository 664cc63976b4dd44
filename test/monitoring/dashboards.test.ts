import { describe, expect, test } from '@jest/globals';
import { dashboardFiles } from '../../grafana/src/dashboards.js';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import { dashboardTexts, expressions, interpolated, panels, selectorsOf } from './dashboards.js';
import { isInstalled } from './prometheus.js';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The metrics of node_exporter, and of the file that it reads. */
const ofMachine = /^(node_|parcelhook_backup_)/;

describe('dashboards', () => {
  test('the committed JSON is the output of `npm run dashboards`', () => {
    const generated = new Map(dashboardFiles.map(({ name, text }) => [name, text]));
    expect(new Map([...dashboardTexts()].sort())).toEqual(new Map([...generated].sort()));
  });

  test('every panel has a unit, a description and thresholds, and is in a row titled with a question', () => {
    const poor = panels().filter(
      ({ unit, description, hasThresholds, row }) =>
        !unit || !description || !isPlain(description) || !hasThresholds || !row.endsWith('?'),
    );
    expect(poor).toEqual([]);
    expect(panels().length).toBeGreaterThan(40);
  });

  test('every query uses the data source selected on the dashboard', () => {
    const elsewhere = panels().filter(
      ({ queries }) =>
        queries.length === 0 || queries.some(({ datasource }) => datasource !== '${datasource}'),
    );
    expect(elsewhere).toEqual([]);
  });

  test('no two panels of a dashboard have the same title', () => {
    const titles = panels().map(({ dashboard, title }) => `${dashboard} › ${title}`);
    expect(titles).toEqual([...new Set(titles)]);
  });

  test('every query names the environment, the job and the instance that are chosen', () => {
    const named = ['environment', 'job', 'instance'].map(
      (label) => new RegExp(`\\b${label}=~"\\$${label}\\|?"`),
    );
    const unscoped = expressions().filter((expr) => {
      const selectors = selectorsOf(expr);
      if (selectors.some((selector) => ofMachine.test(selector)))
        return !selectors.every((selector) => ofMachine.test(selector) && named[0]!.test(selector));
      // Any other name than a selector, function or label would be a metric without matchers.
      const bare = expr.replaceAll(/\{[^}]*\}|"[^"]*"/g, '').match(/\b(parcelhook_\w+|up|ALERTS)\b/g) ?? [];
      return (
        selectors.length === 0 ||
        bare.length !== selectors.length ||
        !selectors.every((selector) => named.every((pattern) => pattern.test(selector)))
      );
    });
    expect(unscoped).toEqual([]);
    expect(expressions().length).toBeGreaterThan(70);
  });

  test('every dashboard on Prometheus has these variables, one environment at a time, and marks deploys', () => {
    for (const [name, text] of dashboardTexts()) {
      const { templating, annotations } = JSON.parse(text);
      const [source, ...variables] = templating.list.map((variable: any) => [variable.name, variable.multi]);
      expect(source[0]).toBe('datasource');
      if (name === 'tenants.json') continue;
      expect({ name, variables }).toEqual({
        name,
        variables: [
          ['environment', false],
          ['job', true],
          ['instance', true],
        ],
      });
      const [{ expr }] = annotations.list;
      expect(selectorsOf(expr)).toEqual([
        expect.stringContaining('build_info{environment=~"$environment"'),
        expect.any(String),
      ]);
    }
  });

  test('every metric that a query names is exported, or is to come', async () => {
    const text = await createMetrics().text();
    const exported = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
    const names = expressions()
      .flatMap(selectorsOf)
      .map((selector) => selector.split('{')[0]!)
      .filter((name) => !['up', 'ALERTS'].includes(name) && !ofMachine.test(name));
    const isKnown = (name: string) =>
      [name, name.replace(/_(bucket|sum|count)$/, '')].some((metric) => exported.has(metric));
    expect([...new Set(names)].filter((name) => !isKnown(name))).toEqual([]);
    expect(new Set(names).size).toBeGreaterThan(50);
  });

  test('a figure is asked for at one moment, and says what it means if there is none', () => {
    for (const text of dashboardTexts().values())
      for (const panel of JSON.parse(text).panels.filter(({ type }: any) => type === 'stat')) {
        expect(panel.targets.map(({ instant, range }: any) => [instant, range])).toEqual(
          panel.targets.map(() => [true, false]),
        );
        expect(panel.options.reduceOptions.calcs).toEqual(['last']);
        for (const { expr } of panel.targets) expect(expr).toMatch(/ or on \(\) vector\(NaN\)$/);
        expect(panel.fieldConfig.defaults.mappings[0].options.match).toBe('null+nan');
      }
  });

  const firstRows = () => panels().filter(({ dashboard }) => dashboard === 'Overview');

  test('Overview begins with what is ours, where absence is red, and goes on with what is theirs, where it is not', () => {
    const { panels: all } = JSON.parse(dashboardTexts().get('overview.json')!);
    const absentIn = (half: string) => {
      const titles = firstRows().flatMap(({ row, title }) => (row.startsWith(half) ? [title] : []));
      return all
        .filter(({ title, type }: any) => type === 'stat' && titles.includes(title))
        .map(({ title, fieldConfig }: any) => [title, fieldConfig.defaults.mappings[0].options.result.text]);
    };
    expect([...new Set(firstRows().map(({ row }) => row.split(':')[0]))].slice(0, 2)).toEqual([
      'Ours',
      'Theirs',
    ]);
    expect(absentIn('Ours')).toEqual([
      ['Error budget left', 'absent'],
      ['Sendable to attempt', 'absent'],
      ['Order to created', 'absent'],
      ['Bad API requests', 'absent'],
      ['Ready of expected', 'absent'],
    ]);
    expect(absentIn('Theirs').map(([, text]: string[]) => text)).toEqual(Array(3).fill('not known'));
  });

  (isInstalled() ? test : test.skip)('every query is PromQL', () => {
    const groups = expressions().map((expr, at) => ({
      name: `g${at}`,
      rules: [{ record: `r${at}`, expr: interpolated(expr) }],
    }));
    const folder = mkdtempSync(join(tmpdir(), 'parcelhook-queries-'));
    const file = join(folder, 'queries.yml');
    writeFileSync(file, JSON.stringify({ groups })); // JSON is YAML
    const { stdout, stderr, status } = spawnSync('promtool', ['check', 'rules', '--lint=none', file], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect({ status, said: `${stdout}${stderr}`.slice(-2_000) }).toMatchObject({ status: 0 });
  });

  const linter = 'dashboard-linter';
  const hasLinter = spawnSync(linter, ['--help'], { stdio: 'ignore' }).status === 0;
  if (!hasLinter) console.warn(`\n  NO ${linter} ON PATH: what Grafana's own linter says is NOT TESTED.\n`);

  (hasLinter ? test : test.skip)("Grafana's own linter finds nothing", () => {
    for (const name of dashboardTexts().keys()) {
      const { stderr, status } = spawnSync(linter, ['lint', '--strict', `grafana/dashboards/${name}`], {
        encoding: 'utf8',
      });
      expect({ name, status, stderr: status === 0 ? '' : stderr }).toEqual({ name, status: 0, stderr: '' });
    }
  });
});

/** One or two sentences, each of which ends and none of which is long. */
function isPlain(description: string): boolean {
  const sentences = description.split(/(?<=[.!?]) (?=[A-Z0-9])/);
  return (
    description.length > 15 && description.length < 220 && description.endsWith('.') && sentences.length <= 2
  );
}
