import pRetry from 'p-retry';
import type { CompleteConfig } from '../config/config.js';
import { createNotify, queueNames, type Notify } from '../engine/schedule/notify.js';
import { durationsOf, type Durations } from '../engine/durations.js';
import type { HandOver } from '../engine/outbox/types.js';
import { makeFirstPartitions } from '../history/retention/log-days.js';
import { countAttemptsFromZero } from '../engine/settle/note-attempt.js';
import { createDnsResolver } from '../engine/send/dns/resolver.js';
import { createSender, type Sender } from '../engine/send/sender.js';
import { createStarts, type Starts } from '../engine/attempt/starts.js';
import { createTargets, type Targets } from '../engine/attempt/targets.js';
import { readFeedExtent } from '../feed/extent-store.js';
import type { RecordDependencies } from '../engine/record/record.js';
import { inboxPath } from '../inbox/boxes.js';
import { migrate, waitingForSchema } from '../platform/database/migrate.js';
import {
  createPool,
  isNotPermitted,
  isOutOfReach,
  requireSettings,
  type Database,
  type Pool,
} from '../platform/database/postgres.js';
import { ConfigError, describeError } from '../platform/errors.js';
import { createRateLimits, type RateLimits } from '../platform/limits/rate-limit.js';
import type { Logger } from '../platform/telemetry/logger.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import { createQueueEngine, type Producer, type QueueEngine } from '../platform/queue/engine.js';
import { startOtlp, withoutExport, type Tracing } from '../platform/telemetry/tracing.js';
import { createSignal, type createReleasers, type Signal } from '../platform/lifecycle.js';
import { createCreationQueue, creationQueueName } from '../shipments/create.js';
import { defaultDropoffLocations } from '../shipments/dropoff.js';
import type { DropoffLocation } from '../shipments/order.js';
import { createCatalogue, type StateCatalogue } from '../shipments/states.js';
import { version } from '../platform/version.js';
import { inDenied, type DestinationPolicy } from '../webhooks/destination.js';
import {
  requireKey,
  sealKeyCheck,
  createSealer,
  createSecretBox,
  type Sealer,
  type SecretBox,
} from '../webhooks/sealing.js';
import { migrateUnderOwnRole } from './migrate.js';

export type Role = 'all' | 'api' | 'worker';
type Releasers = ReturnType<typeof createReleasers>;

/** Shared by the roles: connections, queues and the operator's data. */
export interface Resources {
  config: CompleteConfig;
  logger: Logger;
  releasers: Releasers;
  /** Short statements only: a request never waits long. */
  apiDb: Database;
  workerDb: Pool;
  /** For claims and leases. PostgreSQL may lose one in a crash, which has the effect of an expired lease. */
  leaseDb: Database;
  engine: QueueEngine;
  producers: Map<string, Producer>;
  notify: Notify;
  durations: Durations;
  metrics: Metrics;
  tracing: Tracing;
  sender: Sender;
  targets: Targets;
  starts: Starts;
  enqueueCreation(shipmentId: string): Promise<void>;
  catalogue: StateCatalogue;
  dropoffLocations: DropoffLocation[];
  limits: RateLimits;
  secrets: SecretBox;
  sealer: Sealer;
  policy: DestinationPolicy;
  recording(db: Database, handOver: HandOver): RecordDependencies;
  /** Emits, after each commit, the shippers of the events. */
  recorded: Signal<Set<string>>;
  terminalStates: string[];
}

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
  releasers: Releasers;
  onWaiting(reason: Error): void;
}

