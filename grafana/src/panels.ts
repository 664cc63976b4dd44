import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import {
  MappingType,
  SpecialValueMatch,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type Threshold,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { endlessSeconds, quantile } from './promql.js';

/** The data source chosen at the top of the dashboard. */
const datasource = { type: 'prometheus', uid: '${datasource}' };

export interface Query {
  /** PromQL. */
  expr: string;
  /** Name of the series; `{{label}}` stands for a label's value. */
  legend: string;
  /** Points with a trace, where traces are exported; a histogram has the same for each quantile. */
  hasExemplars?: boolean;
}

interface Panel {
  title: string;
  /** One or two sentences: the meaning of the figure, and a normal value. */
  description: string;
  /** Grafana's id of the unit: `s`, `ops`, `percentunit`, `short`, `bytes`. */
  unit: string;
  queries: Query[];
  thresholds?: Threshold[] | undefined;
  /** Columns of 24. */
  span?: number;
}

interface Graph extends Panel {
  /** Lines on top of each other, where only their sum means something. */
  stacked?: boolean;
  /** A table of the lines, the largest first: for as many lines as there are processes or routes. */
  ranked?: boolean;
}

interface Figure extends Panel {
  /** The meaning of a missing figure. `absent` is red: an expected series does not exist. */
  without: 'absent' | 'not known';
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

/** Worth a look from `fewest` on, never bad. */
export const noticed = (fewest: number): Threshold[] => [from(null, 'green'), from(fewest, 'orange')];

/** Good from `good` on, bad below `bad`. */
export const atLeast = (good: number, bad = good): Threshold[] => [
  from(null, 'red'),
  ...(bad < good ? [from(bad, 'orange')] : []),
  from(good, 'green'),
];

/** Lines over time. */
export function graph(panel: Graph): TimeseriesBuilder {
  const legend = new common.VizLegendOptionsBuilder()
    .placement(common.LegendPlacement.Bottom)
    .showLegend(true);
  if (panel.ranked)
    legend
      .displayMode(common.LegendDisplayMode.Table)
      .calcs(['lastNotNull', 'max'])
      .sortBy('Last *')
      .sortDesc(true);
  else legend.displayMode(common.LegendDisplayMode.List).calcs([]);
  const builder = new TimeseriesBuilder()
    .fillOpacity(panel.stacked ? 30 : 8)
    .lineWidth(1)
    .showPoints(common.VisibilityMode.Never)
    .axisSoftMin(0)
    .legend(legend)
    .tooltip(
      new common.VizTooltipOptionsBuilder()
        .mode(common.TooltipDisplayMode.Multi)
        .sort(common.SortOrder.Descending),
    )
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
  return described(builder, panel).targets(panel.queries.map((query, at) => target(query, at).range()));
}

const unknown = (text: string, color: string): ValueMapping => ({
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NullAndNan, result: { text, color, index: 0 } },
});

const endless: ValueMapping = {
  type: MappingType.RangeToText,
  options: { from: endlessSeconds, to: null, result: { text: 'does not shrink', index: 1 } },
};

/**
 * Figures of now, coloured by their thresholds. They are asked for at one moment: the last of a series would go on
 * being shown after the series has ended.
 */
export function figure(panel: Figure): StatBuilder {
  const builder = new StatBuilder()
    .colorMode(common.BigValueColorMode.Background)
    .graphMode(common.BigValueGraphMode.None)
    .textMode(
      panel.queries.length > 1 || panel.queries[0]!.legend.includes('{{')
        ? common.BigValueTextMode.ValueAndName
        : common.BigValueTextMode.Value,
    )
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['last']))
    .mappings([
      panel.without === 'absent' ? unknown('absent', 'red') : unknown('not known', '#808080'),
      ...(panel.unit === 's' ? [endless] : []),
    ])
    .height(5)
    .span(panel.span ?? 4);
  return described(builder, panel).targets(panel.queries.map((query, at) => target(query, at).instant()));
}

function described<Panels extends TimeseriesBuilder | StatBuilder>(builder: Panels, panel: Panel): Panels {
  builder
    .title(panel.title)
    .description(panel.description)
    .unit(panel.unit)
    .datasource(datasource)
    .thresholds(
      new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(panel.thresholds ?? neutral),
    );
  return builder;
}

function target({ expr, legend, hasExemplars }: Query, index: number) {
  const builder = new DataqueryBuilder()
    .datasource(datasource)
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .expr(expr)
    .legendFormat(legend) satisfies Builder<Dataquery>;
  return hasExemplars ? builder.exemplar(true) : builder;
}

/** Median, 90th and 99th percentile of a histogram. */
export const percentiles = (histogram: string, matchers = ''): Query[] =>
  [0.5, 0.9, 0.99].map((q) => ({
    expr: quantile(q, histogram, '', matchers),
    legend: `p${q * 100}`,
    hasExemplars: q === 0.99,
  }));
