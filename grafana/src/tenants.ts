import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import { ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { postgresBoard } from './board.js';

const datasource = { type: 'grafana-postgresql-datasource', uid: '${datasource}' };

interface Column {
  name: string;
  sql: string;
  unit?: string | undefined;
}

const column = (name: string, sql: string, unit?: string): Column => ({ name, sql, unit });

interface Table {
  title: string;
  description: string;
  columns: Column[];
  where: string;
  /** The column that the rows are ordered by, the largest first. */
  by: string;
}

/** SQL that Grafana sends as it is, for rows as they come. */
const query = (rawSql: string): Builder<Dataquery> => ({
  build: () => {
    const target = { refId: 'A', datasource, format: 'table', editorMode: 'code', rawQuery: true, rawSql };
    return { ...target, _implementsDataqueryVariant: () => undefined };
  },
});

const shipper = column('Shipper', 'shipper_id');

/** The first twenty shippers. Their names are not in the view: `operator shipper list` has them. */
function table({ title, description, columns, where, by }: Table): TableBuilder {
  const all = [shipper, ...columns];
  const list = all.map(({ name, sql }) => `${sql} as "${name}"`).join(', ');
  const builder = new TableBuilder()
    .title(title)
    .description(description)
    .unit('short')
    .datasource(datasource)
    .thresholds(
      new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([{ value: null, color: 'blue' }]),
    )
    .targets([
      query(`select ${list} from dashboards.tenants where ${where} order by ${by} desc, shipper_id limit 20`),
    ])
    .cellHeight(common.TableCellHeight.Sm)
    .height(9)
    .span(24);
  for (const { name, unit } of columns) if (unit) builder.overrideByName(name, [{ id: 'unit', value: unit }]);
  return builder;
}

const status = column('Status', 'status');
const owed = column('Owed', 'owed');
const oldest = column('Oldest due', 'oldest_due_seconds', 's');
const webhooks = column('Webhooks', 'webhooks');
const circuits = column('Circuits open', 'circuits_open');
const failedShare = column('Failing', 'failed_24h::float8 / nullif(attempts_24h, 0)', 'percentunit');

/** Figures by shipper: the only dashboard that tells shippers apart. It queries PostgreSQL, not Prometheus. */
export const tenants = postgresBoard({
  name: 'tenants',
  title: 'Tenants',
  description:
    'Which shippers are owed the most, have failing receivers, or send the most. Shippers are shown by id, from a view without personal data.',
  rows: [
    {
      question: 'Which shippers are owed the most?',
      panels: [
        table({
          title: 'Owed deliveries',
          description:
            'Shippers whose webhooks are owed the most, counted up to 1,000 each. Oldest due includes deliveries of webhooks that are not called.',
          columns: [
            status,
            owed,
            oldest,
            webhooks,
            column('Paused', 'paused'),
            column('Disabled', 'disabled'),
            circuits,
          ],
          where: 'owed > 0',
          by: 'owed',
        }),
      ],
    },
    {
      question: 'Which shippers have failing receivers?',
      panels: [
        table({
          title: 'Failing receivers',
          description: 'Shippers with the most failed attempts in 24 hours, without tests.',
          columns: [
            status,
            column('Attempts', 'attempts_24h'),
            column('Failed', 'failed_24h'),
            failedShare,
            circuits,
            column('Disabled', 'disabled'),
            webhooks,
          ],
          where: 'failed_24h > 0',
          by: 'failed_24h',
        }),
      ],
    },
    {
      question: 'Which shippers send the most?',
      panels: [
        table({
          title: 'Orders in ten minutes',
          description: 'Shippers that handed over the most orders in the last ten minutes.',
          columns: [
            status,
            column('Orders', 'orders_10m'),
            column('Attempts', 'attempts_24h'),
            webhooks,
            owed,
          ],
          where: 'orders_10m > 0',
          by: 'orders_10m',
        }),
      ],
    },
  ],
});
