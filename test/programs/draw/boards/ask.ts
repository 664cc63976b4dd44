import { divideExpr, type Division } from '../divide.js';
import type { Prometheus } from '../prometheus.js';
import type { Board, FieldConfig, Panel, Target } from './board.js';
import { transformed, type Table } from './tables.js';
import { configOf } from './values.js';
import { interpolate, interpolateSql, type Choices } from './variables.js';

/** Null where there is no value. */
export interface Line {
  name: string;
  refId: string;
  labels: Record<string, string>;
  values: (number | null)[];
  config: FieldConfig;
}

export interface Answered {
  panel: Panel;
  /** Seconds, the same for all lines. */
  times: number[];
  lines: Line[];
  /** The table of a panel of type `table`, and of what comes from SQL. */
  table: Table | null;
  errors: { target: Target; message: string }[];
}

export type Row = Record<string, unknown>;

export interface Sources {
  prometheus: Pick<Prometheus, 'range' | 'instant'>;
  /** Read only and with a time limit. */
  sql(text: string): Promise<Row[]>;
}

/** Seconds since 1970. */
export interface Span {
  from: number;
  to: number;
  step: number;
}

/** Multiplies the scrape interval, as Grafana's `$__rate_interval`. */
const rateIntervalSeconds = 4;

export async function ask(
  board: Board,
  choices: Choices,
  sources: Sources,
  span: Span,
  division: Division,
): Promise<Answered[]> {
  const times = Array.from(
    { length: Math.floor((span.to - span.from) / span.step) + 1 },
    (_, n) => span.from + n * span.step,
  );
  const answered: Answered[] = [];
  for (const panel of board.panels) {
    const answer: Answered = { panel, times, lines: [], table: null, errors: [] };
    const frames: Table[] = [];
    for (const target of panel.targets)
      try {
        if (target.rawSql) frames.push(tableOf(await sources.sql(sqlOf(target.rawSql, choices, span))));
        else await askPrometheus(target, answer, frames);
      } catch (error) {
        answer.errors.push({ target, message: `${target.refId}: ${(error as Error).message}` });
      }
    if (frames.length > 0) answer.table = transformed(frames, panel);
    answered.push(answer);
  }
  return answered;

  async function askPrometheus(target: Target, answer: Answered, frames: Table[]): Promise<void> {
    const expr = promqlOf(target.expr ?? '', choices, span, division);
    const isTable = answer.panel.type === 'table';
    const series =
      target.instant || isTable
        ? await sources.prometheus.instant(expr, span.to)
        : await sources.prometheus.range(expr, span.from, span.to, span.step);
    if (isTable)
      return void frames.push(
        tableOf(
          series.map(({ labels: { __name__, ...labels }, values }) => ({
            Time: values[0]![0] * 1_000,
            ...labels,
            [panelHasOne(answer.panel) ? 'Value' : `Value #${target.refId}`]: values[0]![1],
          })),
        ),
      );
    for (const { labels, values } of series) {
      const at = new Map(values.map(([time, value]) => [Math.round(time * 1_000), value]));
      const name = legendOf(target.legendFormat, labels);
      answer.lines.push({
        name,
        refId: target.refId,
        labels,
        values: target.instant
          ? times.map((_, n) => (n === times.length - 1 ? values[0]![1] : null))
          : times.map((time) => at.get(Math.round(time * 1_000)) ?? null),
        config: configOf(name, target.refId, answer.panel.fieldConfig),
      });
    }
  }
}

const panelHasOne = ({ targets }: Panel) => targets.length === 1;

function tableOf(rows: Row[]): Table {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return { columns, rows: rows.map((row) => columns.map((column) => row[column] ?? null)) };
}

/** Grafana's variables are filled in, and its own windows divided as those of the rules are. */
function promqlOf(expr: string, choices: Choices, span: Span, division: Division): string {
  const seconds = Math.ceil(span.to - span.from);
  // Windows as long as the drawn range are not divided: they are short already.
  const shownWindow = divideExpr(expr, division)
    .replace(/\$__range_s\b|\$\{__range_s\}/g, String(seconds))
    .replace(/\$__range_ms\b|\$\{__range_ms\}/g, String(seconds * 1_000))
    .replace(/\$__range\b|\$\{__range\}/g, `${seconds}s`)
    .replace(/\$__rate_interval\b|\$\{__rate_interval\}/g, `${rateIntervalSeconds}s`)
    .replace(/\$__interval\b|\$\{__interval\}/g, `${span.step}s`);
  return interpolate(shownWindow, choices);
}

/** Macros of Grafana's PostgreSQL data source that boards may use. */
function sqlOf(rawSql: string, choices: Choices, { from, to }: Span): string {
  const moment = (seconds: number) => `'${new Date(seconds * 1_000).toISOString()}'`;
  const filled = rawSql
    .replace(/\$__timeFilter\(([^)]+)\)/g, `$1 between ${moment(from)} and ${moment(to)}`)
    .replace(/\$__timeFrom\(\)/g, moment(from))
    .replace(/\$__timeTo\(\)/g, moment(to))
    .replace(/\$__unixEpochFrom\(\)/g, String(Math.floor(from)))
    .replace(/\$__unixEpochTo\(\)/g, String(Math.ceil(to)));
  return interpolateSql(filled, choices);
}

/** `{{label}}` stands for a label's value; without a legend, the series as Prometheus writes it. */
function legendOf(format: string | undefined, labels: Record<string, string>): string {
  if (format && format !== '__auto')
    return format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => labels[label] ?? '').trim();
  const { __name__ = '', ...rest } = labels;
  const matchers = Object.entries(rest).map(([label, value]) => `${label}="${value}"`);
  return matchers.length > 0 ? `${__name__}{${matchers.join(', ')}}` : __name__ || 'Value';
}

/** The moments that a board marks: where each stretch of its annotations begins. */
export async function marksOf(
  { annotations }: Board,
  choices: Choices,
  { prometheus }: Sources,
  span: Span,
  division: Division,
): Promise<{ at: number; color: string }[]> {
  const marks = [];
  for (const { expr, color } of annotations) {
    const query = promqlOf(expr, choices, span, division);
    for (const { values } of await prometheus.range(query, span.from, span.to, span.step)) {
      const begins = values.filter(([time], n) => n === 0 || time - values[n - 1]![0] > span.step);
      marks.push(...begins.map(([at]) => ({ at, color })));
    }
  }
  return marks;
}
