import { type Threshold } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
export interface Query {
    /** PromQL. */
    expr: string;
    /** Name of the series; `{{label}}` stands for a label's value. */
    legend: string;
}
export interface Panel {
    title: string;
    /** What it shows and what is normal. */
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
/** Good below `warning`, bad from `critical` on. */
export declare const below: (warning: number, critical: number) => Threshold[];
/** Good from `fewest` on, bad below. */
export declare const atLeast: (fewest: number) => Threshold[];
/** Lines over time. */
export declare function graph(panel: Panel): TimeseriesBuilder;
/** The last value as a large figure, coloured by its thresholds. */
export declare function figure(panel: Panel): StatBuilder;
/** Median, 90th and 99th percentile of a histogram. */
export declare const percentiles: (histogram: string, matchers?: string) => Query[];
