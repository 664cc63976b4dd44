import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { duration, parseDurationMs } from './platform/duration.js';
import { describeError } from './platform/errors.js';
import { readDropoffLocations } from './shipments/dropoff.js';
import { readCatalogue } from './shipments/states.js';

const dayMs = 86_400_000;
const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');
const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);
const scale = z
  .string()
  .refine((text) => Number(text) >= 0.01 && Number(text) <= 1, 'must be a number from 0.01 to 1')
  .transform(Number);
const longSecret = (length: number) => z.string().min(length, `must have at least ${length} characters`);
const url = (schemes: string[]) =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol),
      `must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    );

/** Durations separated by commas; the first is the wait after the first failed attempt. Parsed to milliseconds. */
const retrySchedule = z.string().transform((text, context) => {
  const stepsMs = text
    .split(',')
    .filter((step) => step.trim())
    .map(parseDurationMs);
  if (stepsMs.length <= 50 && stepsMs.every((ms): ms is number => ms !== null && ms <= 7 * dayMs))
    return stepsMs;
  context.addIssue('must be up to 50 durations of at most 7d separated by commas, such as 5s,5m,30m,2h');
  return z.NEVER;
});

const ports = z.string().transform((text, context) => {
  const list = text.split(',').map(Number);
  if (list.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535)) return list;
  context.addIssue('must be ports from 1 to 65535 separated by commas, such as 443,8443');
  return z.NEVER;
});

/** How many proxies in front add to X-Forwarded-For, or which: what express takes for `trust proxy`. */
const proxies = z.string().transform((text, context) => {
  if (/^[1-9]$/.test(text.trim())) return Number(text);
  const list = text.split(',').map((entry) => entry.trim());
  const known = (entry: string) =>
    ['loopback', 'linklocal', 'uniquelocal'].includes(entry) ||
    ipaddr.IPv4.isValidFourPartDecimal(entry) ||
    ipaddr.IPv4.isValidCIDRFourPartDecimal(entry) ||
    ipaddr.IPv6.isValid(entry) ||
    ipaddr.IPv6.isValidCIDR(entry);
  if (list.every(known)) return list;
  context.addIssue(
    'must be a number of proxies from 1 to 9, or their addresses or subnets separated by commas, such as loopback,10.0.0.0/8',
  );
  return z.NEVER;
});

/** A file of the operator's, read and checked with the other settings. */
const dataFile = <T>(read: (path: string) => T) =>
  z.string().transform((path, context) => {
    try {
      return read(path);
    } catch (error) {
      context.addIssue(describeError(error));
      return z.NEVER;
    }
  });

/**
 * Every environment variable: its form, its default as it would be written in the environment, and what it is for
 * (contract, section 7). What a description says after `Unset:` stands in the README's table as the default; the table
 * is made of this by `npm run config-table`.
 */
export const variables = z.object({
  PORT: integer(0, 65_535)
    .prefault('8080')
    .describe(
      'Port of the API, `/healthz` and `/readyz` (role `worker`: of the latter two); 0: any free one',
    ),
  PUBLIC_URL: url(['http:', 'https:'])
    .optional()
    .describe('Address users reach the service at; used in password links. Unset: `http://localhost:PORT`'),
  DATA_DIR: z
    .string()
    .prefault('data')
    .describe('Folder of the embedded PostgreSQL and of generated secrets; not used with `DATABASE_URL`'),
  DATABASE_URL: url(['postgres:', 'postgresql:'])
    .optional()
    .describe('PostgreSQL ≥ 15. With it set, nothing is embedded. Unset: embedded, in `DATA_DIR`'),
  REDIS_URL: z
    .string()
    .regex(/^(rediss?|redis\+sentinel|rediss\+sentinel|redis\+cluster|rediss\+cluster):\/\/.+/, {
      error:
        'must start with redis:// or rediss://, or redis+sentinel:// or redis+cluster:// followed by hosts separated by commas',
    })
    .optional()
    .describe(
      'Redis ≥ 6.2 or Valkey: `redis://`, `rediss://`, `redis+sentinel://h1:26379,h2:26379/master-name`, `redis+cluster://h1:6379,h2:6379`. Unset: the queue runs on PostgreSQL',
    ),
  QUEUE_PREFIX: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
    .prefault('parcelhook')
    .describe('Prefix of the queue keys in Redis; another one for each service that shares it'),
  TOKEN_SECRET: longSecret(32)
    .optional()
    .describe('Signs access tokens; at least 32 characters. Unset: generated if embedded, else an error'),
  SECRETS_KEY: longSecret(32)
    .optional()
    .describe(
      'Encrypts webhook secrets at rest; at least 32 characters. Unset: generated if embedded, else an error',
    ),
  SECRETS_KEY_PREVIOUS: longSecret(32)
    .optional()
    .describe('A second key that opens webhook secrets, while `SECRETS_KEY` is being rotated'),
  OPERATOR_TOKEN: longSecret(16)
    .optional()
    .describe(
      'Bearer token of the operator API; at least 16 characters. Unset: generated if embedded, else an error',
    ),
  TOKEN_TTL: duration({ minMs: 1_000, maxMs: 30 * dayMs })
    .prefault('1h')
    .describe('Lifetime of an access token, up to 30d'),
  ALLOW_PRIVATE_TARGETS: flag
    .optional()
    .describe('Webhooks may point to private addresses and any port. Unset: true if embedded'),
  ALLOW_HTTP_TARGETS: flag.optional().describe('Webhooks may use `http://`. Unset: true if embedded'),
  ALLOWED_PORTS: ports
    .prefault('80,443,8080,8443')
    .describe('Ports that a webhook may name, unless `ALLOW_PRIVATE_TARGETS`'),
  EGRESS_PROXY: url(['http:'])
    .optional()
    .describe(
      'HTTP proxy that all notifications go through (`http://host:port`); it resolves names and has to refuse private addresses itself',
    ),
  WEBHOOKS_PER_SHIPPER: integer(1, 100_000)
    .prefault('100')
    .describe('Most webhooks one shipper may register'),
  RETRY_SCHEDULE: retrySchedule
    .prefault('5s,5m,30m,2h,5h,10h,14h,20h,24h')
    .describe('Waits after the first failed attempt, the second and so on, each ±10 %; then it has `FAILED`'),
  DELIVERY_TIMEOUT: duration({ minMs: 50, maxMs: 300_000 })
    .prefault('15s')
    .describe('Bound on one whole attempt, from the name lookup to the end of the answer, up to 5m'),
  DELIVERY_CONCURRENCY: integer(1, 500)
    .prefault('100')
    .describe('Attempts in flight per worker process, up to 500'),
  DELIVERY_SHARDS: integer(1, 64)
    .prefault('1')
    .describe(
      'Delivery queues that webhooks are spread over, each on one node of a Redis Cluster; the same in every process',
    ),
  ORDER_HOLD: duration({ minMs: 0, maxMs: 30 * dayMs })
    .prefault('15m')
    .describe('Longest wait of a later state for an earlier one of its shipment'),
  LOG_RETENTION: duration({ minMs: dayMs, maxMs: 3_650 * dayMs })
    .prefault('30d')
    .describe('How long the delivery log is kept, at least 1d; dropped by whole days (UTC)'),
  API_RATE_LIMIT: integer(0, 1_000_000)
    .prefault('5000')
    .describe('Requests per second that one shipper may make, averaged over 10 s; 0: any number'),
  LOGIN_LIMIT_ACCOUNT: integer(1, 1_000_000)
    .prefault('100')
    .describe('Logins per hour of one user (key and e-mail), right or wrong, that are looked at'),
  LOGIN_LIMIT_IP: integer(0, 1_000_000)
    .prefault('1000')
    .describe('Failed logins per hour from one IPv4 address or IPv6 /64; 0: any number'),
  TRUST_PROXY: proxies
    .optional()
    .describe(
      'Reverse proxies whose `X-Forwarded-For` tells the address of a caller: their number, or addresses and subnets (`loopback,10.0.0.0/8`). Unset: none',
    ),
  STATES_FILE: dataFile(readCatalogue)
    .optional()
    .describe(
      'JSON file with the states of shipments: `{"initial": "CREATED", "states": [{"name": "CREATED", "next": ["DELIVERED"]}, …]}`. Unset: built in',
    ),
  DROPOFF_FILE: dataFile(readDropoffLocations)
    .optional()
    .describe(
      'JSON file with the drop-off locations: a list of `dropoffLocation` as it stands in the answer to an order. Unset: built in',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .prefault('info')
    .describe(
      'Least severe level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`',
    ),
  METRICS_PORT: integer(0, 65_535)
    .optional()
    .describe('Own port for `/metrics`; 0: any free one. Unset: `PORT`'),
  SHUTDOWN_TIMEOUT: duration({ minMs: 100, maxMs: 600_000 })
    .prefault('25s')
    .describe(
      'Bound on draining after SIGTERM, up to 10m; more than `DELIVERY_TIMEOUT` lets attempts in flight finish, what is not done then is taken up by others',
    ),
  TIME_SCALE: scale
    .prefault('1')
    .describe(
      'For tests: leases, sweeps and the waits of circuits last this part of their time, from 0.01 to 1',
    ),
});

