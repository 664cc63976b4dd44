import pRetry from 'p-retry';
import type { CompleteConfig } from './config.js';
import { createDeliveryQueue, queueNames, type DeliveryQueue } from './deliveries/enqueue.js';
import { makeFirstPartitions } from './deliveries/partitions.js';
import { createSender, type Sender } from './deliveries/send.js';
import { sweepAfterMs } from './deliveries/timing.js';
import type { RecordDependencies } from './events/record.js';
import type { Logger } from './platform/logger.js';
import type { Metrics } from './platform/metrics.js';
import { migrate } from './platform/migrate.js';
import { createPool, type Database, type Pool } from './platform/postgres.js';
import { createQueueEngine, type Producer, type QueueEngine } from './platform/queue.js';
import { createRateLimits, type RateLimits } from './platform/rate-limit.js';
import type { createReleasers } from './platform/releasers.js';
import { defaultDropoffLocations } from './shipments/dropoff-defaults.js';
import type { DropoffLocation } from './shipments/order.js';
import { createCreationQueue, creationQueueName } from './shipments/queue.js';
import { createCatalogue, type StateCatalogue } from './shipments/states.js';
import type { DestinationPolicy } from './webhooks/destination.js';
import { createSecretBox, type SecretBox } from './webhooks/secrets.js';

export type Role = 'all' | 'api' | 'worker';
type Releasers = ReturnType<typeof createReleasers>;

/** What the roles share: connections, queues and the operator's data. */
export interface Resources {
  config: CompleteConfig;
  logger: Logger;
  releasers: Releasers;
  /** Short statements only: a request never waits long. */
  apiDb: Database;
  workerDb: Database;
  /** For claims and leases: a crash of PostgreSQL may forget one, which is a lease that ran out. */
  leaseDb: Database;
  engine: QueueEngine;
  /** Producers of the creation queue and of each delivery shard, by name. */
  producers: Map<string, Producer>;
  deliveryQueue: DeliveryQueue;
  metrics: Metrics;
  /** Sends notifications: the worker's, and the API's tests. */
  sender: Sender;
  enqueueCreation(shipmentIds: string[]): void;
  catalogue: StateCatalogue;
  dropoffLocations: DropoffLocation[];
  limits: RateLimits;
  secrets: SecretBox;
  policy: DestinationPolicy;
  /** What recording state events takes, over one of the databases. */
  recording(db: Database): RecordDependencies;
}

const apiConnections = { maxConnections: 10, statementTimeoutMs: 2_500, durable: true };
const workerConnections = { maxConnections: 8, statementTimeoutMs: 10_000, durable: true };
const leaseConnections = { maxConnections: 4, statementTimeoutMs: 10_000, durable: false };

export interface OpenOptions {
  config: CompleteConfig;
  databaseUrl: string;
  role: Role;
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
  await untilMigrated(options);

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
  await makeFirstPartitions(apiDb);

  const { REDIS_URL: redisUrl, QUEUE_PREFIX: prefix } = config;
  const engine = createQueueEngine({ redisUrl, databaseUrl, prefix, logger });
  releasers.push('queue engine', engine.close);
  await engine.prepare();
  const limits = createRateLimits(role === 'worker' ? undefined : redisUrl, prefix);
  releasers.push('rate limits', limits.close);
  const creation = engine.producer(creationQueueName);
  const shards = queueNames(config.DELIVERY_SHARDS).map((name): [string, Producer] => [
    name,
    engine.producer(name),
  ]);
  const deliveryQueue = createDeliveryQueue(
    shards.map(([, producer]) => producer),
    logger,
  );

  const policy: DestinationPolicy = {
    allowPrivateTargets: config.ALLOW_PRIVATE_TARGETS,
    allowHttpTargets: config.ALLOW_HTTP_TARGETS,
    allowedPorts: config.ALLOWED_PORTS,
  };
  const proxy = config.EGRESS_PROXY;
  const sender = createSender({ policy, ...(proxy !== undefined && { egressProxy: proxy }) });
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
    deliveryQueue,
    metrics,
    sender,
    enqueueCreation: createCreationQueue(creation, logger),
    catalogue,
    dropoffLocations: config.DROPOFF_FILE ?? defaultDropoffLocations,
    limits,
    secrets: createSecretBox(config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS),
    policy,
    recording: (db) => ({
      db,
      allows: catalogue.allows,
      terminalStates: [...catalogue.names].filter(catalogue.isTerminal),
      sweepAfterMs,
      onOwed: deliveryQueue.enqueue,
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

/** PostgreSQL may come up after us, or be put right after us. */
const untilMigrated = ({ databaseUrl, logger, onWaiting }: OpenOptions): Promise<void> =>
  pRetry(() => migrate(databaseUrl, logger), {
    retries: Infinity,
    minTimeout: 250,
    maxTimeout: 5_000,
    onFailedAttempt: ({ error }) => onWaiting(error),
  });
