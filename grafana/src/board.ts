import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
  type Dashboard,
  type DashboardLink,
  type Panel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { deploys } from './promql.js';

interface Placed extends Builder<Panel> {
  id(id: number): this;
}

export interface Row {
  /** The question that the row answers. */
  question: string;
  panels: Placed[];
}

interface Board {
  /** Also its file and in its uid. */
  name: string;
  title: string;
  description: string;
  rows: Row[];
}

const tag = 'parcelhook';
const prometheus = { type: 'prometheus', uid: '${datasource}' };

/** Links to the other dashboards, in sight: the builder alone would put them into a menu. */
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

/** A dashboard of rows, each of which answers the question in its title. */
function board({ name, title, description, rows }: Board, datasource: string): DashboardBuilder {
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
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type(datasource));
  let id = 1;
  for (const { question, panels } of rows) {
    builder.withRow(new RowBuilder(question).id(id++));
    for (const panel of panels) builder.withPanel(panel.id(id++));
  }
  return builder;
}

const variable = (name: string, label: string, query: string) =>
  new QueryVariableBuilder(name)
    .label(label)
    .datasource(prometheus)
    .query(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);

const everyOne = { selected: true, text: 'All', value: '$__all' };
const labels = 'parcelhook_build_info{environment=~"$environment"';

/**
 * A dashboard on Prometheus. One environment at a time is shown: summed up, what one of them does would hide what another
 * one does not.
 */
export const prometheusBoard = (of: Board): Builder<Dashboard> =>
  board(of, 'prometheus')
    .withVariable(
      variable('environment', 'Environment', 'label_values(parcelhook_build_info, environment)').current({
        selected: true,
        text: 'production',
        value: 'production',
      }),
    )
    .withVariable(
      variable('job', 'Job', `label_values(${labels}}, job)`)
        .multi(true)
        .includeAll(true)
        .allValue('.+')
        .current(everyOne),
    )
    .withVariable(
      variable('instance', 'Instance', `label_values(${labels}, job=~"$job"}, instance)`)
        .multi(true)
        .includeAll(true)
        .allValue('.+')
        .current(everyOne),
    )
    .annotation(
      new AnnotationQueryBuilder()
        .name('Deploys')
        .datasource(prometheus)
        .enable(true)
        .iconColor('purple')
        .expr(deploys)
        .step('1m')
        .titleFormat('Deploy')
        .textFormat('{{job}} {{version}} ({{commit}})'),
    );

/** A dashboard on PostgreSQL. */
export const postgresBoard = (of: Board): Builder<Dashboard> =>
  board(of, 'grafana-postgresql-datasource').refresh('5m');
