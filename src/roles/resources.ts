import pRetry from 'p-retry';
import { auditAll, service } from '../accounts/audit.js';
import type { CompleteConfig } from '../config/config.js';
import {
  createEngine,
  createSealer,
  createSecretBox,
  policyOf,
  queueNames,
  type Destinations,
} from '../engine/engine.js';
import { durationsOf } from '../platform/durations.js';
import { makeFirstPartitions } from '../history/retention/retention.js';
import { readFeedExtent } from '../feed/extent-store.js';
import { inboxPath } from '../inbox/boxes.js';
import { readDatabaseClock } from '../observe/processes.js';
import { migrate, waitingForSchema } from '../platform/database/migrate.js';
import { createPool, isNotPermitted, requireSettings, type Pool } from '../platform/database/postgres.js';
import { withReplica } from '../platform/database/replica.js';
import { expiryWarning, factsOf } from '../config/client-certificate.js';
import { clientCertificateOf } from '../config/config.js';
import { ConfigError, describeError } from '../platform/errors.js';
import { createRateLimits } from '../platform/limits/rate-limit.js';
import { StoredBytes } from '../platform/limits/stored-bytes.js';
import type { Logger } from '../platform/telemetry/logger.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import { createQueueEngine, type Producer } from '../platform/queue/engine.js';
import { startOtlp, withoutExport, type Tracing } from '../platform/telemetry/tracing.js';
import { createCreationQueue, creationQueueName } from '../shipments/create.js';
import { defaultDropoffLocations } from '../shipments/dropoff.js';
import { createCatalogue } from '../shipments/states.js';
import { version } from '../platform/version.js';
import { oweNoticeMails } from '../webhooks/mails/owed.js';
import { requireKey, sealKeyCheck } from '../webhooks/reseal.js';
import { migrateUnderOwnRole } from './migrate.js';

export type Role = 'all' | 'api' | 'worker';
type Releasers = ReturnType<typeof createReleasers>;

/** Shared by the roles: connections, queues and the operator's data. */
export type Resources = Awaited<ReturnType<typeof openResources>>;

const apiConnections = { maxConnections: 10, statementTimeoutMs: 2_500, durable: true };
const workerConnections = { maxConnections: 8, statementTimeoutMs: 10_000, durable: true };
const leaseConnections = { maxConnections: 4, statementTimeoutMs: 10_000, durable: false };

export interface OpenOptions {
  config: CompleteConfig;
  databaseUrl: string;
  role: Role;
  url: string;
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing;
  releasers: Releasers;
  onWaiting(check: 'postgres' | 'queue', reason: Error): void;
}

/** Opens the resources and registers the release of each. Waits without limit for what others must put right. */
export async function openResources(options: OpenOptions) {
  const { config, databaseUrl, role, logger, metrics, tracing, releasers } = options;
  const catalogue = config.STATES_FILE ?? createCatalogue();
  const openPool = (name: string, limits: typeof apiConnections, connectionString = databaseUrl): Pool => {
    const applicationName = `parcelhook-${name}`;
    const { DATABASE_POOLER: pooler } = config;
    const pool = createPool({ connectionString, applicationName, pooler, logger, ...limits });
    releasers.push(`${name} pool`, pool.end);
    watchPool(metrics, name, limits.maxConnections, pool);
    return pool;
  };
  const apiDb = openPool('api', apiConnections);
  const workerDb = role === 'api' ? apiDb : openPool('worker', workerConnections);
  const leaseDb = role === 'api' ? apiDb : openPool('lease', leaseConnections);
  const secrets = createSecretBox(config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS);
  await untilDone(options, 'postgres', async () => {
    await requireSettings(apiDb);
    await requireKey(apiDb, secrets); // migrations run only with the right key
    await migrateAsConfigured(options);
  });
  await untilDone(options, 'postgres', () => readDatabaseClock(apiDb));
  await untilDone(options, 'postgres', () => sealKeyCheck(apiDb, secrets));
  await untilDone(options, 'postgres', () => makeFirstPartitions(apiDb));
  const { DATABASE_READ_URL: readUrl } = config;
  const replica =
    readUrl !== undefined && role !== 'worker'
      ? withReplica(apiDb, openPool('read', apiConnections, readUrl), logger)
      : null;
  if (replica) releasers.push('read replica', replica.stop);
  // A failure here must not delay deliveries: the next reader of the feed checks it again.
  const feed = await apiDb.transaction(readFeedExtent).catch((error: unknown) => {
    logger.warn({ error: describeError(error) }, 'feed not checked; its readers will check it');
    return null;
  });
  if (feed?.isRenewed)
    logger.warn('database was restored or replaced by a standby; earlier feed cursors are refused');
  const onRecorded: ((shipperIds: Set<string>) => void)[] = [];

  const { REDIS_URL: redisUrl, QUEUE_PREFIX: prefix } = config;
  const queue = createQueueEngine({ redisUrl, databaseUrl, prefix, logger });
  releasers.push('queue', queue.close);
  await untilDone(options, 'queue', queue.prepare);
  const limits = createRateLimits(role === 'worker' ? undefined : redisUrl, prefix);
  releasers.push('rate limits', limits.close);
  const stored = new StoredBytes({ db: workerDb, logger, metrics, limit: config.STORED_BYTES_PER_DAY });
  releasers.push('stored bytes', () => stored.stop());
  const creation = queue.producer(creationQueueName);
  const shards = queueNames(config.DELIVERY_SHARDS).map((name): [string, Producer] => [
    name,
    queue.producer(name),
  ]);
  const durations = durationsOf(config.TIME_SCALE);
  for (const state of catalogue.names) metrics.eventsRecorded.inc({ state }, 0);
  const terminalStates = [...catalogue.names].filter(catalogue.isTerminal);

  const destinations: Destinations = {
    allowPrivateTargets: config.ALLOW_PRIVATE_TARGETS,
    allowHttpTargets: config.ALLOW_HTTP_TARGETS,
    allowedPorts: config.ALLOWED_PORTS,
    deniedNetworks: config.DENIED_NETWORKS ?? [],
    publicUrl: config.PUBLIC_URL ?? options.url,
    inboxPath: config.development ? inboxPath : undefined,
  };
  const clientCertificate = clientCertificateOf(config);
  const warning = clientCertificate && expiryWarning(factsOf(clientCertificate.cert), Date.now());
  if (warning) logger.warn(warning);
  const sealer = createSealer(secrets);
  const engine = createEngine({
    concurrency: role === 'api' ? null : config.DELIVERY_CONCURRENCY,
    db: workerDb,
    apiDb,
    leaseDb,
    producers: shards.map(([, producer]) => producer),
    logger,
    metrics,
    tracing,
    durations,
    sealer,
    destinations,
    dns: { servers: config.DNS_SERVERS, systemToo: config.ALLOW_PRIVATE_TARGETS },
    egressProxy: config.EGRESS_PROXY,
    clientCertificate,
    timeoutMs: config.DELIVERY_TIMEOUT,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE,
    destinationRate: { perSecond: config.DESTINATION_RATE, agreed: config.AGREED_DESTINATIONS },
    sendThreads: config.SEND_THREADS,
    retryScheduleMs: config.RETRY_SCHEDULE,
    orderHoldMs: config.ORDER_HOLD,
    logAttempts: config.LOG_ATTEMPTS,
    logDetail: config.LOG_DETAIL,
    states: { ...catalogue, terminalStates },
    onRecorded: (shipperIds) => onRecorded.forEach((tell) => tell(shipperIds)),
    onStored: (shipperId, bytes) => stored.add(shipperId, bytes),
    onDisabled: (tx, webhooks) => auditAll(tx, service, webhooks.map(disabledEntry)),
    ...(config.SMTP_URL !== undefined && { onNoticed: oweNoticeMails }),
  });
  releasers.push('engine', async () => {
    await engine.dispatch?.drain();
    engine.close();
  });

  return {
    config,
    logger,
    releasers,
    /** Short statements only: a request never waits long. */
    apiDb,
    /** For reads that may be some seconds old: a read replica, if there is one. */
    readDb: replica ?? apiDb,
    workerDb,
    engine,
    queue,
    /** The producers of the creation queue and of each delivery shard, by name. */
    producers: new Map([[creationQueueName, creation], ...shards]),
    durations,
    metrics,
    tracing,
    enqueueCreation: createCreationQueue(creation, logger),
    catalogue,
    dropoffLocations: config.DROPOFF_FILE ?? defaultDropoffLocations,
    limits,
    stored,
    secrets,
    sealer,
    policy: policyOf(destinations),
    /** Of links in mails. */
    publicUrl: destinations.publicUrl,
    terminalStates,
    /** Called after each commit with the shippers of the events. */
    onRecorded,
  };
}

