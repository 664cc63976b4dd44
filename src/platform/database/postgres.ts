import type pg from 'pg';
import { ApiError, codeOf, describeError, isUnavailable, unavailable } from '../errors.js';
import type { Logger } from '../telemetry/logger.js';
import {
  keepAlive,
  openPool,
  readOnly,
  sessionSettings,
  anyOneByOne,
  beginWith,
  oneByOne,
  refusesSettings,
  socketOf,
  takesNoSettings,
  type Runs,
} from './connection.js';
import { parametersOf } from './parameters.js';

export interface Database {
  /**
   * Runs a statement, which is prepared under `name`; with an empty name it is planned each time. Throws ApiError
   * UNAVAILABLE.
   */
  query<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>;
}

export type Queries = Pick<Database, 'query'>;

export interface Pool extends Database {
  /**
   * Sends both in one message: the second begins after the first has committed or failed. Rejects if neither was sent.
   */
  together<A, B>(
    first: (db: Queries) => Promise<A>,
    second: (db: Queries) => Promise<B>,
  ): Promise<[PromiseSettledResult<A>, PromiseSettledResult<B>]>;
  end(): Promise<void>;
  usage(): { total: number; idle: number; waiting: number };
}

export interface PoolOptions {
  connectionString: string;
  applicationName: string;
  maxConnections: number;
  /** Whether commits wait for the disk. False only for data that a crash of PostgreSQL may lose. */
  durable: boolean;
  /** The timeout of a statement, enforced by the server. */
  statementTimeoutMs: number;
  /** The pooler between this process and PostgreSQL. Default: none, or one that passes everything on. */
  pooler?: 'none' | 'transaction';
  logger: Logger;
}

/**
 * Every statement is written for one plan, which finds its rows by index. Planning each time over daily partitions costs
 * more than running. Without these settings, a plan cached while a table was empty would read the whole table later.
 */
const onePlan = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
  jit: 'off',
};

/** Minimum time between renewals, so that a server that stays read-only does not cost a connection per statement. */
const renewEveryMs = 1_000;

/**
 * If a statement got no reply, the network may have been cut silently: each idle connection would cost its next user a
 * whole timeout. If the server is read-only, its name may resolve to another server by now: busy connections are closed
 * after their work, too, and those that wait for notifications, which nobody releases.
 */
export function closeDeadConnections(pool: pg.Pool): void {
  const open = new Set<pg.PoolClient>();
  const idle = new Set<pg.PoolClient>();
  const closing = new Map<pg.PoolClient, Error>();
  let renewedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  const close = (client: pg.PoolClient, error: Error) => {
    client.emit('error', error); // the pool drops it at once
    socketOf(client).destroy();
  };
  const renew = (error: Error) => {
    timer = undefined;
    renewedAt = performance.now();
    for (const client of open) {
      closing.set(client, error);
      if (idle.has(client) || client.listenerCount('notification') > 0) close(client, error);
      else
        (client as NodeJS.EventEmitter).on('newListener', (event) => {
          if (event === 'notification') setImmediate(close, client, error);
        });
    }
  };
  const renewSoon = (error: Error) => {
    const restMs = renewedAt + renewEveryMs - performance.now();
    if (restMs <= 0) renew(error);
    else timer ??= setTimeout(renew, restMs, error).unref();
  };
  pool.on('connect', (client) => void open.add(client));
  pool.on('acquire', (client) => void idle.delete(client));
  pool.on('remove', (client) => {
    open.delete(client);
    idle.delete(client);
    closing.delete(client);
  });
  pool.on('release', (error: Error | boolean | undefined, client) => {
    if (!error) {
      idle.add(client);
      const reason = closing.get(client);
      if (reason) setImmediate(() => idle.has(client) && close(client, reason));
    } else if (codeOf(error) === readOnly) renewSoon(error as Error);
    else if (error instanceof Error && error.message === 'Query read timeout')
      for (const other of [...idle]) close(other, error);
  });
}

