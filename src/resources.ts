import pRetry from 'p-retry';
import type { CompleteConfig } from './config/config.js';
import { createNotify, queueNames, type Notify } from './deliveries/dispatch/notify.js';
import { makeFirstPartitions } from './deliveries/retention/partitions.js';
import type { HandOver } from './deliveries/outbox/hand-over.js';
import { createStarts, type Starts } from './deliveries/send/starts.js';
import { createTargets, type Targets } from './deliveries/send/targets.js';
import { timesOf, type Times } from './deliveries/times.js';
import { createNames } from './deliveries/send/names/names.js';
import { createSender, type Sender } from './deliveries/send/sender.js';
import { lookAtFeed } from './events/feed/look-store.js';
import type { RecordDependencies } from './events/record.js';
import type { Logger } from './platform/logger.js';
import type { Metrics } from './platform/metrics.js';
import { migrate, waitsForSchema } from './platform/database/migrate.js';
import { ConfigError, describeError } from './platform/errors.js';
import { migrateUnderOwnRole } from './platform/database/migration-role.js';
import {
  createPool,
  isNotPermitted,
  isOutOfReach,
  type Database,
  type Pool,
} from './platform/database/postgres.js';
import { createQueueEngine, type Producer, type QueueEngine } from './platform/queue/engine.js';
import { createRateLimits, type RateLimits } from './platform/limits/rate-limit.js';
import type { createReleasers } from './platform/releasers.js';
import { createSignal, type Signal } from './platform/signal.js';
import { defaultDropoffLocations } from './shipments/dropoff-defaults.js';
import type { DropoffLocation } from './shipments/order.js';
import { createCreationQueue, creationQueueName } from './shipments/queue.js';
import { createCatalogue, type StateCatalogue } from './shipments/states.js';
import { atRest, type AtRest } from './webhooks/at-rest/at-rest.js';
import { inDenied, type DestinationPolicy } from './webhooks/destination/destination.js';
import { requireKey, sealKeyCheck } from './webhooks/at-rest/key-check.js';
import { createSecretBox, type SecretBox } from './webhooks/at-rest/secrets.js';

export type Role = 'all' | 'api' | 'worker';
type Releasers = ReturnType<typeof createReleasers>;

/** What the roles share: connections, queues and the operator's data. */
export interface Resources {
  config: CompleteConfig;
  logger: Logger;
  releasers: Releasers;
  /** Short statements only: a request never waits long. */
  apiDb: Database;
  workerDb: Pool;
  /** For claims and leases: a crash of PostgreSQL may forget one, which is a lease that ran out. */
  leaseDb: Database;
  engine: QueueEngine;
  /** Producers of the creation queue and of each delivery shard, by name. */
  producers: Map<string, Producer>;
  /** Tells other processes what is due. */
  notify: Notify;
  times: Times;
  metrics: Metrics;
  /** Sends notifications: the worker's, and the API's tests. */
  sender: Sender;
  targets: Targets;
  starts: Starts;
  enqueueCreation(shipmentId: string): Promise<void>;
  catalogue: StateCatalogue;
  dropoffLocations: DropoffLocation[];
  limits: RateLimits;
  secrets: SecretBox;
  /** What webhooks keep sealed. */
  sealed: AtRest;
  policy: DestinationPolicy;
  /** What recording state events takes, over one of the databases. */
  recording(db: Database, handOver: HandOver): RecordDependencies;
  /** Whose events this process has recorded, after each commit. */
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
  /** Where this process is reached if nothing else is configured. */
  url: string;
  logger: Logger;
  metrics: Metrics;
  releasers: Releasers;
  /** Told why PostgreSQL cannot be used yet, again and again until it can. */
  onWaiting(reason: Error): void;
}