type Variables = z.output<typeof variables>;
type Generated = 'TOKEN_SECRET' | 'SECRETS_KEY' | 'OPERATOR_TOKEN';

/** Settings as the service uses them; `embedded` tells that no DATABASE_URL was given. */
export type Config = Omit<Variables, 'ALLOW_PRIVATE_TARGETS' | 'ALLOW_HTTP_TARGETS'> & {
  embedded: boolean;
  ALLOW_PRIVATE_TARGETS: boolean;
  ALLOW_HTTP_TARGETS: boolean;
};

/** Settings with the secrets that embedded mode generates filled in. */
export type CompleteConfig = Omit<Config, Generated> & Record<Generated, string>;

/** All wrong or missing variables, one line each. The program exits with 78 (EX_CONFIG). */
export class ConfigError extends Error {}

/** Reads the environment once. Throws ConfigError naming every wrong and every missing variable. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(variables.shape)) {
    const parsed = schema.safeParse(given[name]);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(...parsed.error.issues.map(({ message }) => `${name}: ${message}`));
  }
  if (given.DATABASE_URL) problems.push(...missingSecrets(given));
  problems.push(...relationProblems(values));
  if (problems.length > 0) {
    throw new ConfigError(
      `The configuration is not valid:\n${problems.map((line) => `  ${line}`).join('\n')}`,
    );
  }
  const settings = values as Variables;
  const embedded = settings.DATABASE_URL === undefined;
  return {
    ...settings,
    embedded,
    ALLOW_PRIVATE_TARGETS: settings.ALLOW_PRIVATE_TARGETS ?? embedded,
    ALLOW_HTTP_TARGETS: settings.ALLOW_HTTP_TARGETS ?? embedded,
  };
}

function missingSecrets(given: Record<string, unknown>): string[] {
  return (['TOKEN_SECRET', 'SECRETS_KEY', 'OPERATOR_TOKEN'] as const)
    .filter((name) => !given[name])
    .map((name) => `${name}: is required where DATABASE_URL is set (openssl rand -base64 32 makes one)`);
}

/** What does not go together. A variable that is wrong in itself is unset here: it has been named. */
function relationProblems(values: Partial<Variables>): string[] {
  const problems: string[] = [];
  if (values.METRICS_PORT !== undefined && values.METRICS_PORT !== 0 && values.METRICS_PORT === values.PORT) {
    problems.push('METRICS_PORT: must differ from PORT');
  }
  if (values.SECRETS_KEY_PREVIOUS !== undefined && values.SECRETS_KEY_PREVIOUS === values.SECRETS_KEY) {
    problems.push('SECRETS_KEY_PREVIOUS: must differ from SECRETS_KEY');
  }
  return problems;
}
