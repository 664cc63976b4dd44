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
  queries: { expr: string; datasource: string }[];
}

const folder = inRepository('grafana/dashboards');

/** The committed dashboards as Grafana loads them, by file name. */
export const dashboardTexts = (): Map<string, string> =>
  new Map(readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')]));

/** Every panel of every committed dashboard. */
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
            expr: target.expr,
            datasource: target.datasource.uid,
          })),
        },
      ];
    });
  });
}
