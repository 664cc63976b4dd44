/** How every connection to PostgreSQL is made: to which server, over which TLS, and with which settings. */
import pg from 'pg';
import { promisify } from 'node:util';
import type { Socket } from 'node:net';
import { nearestName, oneOf } from '../issues.js';

export type Settings = Record<string, string | number>;

/**
 * The meaning of statements and of their results depends on these. A role, a database or a server may have other
 * defaults, so every session sets them.
 */
export const sessionSettings = {
  search_path: 'public',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  default_transaction_isolation: 'read committed',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  array_nulls: 'on',
  extra_float_digits: '1',
  idle_session_timeout: '0',
};

/** Options of pools: each side notices within forty seconds that the other is gone, even on an idle connection. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
const serverKeepAlive = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 3 };

/** The settings of a new session, as its startup message has them: nobody can send a statement before they apply. */
const startOptions = (settings: Settings): string =>
  Object.entries({ ...sessionSettings, ...serverKeepAlive, ...settings })
    .map(([name, value]) => `-c ${name}=${String(value).replace(/[\\ ]/g, '\\$&')}`)
    .join(' ');

type Place = Pick<pg.ClientConfig, 'host' | 'port'>;
/** The driver's own reading of an address, certificates included; its types leave out most of it. */
type Parsed = Place & pg.ClientConfig & { sslnegotiation?: string };

interface Address {
  servers: Place[];
  /** The rest, which is the same for all servers. */
  common: pg.ClientConfig;
}

/** The modes that verify the server's certificate. libpq reads some of them more weakly, and would trust any server. */
const verifying = ['prefer', 'require', 'verify-ca'];
/** The service writes, so a server that accepts no writes is of no use. */
const writable = ['any', 'read-write', 'primary'];

/** The parameters of an address that have an effect. */
const parameters = [
  ...['user', 'password', 'host', 'port', 'options', 'target_session_attrs'],
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'],
];
const valuesOf: Record<string, string[]> = {
  ssl: ['true', '1', '0', 'no-verify'],
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
};

/** The driver passes over what it does not know, and would then connect without the TLS that somebody asked for. */
function requireEffect(query: URLSearchParams): void {
  for (const [name, value] of query) {
    const values = valuesOf[name];
    if (values && !values.includes(value)) throw new Error(`${name} ${oneOf(values, value)}`);
    if (parameters.includes(name)) continue;
    const meant = nearestName(name, parameters);
    if (meant !== null) throw new Error(`${name} is not a parameter of this service; did you mean ${meant}?`);
    if (/^ssl/i.test(name)) throw new Error(`${name} is not a parameter of this service`);
  }
}

/**
 * Reads an address of one server or of several (`postgresql://u:p@a:5432,b:5432/db`, `postgresql:///db?host=a,b`), and
 * the certificates that it names. Throws if it cannot be used.
 */
