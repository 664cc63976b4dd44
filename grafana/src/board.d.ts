import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { type Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import type { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import type { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
export interface Row {
    /** What somebody who looks at this row wants to know. */
    question: string;
    panels: (StatBuilder | TimeseriesBuilder)[];
}
/** A dashboard of rows, each of which answers the question in its title; `name` is also its file and in its uid. */
export declare function board(name: string, title: string, description: string, rows: Row[]): Builder<Dashboard>;
