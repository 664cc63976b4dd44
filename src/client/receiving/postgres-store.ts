import { isDue, maxIds, type Memory, type ReceivedEvent, type ReceiverStore } from './store.js';

/** A connection, such as a `pg.PoolClient`. */
export interface PostgresConnection {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** Gives it back to the pool; with `true` it is closed instead. */
  release(isBroken?: boolean): void;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

/** Your own pool, such as a `pg.Pool`. */
export interface PostgresPool<Connection extends PostgresConnection = PostgresConnection> {
  connect(): Promise<Connection>;
}

export interface PostgresStore<Connection> extends ReceiverStore<Connection> {
  /** Creates the table where there is none. Or create it with your own migrations. */
  createTables(): Promise<void>;
}

const ignore = () => undefined;

/** The longest wait for another process that handles an event of the same shipment. Beyond it the request is retried. */
const lockTimeoutMs = 10_000;

/**
 * A store in your own PostgreSQL. `onNotification` gets the connection of the transaction that remembers the event: what
 * it writes with that is committed exactly once. It must not wait for another connection of this pool: when each one is
 * taken by such a wait, all wait for ever. One row per shipment:
 *
 *     create table parcelhook_received (
 *       subject text primary key,
 *       last_sequence bigint not null default 0,
 *       event_ids text[] not null default '{}',
 *       handled_at timestamptz not null default now()
 *     )
 *
 * Delete rows whose `handled_at` is longer ago than Parcelhook stores its log (30 days): none of them comes again.
 */
export function postgresStore<Connection extends PostgresConnection>(
  pool: PostgresPool<Connection>,
  { table = 'parcelhook_received' } = {},
): PostgresStore<Connection> {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(table))
    throw new TypeError('table must be a name in lower case, with or without its schema.');

  async function withConnection<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const connection = await pool.connect();
    let isBroken = true;
    // pg emits an error when a connection breaks; the query rejects as well. Unheard, it would end the process.
    connection.on?.('error', ignore);
    try {
      const result = await work(connection);
      isBroken = false;
      return result;
    } catch (error) {
      // A connection that cannot even roll back is closed.
      await connection.query('rollback').then(
        () => (isBroken = false),
        () => undefined,
      );
      throw error;
    } finally {
      connection.off?.('error', ignore);
      connection.release(isBroken);
    }
  }

  async function memoryOf(connection: Connection, text: string, event: ReceivedEvent): Promise<Memory> {
    const { rows } = await connection.query(text, [event.subject, event.eventId]);
    const [row] = rows as { isSeen: boolean; lastSequence: string | number; newestEventId: string | null }[];
    return {
      isSeen: row?.isSeen ?? false,
      lastSequence: Number(row?.lastSequence ?? 0),
      newestEventId: row?.newestEventId ?? undefined,
    };
  }

  const memory = `$2::text = any (event_ids) as "isSeen", last_sequence as "lastSequence",
    (select max(id collate "C") from unnest(event_ids) id where id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7') as "newestEventId"`;

  return {
    createTables: () =>
      withConnection(async (connection) => {
        // Two processes that create it at once would collide.
        await connection.query('begin');
        await connection.query(`select pg_advisory_xact_lock(hashtext('${table}'))`);
        await connection.query(
          `create table if not exists ${table} (
             subject text primary key,
             last_sequence bigint not null default 0,
             event_ids text[] not null default '{}',
             handled_at timestamptz not null default now()
           )`,
        );
        await connection.query('commit');
      }),
    look: (event) =>
      withConnection((connection) =>
        memoryOf(connection, `select ${memory} from ${table} where subject = $1`, event),
      ),
    once: (event, handle) =>
      withConnection(async (connection) => {
        await connection.query(`begin; set local lock_timeout = ${lockTimeoutMs}`);
        const locked = await memoryOf(
          connection,
          `insert into ${table} as t (subject) values ($1)
           on conflict (subject) do update set subject = excluded.subject
           returning ${memory}`,
          event,
        );
        if (!isDue(event, locked)) {
          await connection.query('rollback');
          return false;
        }
        await handle(connection);
        await connection.query(
          `update ${table}
              set last_sequence = greatest(last_sequence, $3::bigint), handled_at = now(),
                  event_ids = (event_ids || $2::text)[greatest(1, cardinality(event_ids) + 2 - ${maxIds}):]
            where subject = $1`,
          [event.subject, event.eventId, event.sequence ?? 0],
        );
        await connection.query('commit');
        return true;
      }),
  };
}