/** SQLSTATEs (PostgreSQL appendix A) and socket errors that mean "not now" rather than "wrong". */
const outOfReach = new Set([
  '55P03', // lock_not_available: lock_timeout
  '57014', // query_canceled: statement_timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  readOnly,
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const outOfReachClasses = ['08', '53', '58', 'XX']; // connection, resources, system and internal errors
/** After these errors the statement may have been executed. */
const inDoubt =
  /^(Query read timeout|Connection terminated(?! due to connection timeout))|^08|^57P0[12]|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/;
const outcomeUnknown =
  'The database did not respond; whether anything was accepted is not known. Send it again, an order with the same Idempotency-Key.';
const clientMessages = /timeout|Connection terminated|not queryable|Cannot use a pool/i;

function translate(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ApiError) return error;
  if (refusesSettings(error)) return Object.assign(new Error(takesNoSettings), { cause: error });
  const code = codeOf(error);
  const away = code
    ? outOfReach.has(code) || (code.length === 5 && outOfReachClasses.includes(code.slice(0, 2)))
    : clientMessages.test(error.message);
  if (!away) return error;
  return Object.assign(unavailable(mayBeDone(error) ? outcomeUnknown : undefined), { cause: error });
}

const mayBeDone = (error: Error) => inDoubt.test(codeOf(error) || error.message);

/** The error for work that was done but may be lost: PostgreSQL did not say whether it is on disk. */
export const inDoubtAfter = (error: unknown): ApiError =>
  Object.assign(unavailable(outcomeUnknown), { cause: error instanceof ApiError ? error.cause : error });

export const isInDoubt = (error: unknown): boolean =>
  error instanceof ApiError && error.cause instanceof Error && mayBeDone(error.cause);

export const isOutOfReach = (error: unknown): boolean => isUnavailable(translate(error));

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505';

export const isNullViolation = (error: unknown): boolean => codeOf(error) === '23502';

export const isNotPermitted = (error: unknown): boolean => codeOf(error) === '42501';

export const isTooSlow = (error: unknown): boolean =>
  error instanceof ApiError && codeOf(error.cause) === '57014';

/** SQLSTATEs that look like an outage but concern the rows of a statement: memory, limits, corruption, a deadlock. */
const faultOfPiece = /^(53200|54|XX00[12]|40P01)/;

/**
 * True if the piece is at fault, and should be split or skipped; false for errors of PostgreSQL or the network, which a
 * smaller piece would meet as well.
 */
export const isFaultOfPiece = (error: unknown): boolean => {
  if (!isUnavailable(error) || isTooSlow(error)) return true;
  const { cause } = error as ApiError;
  return cause === undefined || faultOfPiece.test(codeOf(cause));
};

/** True if the server is read-only, by a setting or as a standby; the pool then closes its connections. */
export async function requireWritable(db: Database): Promise<void> {
  await db
    .query(
      '',
      `do $$ begin
         if current_setting('transaction_read_only')::boolean then
           raise exception 'read-only' using errcode = '${readOnly}';
         end if;
       end $$`,
    )
    .catch((error: unknown) => {
      const isReadOnly = error instanceof ApiError && codeOf(error.cause) === readOnly;
      throw isReadOnly ? new Error('PostgreSQL is read-only') : error;
    });
}

const requiredSettings: Record<string, string> = {
  ...sessionSettings,
  ...onePlan,
  transaction_isolation: sessionSettings.default_transaction_isolation,
};

/** A pooler may drop the settings that a connection was opened with. */
export async function requireSettings(db: Database): Promise<void> {
  const names = Object.keys(requiredSettings);
  const [row] = await db.query<Record<string, string>>(
    '',
    `select ${names.map((name) => `current_setting('${name}') as "${name}"`).join(', ')}`,
  );
  if (names.some((name) => row![name] !== requiredSettings[name])) throw new Error(takesNoSettings);
}

const runOn =
  (
    client: Runs,
    { queryTimeoutMs, named = true }: { queryTimeoutMs?: number; named?: boolean } = {}, // the timeout: instead of the pool's
  ): Database['query'] =>
  async <Row>(name: string, text: string, values: unknown[] = []) => {
    try {
      const parameters = parametersOf(values);
      const query = { name: named ? name : '', text, values: parameters, query_timeout: queryTimeoutMs };
      return (await client.query(query)).rows as Row[];
    } catch (error) {
      throw translate(error);
    }
  };

/** Every wait is bounded. A broken connection is replaced. */
export function createPool(options: PoolOptions): Pool {
  const { logger, statementTimeoutMs } = options;
  const queryTimeoutMs = statementTimeoutMs + 300; // a connection that answers nothing at all
  const plans = { ...onePlan, synchronous_commit: options.durable ? 'on' : 'off' };
  const timeouts = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.round(statementTimeoutMs * 0.7), // leaves time for what waited behind it
    idle_in_transaction_session_timeout: 10_000,
  };
  const isPooled = options.pooler === 'transaction';
  const config = {
    pipeline: true, // a statement need not wait for the reply to the previous one: see `together`
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: 900, // keeps "503 within a second" while PostgreSQL is unavailable
    idleTimeoutMillis: 600_000, // opening one costs as much as a hundred statements
    maxLifetimeSeconds: 3_600, // drops the statements prepared for one day
    ...keepAlive,
    query_timeout: queryTimeoutMs,
    settings: isPooled ? null : { ...plans, ...timeouts },
  };
  const pool = openPool(options.connectionString, config, (error) => {
    if (codeOf(error) !== readOnly)
      logger.warn({ error: describeError(error) }, 'postgres connection lost; the pool replaces it');
  });
  closeDeadConnections(pool);

  const begin = isPooled ? beginWith({ ...plans, ...timeouts }) : 'begin';
  return {
    query: isPooled ? runOn(anyOneByOne(pool, begin), { named: false }) : runOn(pool),
    transaction: (work) => transact(pool, work, begin, !isPooled),
    together: (first, second) =>
      isPooled ? sendInTurn(pool, begin, first, second) : sendTogether(pool, queryTimeoutMs, first, second),
    end: () => pool.end(),
    usage: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  };
}

