import ipaddr from 'ipaddr.js';
import * as z from 'zod';
import { isProxyUrl } from '../engine/engine.js';
import { byteCount, duration, listOf, parseDurationMs, readAs } from '../platform/quantity.js';
import { samplers } from '../platform/telemetry/tracing.js';
import { isRedisUrl } from '../platform/redis.js';
import { readDropoffLocations } from '../shipments/dropoff.js';
import { orderChecks } from '../shipments/order.js';
import { readCatalogue } from '../shipments/states.js';
import {
  databaseUrl,
  destinations,
  dnsServers,
  mailSender,
  mailServer,
  networks,
  proxies,
  readBy,
  standbyUrl,
} from './addresses.js';
import { readCertificate, readKey } from './client-certificate.js';
import { bearerToken, longSecret, operatorTokens } from './secrets.js';

const dayMs = 86_400_000;
const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');
const integer = (min: number, max: number) =>
  readAs((text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? value : null;
  }, `must be a whole number from ${min} to ${max}`);
const fraction = (min: number, max: number) =>
  readAs((text) => {
    const value = /\d/.test(text) ? Number(text) : NaN; // Number('  ') is 0
    return value >= min && value <= max ? value : null;
  }, `must be a number from ${min} to ${max}`);
const url = (schemes: string[]) =>
  z
    .string()
    .trim()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol), {
      error: `must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
      abort: true,
    });

/** A URL without the slashes at its end, so that a path may follow it. */
const baseUrl = url(['http:', 'https:'])
  .refine((text) => !/[?#@]/.test(text), 'must have no user, query or fragment')
  .refine((text) => !new URL(text).hostname.endsWith('.'), 'must have no dot at the end of its host')
  .transform((text) => {
    const { origin, pathname } = new URL(text);
    return origin + pathname.replace(/\/+$/, '');
  });

/** Durations, separated by commas and parsed to milliseconds; the first is the wait after the first failed attempt. */
const retrySchedule = readAs((text) => {
  const stepsMs = text
    .split(',')
    .filter((step) => step.trim())
    .map(parseDurationMs);
  const areValid = stepsMs.every((ms): ms is number => ms !== null && ms <= 7 * dayMs);
  return areValid && stepsMs.length <= 50 ? stepsMs : null;
}, 'must be up to 50 durations separated by commas, each at most 7d, such as 5s,5m,30m,2h');

const ports = listOf((entry) => {
  const port = /^\d{1,5}$/.test(entry) ? Number(entry) : 0;
  return port >= 1 && port <= 65_535 ? port : null;
}, 'must be ports from 1 to 65535 separated by commas, such as 443,8443');

const isHost = (text: string) =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text) || /^[a-z][\w.-]{0,252}$/i.test(text);

/**
 * Each variable has its form, its default as written in the environment, and its purpose. `npm run config-table`
 * generates the table of docs/configuration.md from this; the text after `Unset:` is the default it shows.
 */
export const variables = z.object({
  PORT: integer(0, 65_535)
    .prefault('8080')
    .describe(
      'Port of the API, `/healthz` and `/readyz` (role `worker`: only the latter two); 0: any free port',
    ),
  HOST: z
    .string()
    .refine(isHost, 'must be an address such as 127.0.0.1 or ::, or a host name')
    .optional()
    .describe(
      'Address to listen on, for `METRICS_PORT` too. Unset: `127.0.0.1` if embedded, else all interfaces',
    ),
  MAX_CONNECTIONS: integer(16, 1_000_000)
    .optional()
    .describe(
      'Maximum number of concurrent connections. One address block (IPv4 /24, IPv6 /56) may have a quarter of them, unless it is loopback or a proxy in `TRUST_PROXY`. Unset: half of what `ulimit -n` allows, at most 5000',
    ),
  KEEP_ALIVE_TIMEOUT: duration({ minMs: 1_000, maxMs: dayMs })
    .prefault('65s')
    .describe(
      'How long an idle connection stays open, from 1s to 1d; longer than the load balancer in front keeps its own',
    ),
  PUBLIC_URL: baseUrl
    .optional()
    .describe(
      'Base URL where users reach the service: used in password links; with `https` the cookie of the portal is secure. Unset: `http://localhost:PORT`',
    ),
  CELL: z
    .string()
    .regex(/^[a-z]{2}$/, 'must be two lowercase letters')
    .optional()
    .describe(
      'Two letters in new account keys, tokens of programs, password links and tracking ids, by which a proxy finds this [cell](scaling.md#cells). Unset: none',
    ),
  DATA_DIR: z
    .string()
    .prefault('data')
    .describe('Directory of the embedded PostgreSQL and the generated secrets; not used with `DATABASE_URL`'),
  DATABASE_URL: databaseUrl
    .optional()
    .describe(
      'PostgreSQL ≥ 15, one server or several of which one accepts writes (`postgresql://user:password@h1:5432,h2:5432/db`). If set, nothing is embedded. Unset: embedded, in `DATA_DIR`',
    ),
  MIGRATION_DATABASE_URL: databaseUrl
    .optional()
    .describe(
      'The same database under the role that owns its tables: if set, migrations run under that role, and the role of `DATABASE_URL` only reads and writes. Unset: `DATABASE_URL`',
    ),
  DATABASE_READ_URL: standbyUrl
    .optional()
    .describe(
      'A standby of that database. While it is at most 10 s behind, lists, the log and statistics are read there, with the same `DATABASE_POOLER`. Unset: the primary',
    ),
  DATABASE_POOLER: z
    .enum(['none', 'transaction'], 'must be none or transaction')
    .prefault('none')
    .describe(
      'What `DATABASE_URL` leads to: `none` is PostgreSQL itself; `transaction` is a pooler such as PgBouncer in transaction mode, which is slower and needs `REDIS_URL`',
    ),
  DATABASE_SIZE_LIMIT: byteCount('1MiB', '1000TiB')
    .optional()
    .describe(
      'Size that the database may reach on its disk, with its unit (`500GiB`). An alert predicts when it is reached. Unset: no such alert',
    ),
  REDIS_URL: z
    .string()
    .trim()
    .refine(
      isRedisUrl,
      'must be redis:// or rediss:// with a host, or redis+sentinel:// or redis+cluster:// with hosts separated by commas; ports up to 65535, user and password percent-encoded',
    )
    .optional()
    .describe(
      'Redis ≥ 6.2 or Valkey: `redis://`, `rediss://`, `redis+sentinel://h1:26379,h2:26379/master-name`, `redis+cluster://h1:6379,h2:6379`. Unset: the queue runs on PostgreSQL',
    ),
  QUEUE_PREFIX: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
    .prefault('parcelhook')
    .describe('Prefix of the queue keys in Redis; must differ between services that share one Redis'),
  TOKEN_SECRET: longSecret
    .optional()
    .describe('Signs access tokens; at least 32 characters. Unset: generated if embedded, else an error'),
  TOKEN_SECRET_PREVIOUS: longSecret
    .optional()
    .describe('A second secret whose tokens are accepted while `TOKEN_SECRET` is being rotated'),
  SECRETS_KEY: longSecret
    .optional()
    .describe(
      'Encrypts the secrets, headers and address queries of webhooks at rest; at least 32 characters. Unset: generated if embedded, else an error',
    ),
  SECRETS_KEY_PREVIOUS: longSecret
    .optional()
    .describe('The previous key, still used to decrypt while `SECRETS_KEY` is being rotated'),
  OPERATOR_TOKEN: bearerToken
    .optional()
    .describe(
      'Bearer token of the operator API; at least 16 characters. Unset: generated if embedded, else an error',
    ),
  OPERATOR_TOKENS: operatorTokens
    .prefault('')
    .describe(
      'More bearer tokens of the operator API, `name:scope:token` separated by commas, each token at least 16 characters; scope `read`, `events` or `admin`. Unset: none',
    ),
  TOKEN_TTL: duration({ minMs: 1_000, maxMs: 30 * dayMs })
    .prefault('1h')
    .describe('Lifetime of an access token, up to 30d; a portal session that is used lasts up to a day'),
  ALLOW_PRIVATE_TARGETS: flag
    .optional()
    .describe('Webhooks may point to private addresses and any port. Unset: true if embedded'),
  ALLOW_HTTP_TARGETS: flag.optional().describe('Webhooks may use `http://`. Unset: true if embedded'),
  ALLOWED_PORTS: ports
    .prefault('80,443,8080,8443')
    .describe('Ports that webhook addresses may use, unless `ALLOW_PRIVATE_TARGETS` is true'),
  DENIED_NETWORKS: networks
    .optional()
    .describe(
      'More networks that nothing is ever sent to, even with `ALLOW_PRIVATE_TARGETS` (`203.0.113.0/24,2001:db8::/32`). Unset: none',
    ),
  DNS_SERVERS: dnsServers
    .optional()
    .describe(
      'Name servers that resolve the hosts of webhooks (`10.0.0.53,10.0.1.53:5353`). Unset: those of the machine',
    ),
  EGRESS_PROXY: url(['http:'])
    .refine(isProxyUrl, 'must have its user and password percent-encoded')
    .optional()
    .describe(
      'HTTP proxy that all notifications go through by CONNECT (`http://user:password@host:port`); it receives IP addresses, which the service resolves and checks itself',
    ),
  EGRESS_ADDRESSES: networks
    .optional()
    .describe(
      'Addresses that notifications come from, for the firewalls of receivers: shown to shippers at `GET /v1/egress`. Unset: none',
    ),
  CLIENT_CERT_FILE: readBy(readCertificate)
    .optional()
    .describe(
      'PEM file with the certificate, and its chain, that receivers are shown which ask for one (mTLS); requires `CLIENT_KEY_FILE`; must be set for every api and worker. Read at the start. Unset: none is shown',
    ),
  CLIENT_KEY_FILE: readBy(readKey)
    .optional()
    .describe('PEM file with the private key of `CLIENT_CERT_FILE`, without a passphrase'),
  SMTP_URL: mailServer
    .optional()
    .describe(
      'Mail server (`smtp://user:password@host:587`, or `smtps://`) for password links and what owners of webhooks are told; requires `MAIL_FROM`; must be set for every api and worker. With a password, TLS is required. Unset: no e-mails',
    ),
  MAIL_FROM: mailSender
    .optional()
    .describe('Sender of e-mails: an address, or `Name <address>`; requires `SMTP_URL`'),
  WEBHOOKS_PER_SHIPPER: integer(1, 100_000)
    .prefault('100')
    .describe('Maximum number of webhooks per shipper'),
  WEBHOOK_CREATION_LIMIT: integer(0, 1_000_000)
    .prefault('60')
    .describe(
      'Webhooks that one shipper may register per hour; three times as many in total for one host, unless that is loopback; 0: no limit',
    ),
  BY_HAND_LIMIT: integer(0, 1_000_000)
    .prefault('100')
    .describe(
      'Tests, redeliveries and replays that may be requested per hour for one webhook; twice as many for one shipper, six times as many in total for one host; 0: no limit',
    ),
  DESTINATION_RATE: integer(0, 1_000_000)
    .optional()
    .describe(
      'Attempts per second at one host and port, for all shippers together, until its receiver has [agreed to more](receiving.md#agree-to-more); 0: no limit. Unset: 50; 0 with `ALLOW_PRIVATE_TARGETS`',
    ),
  AGREED_DESTINATIONS: destinations
    .prefault('')
    .describe(
      'Hosts that `DESTINATION_RATE` does not limit (`hooks.example.com,hooks.example.org:8443`). Unset: none',
    ),
  RETRY_SCHEDULE: retrySchedule
    .prefault('5s,5m,30m,2h,5h,10h,14h,20h,24h')
    .describe(
      'Waits after the first failed attempt, the second and so on, each ±10 %. If the attempt after the last wait fails, the delivery is `FAILED`',
    ),
  DELIVERY_TIMEOUT: duration({ minMs: 50, maxMs: 300_000 })
    .prefault('15s')
    .describe('Time limit for a whole attempt, from the DNS lookup to the end of the response, up to 5m'),
  CONNECTION_MAX_AGE: duration({ minMs: 100, maxMs: dayMs })
    .prefault('2m')
    .describe(
      'How long a connection to a receiver is reused, up to 1d; it is replaced earlier if its host no longer has its address',
    ),
  DELIVERY_CONCURRENCY: integer(1, 500)
    .prefault('100')
    .describe(
      'Attempts that a worker process may have under way to quick receivers, up to 500; as many again to receivers that have not responded yet, and five times as many to slow ones (attempts that hang move there from the others even if it is full)',
    ),
  SEND_THREADS: integer(0, 16)
    .prefault('2')
    .describe(
      'Sender threads of a process, which make the attempts: the last one for receivers that are slow or have not responded yet, the others for quick ones; 1: one for all; 0: none, for debugging',
    ),
  DELIVERY_SHARDS: integer(1, 64)
    .prefault('1')
    .describe(
      'Number of delivery queues that webhooks are spread over, each on one node of a Redis Cluster; must be the same in every process',
    ),
  ORDER_HOLD: duration({ minMs: 0, maxMs: 30 * dayMs })
    .prefault('15m')
    .describe('How long, at most, a later state waits for an earlier one of its shipment'),
  PARKED_AFTER: integer(1, 10_000_000)
    .prefault('10000')
    .describe(
      'How many owed deliveries are stored for a webhook that gets no attempts. What it misses beyond them is stored as a position in the events',
    ),
  LOG_RETENTION: duration({ minMs: dayMs, maxMs: 3_650 * dayMs })
    .prefault('30d')
    .describe('How long the delivery log is kept, at least 1d; dropped by whole days (UTC)'),
  SHIPMENT_RETENTION: duration({ minMs: dayMs, maxMs: 36_500 * dayMs })
    .prefault('400d')
    .describe(
      'How long after its last state the personal data of a shipment is erased, at least 1d; identifiers, states and times remain',
    ),
  AUDIT_RETENTION: duration({ minMs: 30 * dayMs, maxMs: 3_650 * dayMs })
    .prefault('400d')
    .describe('How long the audit log is kept, at least 30d'),
  API_RATE_LIMIT: integer(0, 1_000_000)
    .prefault('500')
    .describe('Requests per second that one shipper may make, averaged over 10 s; 0: no limit'),
  LOGIN_LIMIT_ACCOUNT: integer(1, 1_000_000)
    .prefault('100')
    .describe(
      'Logins per hour of one user (key and e-mail), right or wrong: for each address block that has logged in lately, and for all others together',
    ),
  LOGIN_LIMIT_IP: integer(0, 1_000_000)
    .prefault('1000')
    .describe('Failed logins per hour from one IPv4 address or IPv6 /64; 0: no limit'),
  TRUST_PROXY: proxies
    .optional()
    .describe(
      "Reverse proxies whose `X-Forwarded-For` gives the caller's address: addresses and subnets (`loopback,10.0.0.0/8`), or their number if all requests come through them. Unset: none",
    ),
  STATES_FILE: readBy(readCatalogue)
    .optional()
    .describe(
      'JSON file with the states of shipments: `{"initial": "CREATED", "states": [{"name": "CREATED", "next": ["DELIVERED"]}, …]}`. Unset: built in',
    ),
  DROPOFF_FILE: readBy(readDropoffLocations)
    .optional()
    .describe(
      'JSON file with the drop-off locations: a list of `dropoffLocation` objects as in the response to an order. Unset: built in',
    ),
  ORDER_CHECKS: z
    .enum(orderChecks)
    .prefault('strict')
    .describe(
      '`strict`: an order needs an existing country (ISO 3166), currency (ISO 4217) and unit, a valid e-mail address, and a delivery that is not before its drop-off; `lenient`: any text will do',
    ),
  ORDER_ITEMS_LIMIT: byteCount('1KiB', '256KiB')
    .prefault('16KiB')
    .describe(
      'Size of `items` of an order, and of `evidences` and `anomalies` of an event, as JSON, from 1KiB to 256KiB',
    ),
  STORED_BYTES_PER_DAY: byteCount('1KiB', '1000TiB', true)
    .prefault('1GiB')
    .describe(
      'Bytes of orders, events and responses that are stored for one shipper in a day (UTC); beyond it, its orders, tests, redeliveries and replays get 429; 0: no limit',
    ),
  SIMULATE: flag
    .optional()
    .describe(
      'Shippers may have a shipment simulate a journey through the states (`POST /v1/shipments/{trackingId}/simulate`); must be the same in every process. Unset: true if embedded and `HOST` is loopback',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .prefault('info')
    .describe(
      'Least severe level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`',
    ),
  LOG_ATTEMPTS: z
    .enum(['all', 'failed'], 'must be all or failed')
    .prefault('all')
    .describe('Attempts that are logged: `all`, or only `failed` ones; a success is then logged at debug'),
  LOG_DETAIL: z
    .enum(['all', 'failed'], 'must be all or failed')
    .prefault('failed')
    .describe(
      'Attempts whose phases, address and headers the delivery log keeps: `all`, or only `failed` ones and those by hand',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:'])
    .optional()
    .describe(
      'OpenTelemetry collector that gets the traces, such as `http://collector:4318`; the other `OTEL_EXPORTER_OTLP_*` and `OTEL_BSP_*` apply as well. Unset: nothing is exported',
    ),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers, `must be one of ${samplers.join(', ')}`)
    .prefault('parentbased_always_on')
    .describe("Which traces are exported. The ids of the traces decide; a caller's sampled flag is ignored"),
  OTEL_TRACES_SAMPLER_ARG: fraction(0, 1)
    .prefault('1')
    .describe('Share of the traces that `traceidratio` exports, from 0 to 1'),
  METRICS_PORT: integer(0, 65_535)
    .optional()
    .describe(
      'A separate listener for `/metrics`, `/healthz` and `/readyz`; the latter two stay on `PORT` as well; 0: any free port. Unset: `PORT`',
    ),
  METRICS_TOKEN: bearerToken
    .optional()
    .describe(
      'Bearer token that `/metrics` requires, for when it shares the port of the API; at least 16 characters. Unset: anyone who reaches the port may read it',
    ),
  SHUTDOWN_DELAY: duration({ minMs: 0, maxMs: 600_000 })
    .prefault('0s')
    .describe(
      'How long an API continues to serve after SIGTERM while `/readyz` reports not ready, so that load balancers turn away from it before it closes, up to 10m; `SHUTDOWN_TIMEOUT` begins after it. 0s: not at all',
    ),
  SHUTDOWN_TIMEOUT: duration({ minMs: 100, maxMs: 600_000 })
    .prefault('25s')
    .describe(
      'How long a process may take to finish its work after SIGTERM and `SHUTDOWN_DELAY`, up to 10m. If it is longer than `DELIVERY_TIMEOUT`, attempts under way finish; other processes take over the rest',
    ),
  TIME_SCALE: fraction(0.01, 1)
    .prefault('1')
    .describe(
      'For tests: a factor for leases, sweeps, the waits of circuits and the span of `API_RATE_LIMIT`, from 0.01 to 1',
    ),
});

export type Variables = z.output<typeof variables>;
