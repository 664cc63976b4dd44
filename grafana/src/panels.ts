import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import {
  MappingType,
  SpecialValueMatch,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type SpecialValueMap,
  type Threshold,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { quantile } from './promql.js';

/** The data source chosen at the top of the dashboard. */
const datasource = { type: 'prometheus', uid: '${datasource}' };

export interface Query {
  /** PromQL. */
  expr: string;
  /** Name of the series; `{{label}}` stands for a label's value. */
  legend: string;
}

export interface Panel {
  title: string;
  /** The meaning of the panel, and a normal value. */
  description: string;
  /** Grafana's id of the unit: `s`, `ops`, `percentunit`, `short`, `bytes`. */
  unit: string;
  queries: Query[];
  thresholds?: Threshold[];
  /** Lines on top of each other, where only their sum means something. */
  stacked?: boolean;
  /** Columns of 24. */
  span?: number;
}

const from = (value: number | null, color: string): Threshold => ({ value, color });

/** Nothing in this panel is good or bad by itself. */
const neutral = [from(null, 'blue')];

/** Good below `warning`, bad from `critical` on. */
export const below = (warning: number, critical: number): Threshold[] => [
  from(null, 'green'),
  from(warning, 'orange'),
  from(critical, 'red'),
];

/** Good from `fewest` on, bad below. */
export const atLeast = (fewest: number): Threshold[] => [from(null, 'red'), from(fewest, 'green')];

/** A share or a quantile of nothing. */
const nothing: SpecialValueMap = {
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NullAndNan, result: { text: '–' } },
};

/** Lines over time. */
export function graph(panel: Panel): TimeseriesBuilder {
  const builder = new TimeseriesBuilder()
    .fillOpacity(panel.stacked ? 30 : 8)
    .lineWidth(1)
    .showPoints(common.VisibilityMode.Never)
    .axisSoftMin(0)
    .legend(
      new common.VizLegendOptionsBuilder()
        .displayMode(common.LegendDisplayMode.List)
        .placement(common.LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi))
    .height(8)
    .span(panel.span ?? 8);
  if (panel.stacked) {
    builder.stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal));
  }
  if (panel.thresholds) {
    builder.thresholdsStyle(
      new common.GraphThresholdsStyleConfigBuilder().mode(common.GraphThresholdsStyleMode.Dashed),
    );
  }
  return described(builder, panel);
}

/** The last value as a large figure, coloured by its thresholds. */
export function figure(panel: Panel): StatBuilder {
  const builder = new StatBuilder()
    .colorMode(common.BigValueColorMode.Value)
    .graphMode(common.BigValueGraphMode.Area)
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .mappings([nothing])
    .height(5)
    .span(panel.span ?? 4);
  return described(builder, panel);
}

function described<Panels extends TimeseriesBuilder | StatBuilder>(builder: Panels, panel: Panel): Panels {
  builder
    .title(panel.title)
    .description(panel.description)
    .unit(panel.unit)
    .datasource(datasource)
    .targets(panel.queries.map(target))
    .thresholds(
      new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(panel.thresholds ?? neutral),
    );
  return builder;
}

const target = ({ expr, legend }: Query, index: number): Builder<Dataquery> =>
  new DataqueryBuilder()
    .datasource(datasource)
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .expr(expr)
    .legendFormat(legend)
    .range();

/** Median, 90th and 99th percentile of a histogram. */
export const percentiles = (histogram: string, matchers = ''): Query[] =>
  [0.5, 0.9, 0.99].map((q) => ({ expr: quantile(q, histogram, '', matchers), legend: `p${q * 100}` }));