const connect = (pool: pg.Pool): Promise<pg.PoolClient> =>
  pool.connect().catch((error: unknown) => {
    throw translate(error);
  });

async function sendTogether<A, B>(
  pool: pg.Pool,
  queryTimeoutMs: number,
  first: (db: Queries) => Promise<A>,
  second: (db: Queries) => Promise<B>,
): Promise<[PromiseSettledResult<A>, PromiseSettledResult<B>]> {
  const client = await connect(pool);
  const socket = socketOf(client);
  socket.cork(); // one message, not two
  const both = [
    first({ query: runOn(client) }),
    second({ query: runOn(client, { queryTimeoutMs: 2 * queryTimeoutMs }) }),
  ] as const;
  socket.uncork();
  const results = await Promise.allSettled(both);
  client.release(results.map(failureOf).find(Boolean)); // as the pool does after a single statement
  return results;
}

/** Through a pooler the second waits for the commit of the first: the connection may be another client's in between. */
async function sendInTurn<A, B>(
  pool: pg.Pool,
  begin: string,
  first: (db: Queries) => Promise<A>,
  second: (db: Queries) => Promise<B>,
): Promise<[PromiseSettledResult<A>, PromiseSettledResult<B>]> {
  const client = await connect(pool);
  const db = { query: runOn(oneByOne(client, begin), { named: false }) };
  const [one] = await Promise.allSettled([first(db)]);
  const [other] = await Promise.allSettled([second(db)]);
  client.release(failureOf(one) ?? failureOf(other));
  return [one, other];
}

const failureOf = (result: PromiseSettledResult<unknown>): Error | undefined => {
  if (result.status === 'fulfilled') return undefined;
  const reason = result.reason as Error;
  return (reason.cause as Error | undefined) ?? reason;
};

async function transact<T>(
  pool: pg.Pool,
  work: (db: Database) => Promise<T>,
  begin: string,
  named: boolean,
): Promise<T> {
  const client = await connect(pool);
  const db: Database = { query: runOn(client, { named }), transaction: (nested) => nested(db) };
  try {
    await client.query(begin);
    const result = await work(db);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // A connection that may be stuck is closed; the server rolls its transaction back.
    const failure = translate(error);
    const stuck = failure instanceof ApiError && failure.cause !== undefined;
    const rolledBack =
      !stuck &&
      (await client.query('rollback').then(
        () => true,
        () => false,
      ));
    client.release(stuck ? (failure.cause as Error) : !rolledBack);
    throw failure;
  }
}
