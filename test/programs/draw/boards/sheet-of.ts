import type { Bar, Drawing, Figure, Graph, Sheet } from '../page/sheet.js';
import type { Answered, Line } from './ask.js';
import type { Board, FieldConfig, Panel } from './board.js';
import { css, nth } from './colors.js';
import { sorted } from './tables.js';
import { formatted } from './units.js';
import { configOf, reduced, shown } from './values.js';

export interface Labels {
  subtitle: string;
  caption: string;
  marks: Graph['marks'];
}

export function sheetOf(board: Board, answered: Answered[], { subtitle, caption, marks }: Labels): Sheet {
  const bottoms = answered.map(({ panel: { gridPos } }) => gridPos.y + gridPos.h);
  return {
    title: board.title,
    subtitle,
    caption,
    rows: board.rows,
    height: Math.max(1, ...bottoms),
    panels: answered.map((one) => ({
      place: one.panel.gridPos,
      title: one.panel.title,
      ...contentOf(one, marks),
    })),
  };
}

function contentOf(answered: Answered, marks: Graph['marks']): Partial<Drawing> {
  const { panel, table, errors } = answered;
  if (errors.length > 0) return { absent: errors.map(({ message }) => message).join('\n') };
  if (panel.type === 'text') return { text: String(panel.options.content ?? '') };
  if (panel.type === 'table') return table ? tableOf(answered) : absentOf(panel);
  if (panel.type === 'stat' || panel.type === 'gauge') return { figures: figuresOf(answered) };
  if (answered.lines.length === 0) return absentOf(panel);
  if (panel.type === 'bargauge') return { bars: barsOf(answered) };
  return { graph: graphOf(answered, marks) };
}

const absentOf = ({ fieldConfig }: Panel) => ({ absent: fieldConfig.defaults.noValue ?? 'No data' });

/** Where the queries return nothing, one figure that says so. */
export function figuresOf({ panel, lines, table }: Answered): Figure[] {
  const { defaults } = panel.fieldConfig;
  const isFilled = String(panel.options.colorMode ?? 'value').startsWith('background');
  const calc = panel.options.reduceOptions?.calcs?.[0];
  const hasSpark = panel.type === 'stat' && (panel.options.graphMode ?? 'area') === 'area';
  const ofTable = (table?.rows ?? []).flatMap((row) =>
    row.flatMap((cell, at): Line[] =>
      typeof cell === 'number'
        ? [{ name: table!.columns[at]!, refId: 'A', labels: {}, values: [cell], config: defaults }]
        : [],
    ),
  );
  const all = [...lines, ...ofTable];
  if (all.length === 0) {
    const { text, color } = shown(null, defaults);
    return [{ name: '', text, color: css(color), isFilled, spark: null }];
  }
  return all.map(({ name, values, config }) => {
    const { text, color } = shown(reduced(values, calc), config);
    return {
      name: all.length > 1 || /name/.test(panel.options.textMode ?? '') ? (config.displayName ?? name) : '',
      text: panel.options.textMode === 'name' ? (config.displayName ?? name) : text,
      color: css(color),
      isFilled,
      spark: hasSpark && values.filter((value) => value !== null).length > 1 ? values : null,
    };
  });
}

function barsOf({ panel, lines }: Answered): Bar[] {
  const calc = panel.options.reduceOptions?.calcs?.[0];
  const bars = lines.map((line) => ({ line, value: reduced(line.values, calc) }));
  const most = Math.max(...bars.map(({ value, line }) => line.config.max ?? value ?? 0), Number.MIN_VALUE);
  return bars.map(({ line: { name, config }, value }) => {
    const { text, color } = shown(value, config);
    return {
      name: config.displayName ?? name,
      text,
      color: css(color),
      share: Math.min(1, (value ?? 0) / most),
    };
  });
}