export function parseAddress(text: string): Address {
  const [, scheme, credentials = '', hosts, path, search = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/.exec(text) ?? [];
  if (scheme === undefined) throw new Error('must be a URL that starts with postgres:// or postgresql://');
  const query = new URLSearchParams(search);
  requireEffect(query);
  if (!writable.includes(query.get('target_session_attrs') ?? 'any'))
    throw new Error('target_session_attrs must be read-write: the service writes');
  query.delete('target_session_attrs');
  if (verifying.includes(query.get('sslmode') ?? '') && query.get('uselibpqcompat') !== 'true')
    query.set('sslmode', 'verify-full');
  const names = (query.get('host') ?? hosts!).split(',');
  const ports = query.get('port')?.split(',') ?? [];
  const parsed = names.map((name, index): Parsed => {
    const own = new URLSearchParams(query);
    if (query.has('host')) own.set('host', name);
    if (ports.length > 0) own.set('port', ports[index] ?? ports[0]!);
    const authority = query.has('host') ? '' : name;
    const connectionString = `${scheme}${credentials}${authority}${path}?${own.toString()}`;
    const client = new pg.Client({ connectionString }) as unknown as { connectionParameters: Parsed };
    return client.connectionParameters;
  });
  if (parsed.some(({ port }) => !(port! > 0 && port! < 65_536)))
    throw new Error('each port must be from 1 to 65535');
  const [{ user, password, database, ssl, sslnegotiation, options }] = parsed as [Parsed];
  const common = { user, password, database, ssl, sslnegotiation, options } as pg.ClientConfig;
  return { servers: parsed.map(({ host, port }) => ({ host, port })), common };
}

type Connected = (error: Error | null) => void;

/** PostgreSQL reports these to each new session. */
const readOnlyReports = ['in_hot_standby', 'default_transaction_read_only'];

/**
 * A client that connects to one of several servers: the last that accepted writes, or the next one once that does not.
 */
function clientOfAny(servers: Place[]): typeof pg.Client {
  let current = 0;
  return class extends pg.Client {
    private readonly place = current;
    private isReadOnly = false;

    constructor(config: pg.ClientConfig) {
      // The pool hides the password from copies.
      super(Object.assign(Object.create(config) as pg.ClientConfig, servers[current]));
      const { connection } = this as unknown as { connection: NodeJS.EventEmitter };
      connection.on('parameterStatus', (report: { parameterName: string; parameterValue: string }) => {
        if (readOnlyReports.includes(report.parameterName) && report.parameterValue === 'on')
          this.isReadOnly = true;
      });
    }

    // `never` fits both of the driver's signatures.
    override connect(callback?: (...args: never[]) => void): never {
      return (
        callback ? this.tryToConnect(callback as Connected) : promisify(this.tryToConnect).call(this)
      ) as never;
    }

    private tryToConnect(callback: Connected): void {
      super.connect((error: Error | null) => {
        const refusal = error ?? (this.isReadOnly ? readOnlyServer(servers[this.place]!) : null);
        if (refusal && current === this.place) current = (current + 1) % servers.length;
        if (refusal && !error) void this.end().catch(() => undefined);
        callback(refusal);
      });
    }
  };
}

/** SQLSTATE: the server is read-only by a setting, or because it is a standby after a failover. */
export const readOnly = '25006'; // read_only_sql_transaction

const readOnlyServer = ({ host, port }: Place): Error =>
  Object.assign(new Error(`${host}:${port} is read-only`), { code: readOnly });

export interface Connecting extends pg.PoolConfig {
  /** Applied by the startup message; null behind a pooler, which would refuse them. */
  settings: Settings | null;
}

/** Errors of idle connections, and of those in use, have handlers: without one they would end the process. */
export function openPool(address: string, config: Connecting, onError: (error: Error) => void): pg.Pool {
  // The pool awaits what it returns; its type does not say so.
  const onConnect = (client: pg.ClientBase): unknown => client.query(noTransactionTimeout('session'));
  const pool = new pg.Pool({ ...configOf(address, config), ...(config.settings && { onConnect }) });
  pool.on('error', onError);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}

/** A server before PostgreSQL 17 does not have the setting, and would refuse a startup message with it. */
export const noTransactionTimeout = (scope: 'session' | 'transaction'): string =>
  `select set_config(name, '0', ${scope === 'transaction'}) from pg_settings where name = 'transaction_timeout'`;

function configOf(address: string, { settings, ...config }: Connecting): pg.PoolConfig {
  const { servers, common } = parseAddress(address);
  // The last one counts, so no option of the address changes ours.
  const options = settings && [common.options, startOptions(settings)].filter(Boolean).join(' ');
  return {
    ...common,
    ...servers[0],
    ...config,
    options: options ?? common.options,
    ...(servers.length > 1 && { Client: clientOfAny(servers) }),
  };
}

/** One connection, to the first of the servers that accepts it. */
export async function withConnection<T>(
  address: string,
  config: Connecting,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const { Client = pg.Client, ...rest } = configOf(address, {
    connectionTimeoutMillis: 5_000,
    ...config,
  }) as pg.ClientConfig & { Client?: typeof pg.Client };
  const client = await connectToAny(() => new Client(rest), parseAddress(address).servers.length);
  try {
    if (config.settings) await client.query(noTransactionTimeout('session'));
    return await use(client);
  } finally {
    await client.end();
  }
}

async function connectToAny(create: () => pg.Client, tries: number): Promise<pg.Client> {
  const client = create();
  client.on('error', () => undefined); // a lost connection also rejects the running query
  try {
    await client.connect();
    return client;
  } catch (error) {
    if (tries <= 1) throw error;
    return connectToAny(create, tries - 1);
  }
}

/**
 * PostgreSQL behind a pooler in transaction mode, such as PgBouncer: each transaction may run on another connection of
 * the pooler's, so nothing may belong to a session. Settings are made in each transaction, and no statement is prepared
 * under a name: PgBouncer before 1.21 would look for it on the wrong connection.
 */
/** The error for a pooler that does not pass on the settings of a new connection. */
export const takesNoSettings =
  'PostgreSQL is behind a pooler that does not pass on the settings of a connection: set DATABASE_POOLER=transaction';

export const refusesSettings = (error: Error & { code?: string }): boolean =>
  error.code === '08P01' && error.message.startsWith('unsupported startup parameter');

/** The settings end with the transaction. Its isolation is decided when it begins. */
export const beginWith = (settings: Settings): string =>
  [
    `begin isolation level ${sessionSettings.default_transaction_isolation}`,
    ...Object.entries({ ...sessionSettings, ...settings }).map(
      ([name, value]) => `set local ${name} = '${value}'`,
    ),
  ].join('; ');

export interface Runs {
  query(config: pg.QueryConfig): Promise<pg.QueryResult>;
}

export const socketOf = (client: pg.PoolClient): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** All transactions go in one message: nothing waits for an answer in between. */
export const oneByOne = (client: pg.PoolClient, begin: string): Runs => ({
  query: async (config) => {
    const socket = socketOf(client);
    socket.cork();
    const sent = [client.query(begin), client.query(config), client.query('commit')] as const;
    socket.uncork();
    const results = await Promise.allSettled(sent);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return (results[1] as PromiseFulfilledResult<pg.QueryResult>).value;
  },
});

/**
 * Runs each on any connection of the pool. A connection on which a statement failed is closed, as by the pool itself.
 */
export const anyOneByOne = (pool: pg.Pool, begin: string): Runs => ({
  query: async (config) => {
    const client = await pool.connect();
    try {
      const result = await oneByOne(client, begin).query(config);
      client.release();
      return result;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  },
});
