import { atLeast, below, graph } from './panels.js';
import { largest, metric, ofMachine, reported } from './promql.js';

const pools = 'environment, job, instance, pool';
const connections = (state: string) =>
  `sum by (${pools}) (${metric('postgres_pool_connections', `state="${state}"`)}) / sum by (${pools}) (${metric('postgres_pool_size')})`;

const disk = (figure: string) =>
  `min by (instance, device) (${ofMachine(`node_filesystem_${figure}_bytes`, 'fstype!~"tmpfs|ramfs|squashfs|overlay"')})`;

/** PostgreSQL and Redis, as the service sees them. */
export const engines = [
  {
    question: 'Does PostgreSQL keep up?',
    panels: [
      graph({
        title: 'Pools in use',
        description: 'Busy connections as a share of the pool, for the fullest process of each pool.',
        unit: 'percentunit',
        queries: [{ expr: `max by (pool) (${connections('busy')})`, legend: '{{pool}}' }],
        thresholds: below(0.8, 1),
      }),
      graph({
        title: 'Waiting for a connection',
        description: 'Callers that wait for a connection, by pool; after 0.9 s they get a 503. Normal: 0.',
        unit: 'short',
        queries: [{ expr: `sum by (pool) (${metric('postgres_pool_waiting')})`, legend: '{{pool}}' }],
        thresholds: below(1, 20),
      }),
      graph({
        title: 'Connections to PostgreSQL',
        description:
          'All connections to the server, from any program, and how many it accepts. ParcelhookConnectionsRunningOut pages before they are used up.',
        unit: 'short',
        queries: [
          { expr: reported('postgres_connections'), legend: 'connections' },
          { expr: reported('postgres_connections_limit'), legend: 'limit' },
        ],
      }),
      graph({
        title: 'Oldest snapshot',
        span: 12,
        description:
          'How long the oldest transaction (a report, a dump, a forgotten session) has kept vacuum from removing dead rows. Normal: seconds.',
        unit: 's',
        queries: [{ expr: reported('postgres_oldest_snapshot_seconds'), legend: 'oldest' }],
        thresholds: below(600, 1_800),
      }),
      graph({
        title: 'Age of transaction ids',
        span: 12,
        description:
          'Number of transactions since the oldest one that is not frozen. Vacuum begins to freeze at 200 million; PostgreSQL stops at 2 billion.',
        unit: 'short',
        queries: [{ expr: reported('postgres_transaction_id_age'), legend: 'age' }],
        thresholds: below(400e6, 1_000e6),
      }),
    ],
  },
  {
    question: 'Is there room on the disks and in Redis?',
    panels: [
      graph({
        title: 'Size of the database',
        description:
          'Space that the database takes, and DATABASE_SIZE_LIMIT if it is set. ParcelhookDatabaseFilling predicts when it will be full.',
        unit: 'bytes',
        queries: [
          { expr: reported('database_size_bytes'), legend: 'size' },
          { expr: reported('database_size_limit_bytes'), legend: 'limit' },
        ],
      }),
      graph({
        title: 'Size of the tables',
        description: 'The largest tables with their indexes, and with their partitions added up.',
        unit: 'bytes',
        queries: [{ expr: largest(reported('table_size_bytes', 'table')), legend: '{{table}}' }],
        stacked: true,
        ranked: true,
      }),
      graph({
        title: 'Memory of Redis',
        description: 'Memory that Redis uses, and its maxmemory. Empty if the queue runs on PostgreSQL.',
        unit: 'bytes',
        queries: [
          { expr: reported('redis_memory_bytes'), legend: 'used' },
          { expr: reported('redis_memory_limit_bytes'), legend: 'limit' },
        ],
      }),
      graph({
        title: 'Free on the disks',
        description:
          'Share of each disk that is free, by node_exporter; empty without it. ParcelhookDiskFilling predicts when none is.',
        unit: 'percentunit',
        queries: [{ expr: `${disk('avail')} / ${disk('size')}`, legend: '{{instance}} {{device}}' }],
        thresholds: atLeast(0.3, 0.05),
      }),
      graph({
        title: 'Partitions ahead',
        description:
          'Days for which partitions already exist. Every hour they are made for 7 days ahead; below 2 an alert pages.',
        unit: 'd',
        queries: [{ expr: `min by (table) (${metric('partitions_ahead_days')})`, legend: '{{table}}' }],
        thresholds: [
          { value: null, color: 'red' },
          { value: 2, color: 'orange' },
          { value: 5, color: 'green' },
        ],
      }),
      graph({
        title: 'Retention behind',
        description: 'Days of data that should have been removed already, by table. Normal: under 1.',
        unit: 'd',
        queries: [{ expr: reported('retention_behind_days', 'table'), legend: '{{table}}' }],
        thresholds: below(1, 3),
      }),
    ],
  },
  {
    question: 'Could PostgreSQL be lost without losing data?',
    panels: [
      graph({
        title: 'Kept by replication slots',
        description:
          'Write-ahead log that slots keep on the disk, and max_slot_wal_keep_size. Empty without slots; normal: megabytes.',
        unit: 'bytes',
        span: 6,
        queries: [
          { expr: largest(reported('postgres_slot_kept_bytes', 'slot')), legend: '{{slot}}' },
          { expr: reported('postgres_slot_limit_bytes'), legend: 'limit' },
        ],
      }),
      graph({
        title: 'Archive failing for',
        description:
          'Time since the write-ahead log was last archived, if that fails. Normal: 0; empty where nothing is archived.',
        unit: 's',
        span: 6,
        queries: [{ expr: reported('postgres_archive_failing_seconds'), legend: 'failing' }],
        thresholds: below(60, 900),
      }),
      graph({
        title: 'Standbys behind',
        description:
          'Log that each standby has not replayed. Empty without a standby, and where the role of the service lacks pg_monitor.',
        unit: 'bytes',
        span: 6,
        queries: [{ expr: reported('postgres_standby_lag_bytes', 'standby'), legend: '{{standby}}' }],
        thresholds: below(2 ** 27, 2 ** 30),
      }),
      graph({
        title: 'Since the last verified backup',
        description:
          'Age of the newest backup that was restored and verified. Empty until one is; from 8 days on a ticket fires.',
        unit: 's',
        span: 6,
        queries: [
          {
            expr: `time() - max(${ofMachine('parcelhook_backup_verified_timestamp_seconds')})`,
            legend: 'age',
          },
        ],
        thresholds: below(7 * 86_400, 8 * 86_400),
      }),
    ],
  },
];