function graphOf({ panel, times, lines }: Answered, marks: Graph['marks']): Graph {
  const { defaults } = panel.fieldConfig;
  const custom = defaults.custom ?? {};
  const coloured = lines.map((line, n) => ({
    ...line,
    color: colorOf(line, n),
    name: line.config.displayName ?? line.name,
  }));
  const thresholds = (defaults.thresholds?.steps ?? []).flatMap(({ value, color }) =>
    value === null ? [] : [{ value, color: css(color) }],
  );
  const style = custom.thresholdsStyle?.mode ?? 'off';
  return {
    times,
    lines: coloured.map(({ name, color, values, config }) => ({
      name,
      color,
      values,
      fill: (config.custom?.fillOpacity ?? 0) / 100,
      width: config.custom?.lineWidth ?? 1,
      isDashed: config.custom?.lineStyle?.fill === 'dash',
      isBars: config.custom?.drawStyle === 'bars' || panel.type === 'state-timeline',
    })),
    isStacked: (custom.stacking?.mode ?? 'none') !== 'none',
    unit: defaults.unit ?? 'short',
    decimals: defaults.decimals,
    min: defaults.min,
    softMin: custom.axisSoftMin,
    max: defaults.max,
    softMax: custom.axisSoftMax,
    isLogarithmic: custom.scaleDistribution?.type === 'log',
    thresholds: style === 'off' ? [] : thresholds,
    thresholdStyle: style,
    legend: legendOf(panel, coloured),
    marks,
  };
}

function colorOf({ values, config }: Line, n: number): string {
  const mode = config.color?.mode ?? 'palette-classic';
  if (mode === 'fixed') return css(config.color?.fixedColor ?? 'text');
  return mode === 'thresholds' ? css(shown(reduced(values), config).color) : nth(n);
}

const calcNames: Record<string, string> = {
  lastNotNull: 'Last *',
  last: 'Last',
  max: 'Max',
  min: 'Min',
  mean: 'Mean',
  sum: 'Total',
};

function legendOf({ options }: Panel, lines: (Line & { color: string })[]): Graph['legend'] {
  const {
    showLegend = true,
    displayMode = 'list',
    placement,
    calcs = [],
    sortBy,
    sortDesc,
  } = options.legend ?? {};
  if (!showLegend || displayMode === 'hidden') return null;
  const calcOf = Object.keys(calcNames).find((calc) => calcNames[calc] === sortBy);
  const order = calcOf
    ? [...lines].sort(
        (a, b) =>
          ((reduced(a.values, calcOf) ?? -Infinity) - (reduced(b.values, calcOf) ?? -Infinity)) *
          (sortDesc ? -1 : 1),
      )
    : lines;
  return {
    isTable: displayMode === 'table',
    isRight: placement === 'right',
    calcs: calcs.map((calc: string) => calcNames[calc] ?? calc),
    items: order.map(({ name, color, values, config }) => ({
      name,
      color,
      figures: calcs.map((calc: string) => {
        const value = reduced(values, calc);
        return value === null ? '' : formatted(value, config);
      }),
    })),
  };
}

function tableOf({ panel, table }: Answered): Partial<Drawing> {
  if (!table || table.rows.length === 0) return absentOf(panel);
  const { displayName, desc } = panel.options.sortBy?.[0] ?? {};
  const { columns, rows } = displayName ? sorted(table, { field: displayName, desc }) : table;
  const configs = columns.map((column) => configOf(column, '', panel.fieldConfig));
  const isSeen = (at: number) => configs[at]!.custom?.hidden !== true && columns[at] !== 'Time';
  const seen = columns.map((_, at) => at).filter(isSeen);
  return {
    table: {
      columns: seen.map((at) => configs[at]!.displayName ?? columns[at]!),
      rows: rows.map((row) => seen.map((at) => cellOf(row[at], configs[at]!))),
    },
  };
}

function cellOf(cell: unknown, config: FieldConfig): { text: string; color?: string } {
  if (cell === null || cell === undefined) return { text: config.noValue ?? '' };
  if (cell instanceof Date) return { text: cell.toISOString().slice(0, 19).replace('T', ' ') };
  const value = typeof cell === 'number' ? cell : asText(cell);
  const { text, color } = shown(value, config);
  const isColoured =
    /color/.test(config.custom?.cellOptions?.type ?? '') || (typeof cell !== 'number' && config.mappings);
  return isColoured ? { text, color: css(color) } : { text };
}

const asText = (cell: unknown): string => (typeof cell === 'string' ? cell : JSON.stringify(cell));