/** Opens everything a role needs; each resource pushes how it is released. Waits for PostgreSQL as long as it takes. */
export async function openResources(options: OpenOptions): Promise<Resources> {
  const { config, databaseUrl, role, logger, metrics, releasers } = options;
  const catalogue = config.STATES_FILE ?? createCatalogue();
  const openPool = (name: string, limits: typeof apiConnections): Pool => {
    const applicationName = `parcelhook-${name}`;
    const pool = createPool({ connectionString: databaseUrl, applicationName, logger, ...limits });
    releasers.push(`${name} pool`, pool.end);
    watchPool(metrics, name, limits.maxConnections, pool);
    return pool;
  };
  const apiDb = openPool('api', apiConnections);
  const workerDb = role === 'api' ? apiDb : openPool('worker', workerConnections);
  const leaseDb = role === 'api' ? apiDb : openPool('lease', leaseConnections);
  const secrets = createSecretBox(config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS);
  await untilMigrated(options, () => requireKey(apiDb, secrets));
  await untilReached(options, () => sealKeyCheck(apiDb, secrets));
  await untilReached(options, () => makeFirstPartitions(apiDb));
  // Whoever reads the feed looks again: what keeps it from being renewed now must not keep deliveries waiting.
  const feed = await apiDb.transaction(lookAtFeed).catch((error: unknown) => {
    logger.warn({ error: describeError(error) }, 'feed not looked at; its readers will');
    return null;
  });
  if (feed?.isRenewed)
    logger.warn('the database was restored or replaced by a standby: cursors of the feed are void');
  const recorded = createSignal<Set<string>>();

  const { REDIS_URL: redisUrl, QUEUE_PREFIX: prefix } = config;
  const engine = createQueueEngine({ redisUrl, databaseUrl, prefix, logger });
  releasers.push('queue engine', engine.close);
  await untilReached(options, engine.prepare);
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
  const times = timesOf(config.TIME_SCALE);
  const terminalStates = [...catalogue.names].filter(catalogue.isTerminal);

  const policy: DestinationPolicy = {
    allowPrivateTargets: config.ALLOW_PRIVATE_TARGETS,
    allowHttpTargets: config.ALLOW_HTTP_TARGETS,
    allowedPorts: config.ALLOWED_PORTS,
    isDenied: inDenied(config.DENIED_NETWORKS ?? []),
    publicUrl: new URL(config.PUBLIC_URL ?? options.url),
  };
  const names = createNames({ servers: config.DNS_SERVERS, systemToo: config.ALLOW_PRIVATE_TARGETS }, logger);
  const sender = createSender({ policy, names, egressProxy: config.EGRESS_PROXY });
  const sealed = atRest(secrets);
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
    times,
    metrics,
    sender,
    targets: createTargets(leaseDb, sealed),
    starts: createStarts(leaseDb, times),
    enqueueCreation: createCreationQueue(creation, logger),
    catalogue,
    dropoffLocations: config.DROPOFF_FILE ?? defaultDropoffLocations,
    limits,
    secrets,
    sealed,
    policy,
    terminalStates,
    recorded,
    recording: (db, handOver) => ({
      db,
      allows: catalogue.allows,
      next: catalogue.next,
      terminalStates,
      leaseMs: times.leaseMs,
      orderHoldMs: config.ORDER_HOLD,
      handOver,
      onRecorded: recorded.emit,
      metrics,
    }),
  };
}

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

/**
 * PostgreSQL may come up, or be repaired, after this process starts. Without the right key not even migrations are run.
 */
const untilMigrated = (options: OpenOptions, hasKey: () => Promise<unknown>): Promise<unknown> =>
  pRetry(() => hasKey().then(() => migrateAsConfigured(options)), {
    ...patience,
    onFailedAttempt: ({ error }) => options.onWaiting(error),
    shouldRetry: ({ error }) => !(error instanceof ConfigError),
  });

/** It may go away again while we start. */
const untilReached = <T>(options: OpenOptions, task: () => Promise<T>): Promise<T> =>
  pRetry(task, {
    ...patience,
    onFailedAttempt: ({ error }) => options.onWaiting(error),
    shouldRetry: ({ error }) => isOutOfReach(error),
  });

/** A role that owns no table waits for one that does. */
function migrateAsConfigured({ config, databaseUrl, logger }: OpenOptions): Promise<string[]> {
  const { MIGRATION_DATABASE_URL: migrationUrl, REDIS_URL: redisUrl } = config;
  if (migrationUrl !== undefined)
    return migrateUnderOwnRole({ migrationUrl, databaseUrl, withQueue: redisUrl === undefined, logger });
  return migrate(databaseUrl, logger).catch((error: unknown) => {
    throw isNotPermitted(error) ? new Error(waitsForSchema) : error;
  });
}
