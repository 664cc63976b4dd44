import pg from 'pg';
import type { Deployment } from './deployment.js';
import type { Statement, TableUpdates, Wait } from './figures.js';

interface Counters {
  deadlocks: number;
  fullPageImages: number;
  tables: Map<string, { updates: number; hot: number }>;
}

interface CountersRow {
  deadlocks: number;
  fullPageImages: number;
  tables: [name: string, updates: number, hot: number][] | null;
}

/** Over connections that stay open. */
export interface DatabaseWatch {
  /** The processes of these connections, excluded from the service's costs. */
  pids: number[];
  walPosition(): Promise<number>;
  counters(): Promise<Counters>;
  resetStatements(): Promise<void>;
  dearestStatements(): Promise<Statement[] | null>;
  sampleWaits(): Promise<void>;
  waits(): Wait[];
  close(): Promise<void>;
}

const dearest = 8;

const countersQuery = `
  select (select deadlocks from pg_stat_database where datname = current_database())::int as deadlocks,
         (select wal_fpi from pg_stat_wal)::int as "fullPageImages",
         (select json_agg(json_build_array(relname, n_tup_upd, n_tup_hot_upd))
            from pg_stat_user_tables where n_tup_upd > 0) as tables`;

const waitsQuery = {
  name: 'bench-waits',
  text: `select wait_event_type || ' ' || wait_event as event, count(*)::int as sessions
           from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()
            and wait_event_type in ('Lock', 'LWLock', 'IO')
          group by 1`,
};

const statementsQuery = `
  select regexp_replace(trim(query), '\\s+', ' ', 'g') as query, calls::int,
         total_exec_time as "totalMs", mean_exec_time as "meanMs", rows::int
    from pg_stat_statements
   where dbid = (select oid from pg_database where datname = $1)
   order by total_exec_time desc limit ${dearest + 20}`;

export async function watchDatabase({ system, databaseUrl }: Deployment): Promise<DatabaseWatch> {
  const own = await connect(databaseUrl);
  const admin = await connect(system.postgres.connectionString);
  const database = new URL(databaseUrl).pathname.slice(1);
  const pids = await Promise.all([own, admin].map(pidOf));
  const seen = new Map<string, { samples: number; sessions: number }>();
  let samples = 0;
  const { hasStatements } = system.postgres;
  return {
    pids,
    walPosition: async () =>
      Number((await one<{ at: string }>(own, `select pg_current_wal_lsn() - '0/0' as at`)).at),
    counters: async () => {
      const { tables, ...rest } = await one<CountersRow>(own, countersQuery);
      return {
        ...rest,
        tables: new Map((tables ?? []).map(([name, updates, hot]) => [name, { updates, hot }])),
      };
    },
    resetStatements: async () =>
      void (hasStatements && (await admin.query('select pg_stat_statements_reset()'))),
    dearestStatements: async () => {
      if (!hasStatements) return null;
      const { rows } = await admin.query<Statement>(statementsQuery, [database]);
      return rows.filter(({ query }) => !query.includes('pg_stat_')).slice(0, dearest);
    },
    sampleWaits: async () => {
      const { rows } = await own.query<{ event: string; sessions: number }>(waitsQuery);
      samples += 1;
      const sample = new Map<string, number>();
      for (const { event, sessions } of rows)
        for (const key of [event, event.split(' ')[0]!]) sample.set(key, (sample.get(key) ?? 0) + sessions);
      for (const [key, sessions] of sample) {
        const known = seen.get(key) ?? { samples: 0, sessions: 0 };
        seen.set(key, { samples: known.samples + 1, sessions: known.sessions + sessions });
      }
    },
    waits: () =>
      [...seen]
        .map(([event, { samples: of, sessions }]) => ({
          event,
          sharePercent: (of / samples) * 100,
          meanSessions: sessions / samples,
        }))
        .sort((a, b) => b.meanSessions - a.meanSessions),
    close: async () => void (await Promise.allSettled([own.end(), admin.end()])),
  };
}

export const updatesBetween = (before: Counters, after: Counters): TableUpdates[] =>
  [...after.tables]
    .map(([table, now]) => {
      const then = before.tables.get(table) ?? { updates: 0, hot: 0 };
      const updates = now.updates - then.updates;
      return { table, updates, hotPercent: ((now.hot - then.hot) / updates) * 100 };
    })
    .filter(({ updates }) => updates > 0)
    .sort((a, b) => b.updates - a.updates);

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    application_name: 'parcelhook-bench',
    query_timeout: 30_000,
  });
  client.on('error', () => undefined); // a lost connection also rejects the query
  await client.connect();
  return client;
}

const pidOf = async (client: pg.Client) =>
  (await one<{ pid: number }>(client, 'select pg_backend_pid() as pid')).pid;

const one = async <Row extends object>(client: pg.Client, text: string): Promise<Row> =>
  (await client.query<Row>(text)).rows[0]!;