const disabledEntry = (webhook: { webhookId: string; shipperId: string }) => ({
  ...webhook,
  action: 'WEBHOOK_DISABLED' as const,
  fields: ['status', 'disabledReason'],
});

export const openTracing = (config: CompleteConfig, logger: Logger): Promise<Tracing> =>
  config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
    ? Promise.resolve(withoutExport)
    : startOtlp({
        sampler: config.OTEL_TRACES_SAMPLER,
        ratio: config.OTEL_TRACES_SAMPLER_ARG,
        version,
        logger,
      });

function watchPool(metrics: Metrics, pool: string, size: number, { usage }: Pool): void {
  metrics.poolSize.set({ pool }, size);
  metrics.onScrape(() => {
    const { total, idle, waiting } = usage();
    metrics.poolConnections.set({ pool, state: 'busy' }, total - idle);
    metrics.poolConnections.set({ pool, state: 'idle' }, idle);
    metrics.poolWaiting.set({ pool }, waiting);
  });
}

const patience = { retries: Infinity, minTimeout: 250, maxTimeout: 5_000 };

/** An engine may come up, go away again, or be repaired after this process starts. */
const untilDone = <T>(
  { onWaiting }: OpenOptions,
  check: 'postgres' | 'queue',
  task: () => Promise<T>,
): Promise<T> =>
  pRetry(task, {
    ...patience,
    onFailedAttempt: ({ error }) => onWaiting(check, error),
    shouldRetry: ({ error }) => !(error instanceof ConfigError),
  });

/** A role that owns no table waits until another one has migrated. */
function migrateAsConfigured({ config, databaseUrl, logger }: OpenOptions): Promise<string[]> {
  const { MIGRATION_DATABASE_URL: migrationUrl, REDIS_URL: redisUrl } = config;
  if (migrationUrl !== undefined)
    return migrateUnderOwnRole({ migrationUrl, databaseUrl, withQueue: redisUrl === undefined, logger });
  return migrate(databaseUrl, logger).catch((error: unknown) => {
    if (!isNotPermitted(error)) throw error;
    throw new Error(`${waitingForSchema}. This role may not make it: ${describeError(error)}`);
  });
}

/** A stop and a failed start release everything, last in first out. */
export function createReleasers(logger: Logger) {
  const releasers: { name: string; release(): Promise<unknown> }[] = [];
  return {
    push: (name: string, release: () => Promise<unknown>) => void releasers.push({ name, release }),
    releaseAll: async () => {
      for (const { name, release } of releasers.splice(0).reverse()) {
        await release().catch((error: unknown) =>
          logger.warn(
            { resource: name, error: describeError(error) },
            'resource not released; continuing with the next',
          ),
        );
      }
    },
  };
}