/** Also registers the release of each. Waits for PostgreSQL without limit. */
export async function openResources(options: OpenOptions): Promise<Resources> {
  const { config, databaseUrl, role, logger, metrics, releasers } = options;
  const tracing = await openTracing(config, logger);
  releasers.push('tracing', tracing.stop); // first, so released last
  const catalogue = config.STATES_FILE ?? createCatalogue();
  const openPool = (name: string, limits: typeof apiConnections): Pool => {
    const applicationName = `parcelhook-${name}`;
    const { DATABASE_POOLER: pooler } = config;
    const pool = createPool({ connectionString: databaseUrl, applicationName, pooler, logger, ...limits });
    releasers.push(`${name} pool`, pool.end);
    watchPool(metrics, name, limits.maxConnections, pool);
    return pool;
  };
  const apiDb = openPool('api', apiConnections);
  const workerDb = role === 'api' ? apiDb : openPool('worker', workerConnections);
  const leaseDb = role === 'api' ? apiDb : openPool('lease', leaseConnections);
  const secrets = createSecretBox(config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS);
  await migrateOnceReachable(options, () => requireSettings(apiDb).then(() => requireKey(apiDb, secrets)));
  await retryWhileUnreachable(options, () => sealKeyCheck(apiDb, secrets));
  await retryWhileUnreachable(options, () => makeFirstPartitions(apiDb));
  // Readers of the feed check it again: a failure here must not delay deliveries.
  const feed = await apiDb.transaction(readFeedExtent).catch((error: unknown) => {
    logger.warn({ error: describeError(error) }, 'feed not checked; its readers will check it');
    return null;
  });
  if (feed?.isRenewed)
    logger.warn('database was restored or replaced by a standby; earlier feed cursors are refused');
  const recorded = createSignal<Set<string>>();

  const { REDIS_URL: redisUrl, QUEUE_PREFIX: prefix } = config;
  const engine = createQueueEngine({ redisUrl, databaseUrl, prefix, logger });
  releasers.push('queue engine', engine.close);
  await retryWhileUnreachable(options, engine.prepare);
  const limits = createRateLimits(role === 'worker' ? undefined : redisUrl, prefix);
  releasers.push('rate limits', limits.close);
  const creation = engine.producer(creationQueueName);
  const shards = queueNames(config.DELIVERY_SHARDS).map((name): [string, Producer] => [
    name,
    engine.producer(name),
  ]);
  const notify = createNotify(
    shards.map(([, producer]) => producer),
    logger,
  );
  const durations = durationsOf(config.TIME_SCALE);
  for (const state of catalogue.names) metrics.eventsRecorded.inc({ state }, 0);
  countAttemptsFromZero(metrics);
  const terminalStates = [...catalogue.names].filter(catalogue.isTerminal);

  const policy: DestinationPolicy = {
    allowPrivateTargets: config.ALLOW_PRIVATE_TARGETS,
    allowHttpTargets: config.ALLOW_HTTP_TARGETS,
    allowedPorts: config.ALLOWED_PORTS,
    isDenied: inDenied(config.DENIED_NETWORKS ?? []),
    publicUrl: new URL(config.PUBLIC_URL ?? options.url),
    inboxPath: config.development ? inboxPath : undefined,
  };
  const dns = createDnsResolver(
    { servers: config.DNS_SERVERS, systemToo: config.ALLOW_PRIVATE_TARGETS },
    logger,
  );
  const sender = createSender({ policy, dns, egressProxy: config.EGRESS_PROXY });
  const sealer = createSealer(secrets);
  releasers.push('sender', () => Promise.resolve(sender.close()));

  return {
    config,
    logger,
    releasers,
    apiDb,
    workerDb,
    leaseDb,
    engine,
    producers: new Map([[creationQueueName, creation], ...shards]),
    notify,
    durations,
    metrics,
    tracing,
    sender,
    targets: createTargets(leaseDb, sealer),
    starts: createStarts(leaseDb, durations),
    enqueueCreation: createCreationQueue(creation, logger),
    catalogue,
    dropoffLocations: config.DROPOFF_FILE ?? defaultDropoffLocations,
    limits,
    secrets,
    sealer,
    policy,
    terminalStates,
    recorded,
    recording: (db, handOver) => ({
      db,
      allows: catalogue.allows,
      next: catalogue.next,
      terminalStates,
      leaseMs: durations.leaseMs,
      orderHoldMs: config.ORDER_HOLD,
      handOver,
      onRecorded: recorded.emit,
      tracing,
      metrics,
    }),
  };
}

const openTracing = (config: CompleteConfig, logger: Logger): Promise<Tracing> =>
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

/** PostgreSQL may come up, or be repaired, after this process starts. Migrations run only with the right key. */
const migrateOnceReachable = (
  options: OpenOptions,
  requireRightKey: () => Promise<unknown>,
): Promise<unknown> =>
  pRetry(() => requireRightKey().then(() => migrateAsConfigured(options)), {
    ...patience,
    onFailedAttempt: ({ error }) => options.onWaiting(error),
    shouldRetry: ({ error }) => !(error instanceof ConfigError),
  });

/** PostgreSQL may go away again during the start. */
const retryWhileUnreachable = <T>(options: OpenOptions, task: () => Promise<T>): Promise<T> =>
  pRetry(task, {
    ...patience,
    onFailedAttempt: ({ error }) => options.onWaiting(error),
    shouldRetry: ({ error }) => isOutOfReach(error),
  });

/** A role that owns no table waits until another one has migrated. */
function migrateAsConfigured({ config, databaseUrl, logger }: OpenOptions): Promise<string[]> {
  const { MIGRATION_DATABASE_URL: migrationUrl, REDIS_URL: redisUrl } = config;
  if (migrationUrl !== undefined)
    return migrateUnderOwnRole({ migrationUrl, databaseUrl, withQueue: redisUrl === undefined, logger });
  return migrate(databaseUrl, logger).catch((error: unknown) => {
    throw isNotPermitted(error) ? new Error(waitingForSchema) : error;
  });
}
