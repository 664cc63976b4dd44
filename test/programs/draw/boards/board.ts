import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FieldConfig {
  unit?: string;
  decimals?: number;
  min?: number;
  max?: number;
  displayName?: string;
  noValue?: string;
  color?: { mode: string; fixedColor?: string };
  thresholds?: { mode: string; steps: { value: number | null; color: string }[] };
  mappings?: Mapping[];
  custom?: Record<string, any>;
}

export type Mapping =
  | { type: 'value'; options: Record<string, MappingResult> }
  | { type: 'range'; options: { from?: number | null; to?: number | null; result: MappingResult } }
  | { type: 'special'; options: { match: string; result: MappingResult } }
  | { type: 'regex'; options: { pattern: string; result: MappingResult } };

export interface MappingResult {
  text?: string;
  color?: string;
}

export interface Override {
  matcher: { id: string; options: any };
  properties: { id: string; value: any }[];
}

export interface Target {
  refId: string;
  /** PromQL; without it, `rawSql` is there. */
  expr?: string;
  rawSql?: string;
  legendFormat?: string;
  instant?: boolean;
  range?: boolean;
  format?: string;
}

/** Sizes are in columns of 24, and rows of 38 pixels. */
export interface Panel {
  id: number;
  type: string;
  title: string;
  description: string;
  /** Title of the row it stands in, or ''. */
  row: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: Target[];
  fieldConfig: { defaults: FieldConfig; overrides: Override[] };
  options: Record<string, any>;
  transformations: { id: string; options: any; disabled?: boolean }[];
}

export interface Variable {
  type: string;
  name: string;
  label?: string;
  query?: any;
  definition?: string;
  includeAll?: boolean;
  multi?: boolean;
  allValue?: string | null;
  current?: { value?: string | string[] };
}

export interface Board {
  /** The name of its file, without `.json`. */
  name: string;
  title: string;
  rows: { title: string; y: number }[];
  panels: Panel[];
  variables: Variable[];
  annotations: { name: string; expr: string; color: string }[];
}

export const readBoards = (folder: string): Board[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) =>
      boardOf(file.replace(/\.json$/, ''), JSON.parse(readFileSync(join(folder, file), 'utf8'))),
    );

/** `json` is a dashboard of schema version 1, as Grafana's provisioning reads it. */
export function boardOf(name: string, json: any): Board {
  const rows: Board['rows'] = [];
  const panels: Panel[] = [];
  for (const panel of json.panels ?? []) {
    if (panel.type !== 'row') panels.push(panelOf(panel, rows.at(-1)?.title ?? ''));
    else {
      rows.push({ title: panel.title ?? '', y: panel.gridPos.y });
      // Those of a collapsed row; it is drawn open.
      for (const inside of panel.panels ?? []) panels.push(panelOf(inside, panel.title ?? ''));
    }
  }
  return {
    name,
    title: json.title,
    rows,
    panels,
    variables: json.templating?.list ?? [],
    annotations: (json.annotations?.list ?? [])
      .filter((one: any) => one.expr && one.enable !== false)
      .map((one: any) => ({ name: one.name, expr: one.expr, color: one.iconColor ?? 'blue' })),
  };
}

const panelOf = (panel: any, row: string): Panel => ({
  id: panel.id,
  type: panel.type,
  title: panel.title ?? '',
  description: panel.description ?? '',
  row,
  gridPos: panel.gridPos,
  targets: (panel.targets ?? []).filter((target: any) => !target.hide),
  fieldConfig: {
    defaults: panel.fieldConfig?.defaults ?? {},
    overrides: panel.fieldConfig?.overrides ?? [],
  },
  options: panel.options ?? {},
  transformations: (panel.transformations ?? []).filter((one: any) => !one.disabled),
});
