import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  RowBuilder,
  type Dashboard,
  type DashboardLink,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import type { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

export interface Row {
  /** The question that the row answers. */
  question: string;
  panels: (StatBuilder | TimeseriesBuilder)[];
}

const tag = 'parcelhook';

/** To the other dashboards, in sight: the builder alone would put them into a menu. */
const links: Builder<DashboardLink> = {
  build: () => {
    const link = new DashboardLinkBuilder('Parcelhook')
      .type(DashboardLinkType.Dashboards)
      .tags([tag])
      .includeVars(true)
      .keepTime(true)
      .build();
    delete link.placement;
    return link;
  },
};

/** A dashboard of rows, each of which answers the question in its title; `name` is also its file and in its uid. */
export function board(name: string, title: string, description: string, rows: Row[]): Builder<Dashboard> {
  const builder = new DashboardBuilder(`Parcelhook: ${title}`)
    .uid(`parcelhook-${name}`)
    .description(description)
    .tags([tag])
    .readonly()
    .timezone('browser')
    .time({ from: 'now-3h', to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .link(links)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  let id = 1;
  for (const { question, panels } of rows) {
    builder.withRow(new RowBuilder(question).id(id++));
    for (const panel of panels) builder.withPanel(panel.id(id++));
  }
  return builder;
}
