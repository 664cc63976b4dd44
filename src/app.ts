import pRetry from 'p-retry';
import { authenticateOperator, authenticateShipper } from './accounts/authenticate.js';
import { loginRoute } from './accounts/login.js';
import { passwordPage } from './accounts/password-page.js';
import { createTokens } from './accounts/tokens.js';
import { ConfigError, type CompleteConfig } from './config.js';
import { createDeliveryQueue, queueNames } from './deliveries/enqueue.js';
import { makeLogPartitions } from './deliveries/partitions.js';
import { deliveryRoutes } from './deliveries/routes.js';
import { createSender } from './deliveries/send.js';
import { cancelBacklog, resumeBacklog, untilNoSendCanStart } from './deliveries/stop.js';
import { sweepAfterMs } from './deliveries/timing.js';
import { recordEvents, type NewEvent, type RecordDependencies, type RecordResult } from './events/record.js';
import { createApp, listen } from './http/server.js';
import { operatorRoutes } from './operator/routes.js';
import { readStatus } from './operator/status.js';
import { createBatcher } from './platform/batch.js';
import { describeError } from './platform/errors.js';
import { healthPages } from './platform/health.js';
import type { Logger } from './platform/logger.js';
import { migrate } from './platform/migrate.js';
import { createPool, type Database } from './platform/postgres.js';
import { createQueueEngine } from './platform/queue.js';
import { createReleasers } from './platform/releasers.js';
import { createAcceptOrder } from './shipments/accept.js';
import { loadDropoffLocations } from './shipments/dropoff.js';
import { createCreationQueue, creationQueueName } from './shipments/queue.js';
import { shipmentRoutes } from './shipments/routes.js';
import { loadCatalogue } from './shipments/states.js';
import { startWorker, type WorkerRole } from './worker.js';
import { webhookRoutes } from './webhooks/routes.js';
import { createSecretBox } from './webhooks/secrets.js';

export type Role = 'all' | 'api' | 'worker';

export interface App {
  url: string;
  /** For what a process does besides serving, such as the greeting. */
  db: Database;
  /** Drains and releases everything, last-in first-out. */
  stop(): Promise<void>;
}

/** The composition root: opens every resource of a role, wires the features, answers when work can begin. */
export async function startApp(
  config: CompleteConfig,
  databaseUrl: string,
  role: Role,
  logger: Logger,
): Promise<App> {
  const releasers = createReleasers(logger);
  try {
    return await compose(config, databaseUrl, role, logger, releasers);
  } catch (error) {
    await releasers.releaseAll();
    throw error;
  }
}

