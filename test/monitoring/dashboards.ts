import { readdirSync, readFileSync } from 'node:fs';
import { inRepository } from './prometheus.js';

export interface Panel {
  dashboard: string;
  row: string;
  title: string;
  description?: string;
  unit?: string;
  /** Whether thresholds separate good from bad, or the panel declares that it has none. */
  hasThresholds: boolean;
  /** PromQL, or SQL where the dashboard is on PostgreSQL. */
  queries: { expr: string; sql?: string; datasource: string }[];
}

const folder = inRepository('grafana/dashboards');

/** The dashboards as Grafana loads them, by file name. */
export const dashboardTexts = (): Map<string, string> =>
  new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')]),
  );

export function panels(): Panel[] {
  return [...dashboardTexts().values()].flatMap((text) => {
    const dashboard = JSON.parse(text);
    let row = '';
    return dashboard.panels.flatMap((panel: any): Panel[] => {
      if (panel.type === 'row') {
        row = panel.title;
        return [];
      }
      const { defaults } = panel.fieldConfig;
      return [
        {
          dashboard: dashboard.title.replace('Parcelhook: ', ''),
          row,
          title: panel.title,
          description: panel.description,
          unit: defaults.unit,
          hasThresholds: defaults.thresholds?.steps.length > 0,
          queries: panel.targets.map((target: any) => ({
            expr: target.expr ?? '',
            sql: target.rawSql,
            datasource: target.datasource.uid,
          })),
        },
      ];
    });
  });
}

export const expressions = (): string[] =>
  panels().flatMap(({ queries }) => queries.flatMap(({ expr }) => (expr ? [expr] : [])));

/** `name{matchers}`. */
export const selectorsOf = (expr: string): string[] => expr.match(/\b[a-zA-Z_]\w*\{[^}]*\}/g) ?? [];

/** The expression as Grafana sends it with everything chosen, for a scrape each second. */
export const interpolated = (expr: string): string =>
  expr
    .replaceAll('$__rate_interval', '5s')
    .replaceAll('$environment', '.*')
    .replace(/\$(job|instance)/g, '.+');