async function compose(
  config: CompleteConfig,
  databaseUrl: string,
  role: Role,
  logger: Logger,
  releasers: ReturnType<typeof createReleasers>,
): Promise<App> {
  const catalogue = readSetting('STATES_FILE', () => loadCatalogue(config.STATES_FILE));
  const dropoffLocations = readSetting('DROPOFF_FILE', () => loadDropoffLocations(config.DROPOFF_FILE));
  await pRetry(() => migrate(databaseUrl, logger), {
    retries: 8,
    minTimeout: 250,
    onFailedAttempt: ({ error }) => logger.warn({ error: describeError(error) }, 'PostgreSQL is not ready'),
  });

  const openPool = (name: string, maxConnections: number, statementTimeoutMs: number) => {
    const options = { connectionString: databaseUrl, applicationName: `parcelhook-${name}`, logger };
    const pool = createPool({ ...options, maxConnections, statementTimeoutMs });
    releasers.push(`${name} pool`, () => pool.end());
    return pool;
  };
  const apiDb = openPool('api', 10, 2_500);
  const workerDb = role === 'api' ? apiDb : openPool('worker', 8, 10_000);
  await makeLogPartitions(apiDb);

  const engine = createQueueEngine({
    redisUrl: config.REDIS_URL,
    databaseUrl,
    prefix: config.QUEUE_PREFIX,
    logger,
  });
  releasers.push('queue engine', () => engine.close());
  await engine.prepare();
  const shardNames = queueNames(config.DELIVERY_SHARDS);
  const producers = new Map([creationQueueName, ...shardNames].map((name) => [name, engine.producer(name)]));
  const deliveryQueue = createDeliveryQueue(
    shardNames.map((name) => producers.get(name)!),
    logger,
  );
  const enqueueCreation = createCreationQueue(producers.get(creationQueueName)!, logger);

  const secrets = createSecretBox(config.SECRETS_KEY);
  const policy = {
    allowPrivateTargets: config.ALLOW_PRIVATE_TARGETS,
    allowHttpTargets: config.ALLOW_HTTP_TARGETS,
    allowedPorts: config.ALLOWED_PORTS,
  };
  const recording = (db: Database): RecordDependencies => ({
    db,
    allows: catalogue.allows,
    sweepAfterMs,
    onOwed: (due) => deliveryQueue.enqueue(due),
  });

  let worker: WorkerRole | undefined;
  if (role !== 'api') {
    const sender = createSender({ policy, ...(config.EGRESS_PROXY && { egressProxy: config.EGRESS_PROXY }) });
    releasers.push('sender', () => Promise.resolve(sender.close()));
    worker = startWorker({
      config,
      db: workerDb,
      logger,
      engine,
      producers,
      deliveryQueue,
      enqueueCreation,
      recordDependencies: recording(workerDb),
      initialState: catalogue.initial,
      secrets,
      sender,
    });
    releasers.push('worker', worker.drain);
  }

  const checkPostgres = async () => void (await apiDb.query('ping', 'select 1'));
  const health = worker
    ? healthPages({ postgres: checkPostgres, queue: engine.check, flow: worker.checkFlow }, {})
    : healthPages({ postgres: checkPostgres }, { queue: engine.check });

  let url = '';
  const publicUrl = () => config.PUBLIC_URL ?? url;
  const tokens = createTokens(config.TOKEN_SECRET, config.TOKEN_TTL);
  const eventBatcher = createBatcher<NewEvent, RecordResult>({
    maxItems: 200,
    concurrency: 1,
    maxWaiting: 5_000,
    flush: (events) => recordEvents(recording(apiDb), events),
  });
  const sweeping = { db: apiDb, queue: deliveryQueue, logger };
  const apiRoutes = () => [
    loginRoute(apiDb, tokens),
    ...webhookRoutes({
      db: apiDb,
      secrets,
      policy,
      webhooksPerShipper: config.WEBHOOKS_PER_SHIPPER,
      knownInterests: catalogue.names,
      onStopped: (webhookId) => untilNoSendCanStart(apiDb, webhookId),
      onDeleted: (webhookId) => cancelBacklog(sweeping, webhookId),
      onResumed: (webhookId) => resumeBacklog(sweeping, webhookId),
    }),
    ...shipmentRoutes({
      db: apiDb,
      acceptOrder: createAcceptOrder({ db: apiDb, dropoffLocations, onAccepted: enqueueCreation }),
    }),
    ...deliveryRoutes({ db: apiDb }),
    ...operatorRoutes({
      db: apiDb,
      publicUrl,
      knownStates: catalogue.names,
      recordEvent: (event) => eventBatcher.add(event),
      recordEvents: (events) => recordEvents(recording(apiDb), events),
      status: () => readStatus({ db: apiDb, engineKind: engine.kind, producers }),
    }),
  ];

  const http = createApp({
    routes: role === 'worker' ? [] : apiRoutes(),
    pages: role === 'worker' ? [health] : [health, passwordPage(apiDb)],
    authenticate: {
      shipper: authenticateShipper(apiDb, tokens),
      operator: authenticateOperator(config.OPERATOR_TOKEN),
    },
    logger,
  });
  const server = await listen(http, config.PORT);
  releasers.push('http server', server.close);
  url = `http://localhost:${server.port}`;
  logger.info({ role, url, queueEngine: engine.kind, embedded: config.embedded }, 'started');
  return { url, db: apiDb, stop: releasers.releaseAll };
}

/** A data file that cannot be used is a wrong setting. */
function readSetting<T>(variable: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError(`The configuration is not valid:\n  ${variable}: ${describeError(error)}`);
  }
}
