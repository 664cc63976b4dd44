import type { Express } from 'express';
import { createApiLimit } from './accounts/api-limit.js';
import { authenticateOperator, authenticateShipper } from './accounts/authenticate.js';
import { loginRoute } from './accounts/login.js';
import { createLoginLimits } from './accounts/login-limits.js';
import { passwordPage } from './accounts/password-page.js';
import { createTokens } from './accounts/tokens.js';
import type { CompleteConfig } from './config.js';
import { notices } from './deliveries/circuit/operational-events.js';
import { forgetCircuit } from './deliveries/circuit/store.js';
import { queueNames } from './deliveries/dispatch/pointers.js';
import { webhookHealth } from './deliveries/log/health.js';
import { deliveryRoutes } from './deliveries/log/routes.js';
import { createRedeliveryQueue } from './deliveries/on-demand/redelivery.js';
import { replayRoutes } from './deliveries/replay/routes.js';
import { onDemandRoutes } from './deliveries/on-demand/routes.js';
import { byHandLeaseMs } from './deliveries/on-demand/send-by-hand.js';
import { createTestSender } from './deliveries/on-demand/test.js';
import { noRoom, type HandOver } from './deliveries/outbox/hand-over.js';
import { remakeTurns } from './deliveries/outbox/turns.js';
import { cancelBacklog, untilNoSendCanStart } from './deliveries/recovery/stop.js';
import { recordEvents, type NewEvent, type RecordResult } from './events/record.js';
import { renderSample } from './events/sample.js';
import { apiDocument } from './api-document.js';
import { documentPages } from './http/document-pages.js';
import { listen, type Listener } from './http/listener.js';
import { createApp } from './http/server.js';
import type { Route } from './http/route.js';
import { maintenanceRoutes } from './operator/maintenance-routes.js';
import { operatorRoutes } from './operator/routes.js';
import { readStatus } from './operator/status.js';
import { createBatcher } from './platform/batch.js';
import { describeError, unauthorized, unavailable } from './platform/errors.js';
import { createHealth, type Health, type HealthChecks } from './http/health.js';
import type { Logger } from './platform/logger.js';
import { createMetrics, type Metrics } from './platform/metrics.js';
import { metricsPage } from './http/metrics-page.js';
import { schemaCheck } from './platform/migrate.js';
import type { Database } from './platform/postgres.js';
import { createReleasers } from './platform/releasers.js';
import { openResources, type Resources, type Role } from './resources.js';
import { createAcceptOrder } from './shipments/accept.js';
import { createAdmission } from './shipments/admission.js';
import { shipmentRoutes } from './shipments/routes.js';
import { resealSecrets } from './webhooks/reseal.js';
import { webhookRoutes } from './webhooks/routes.js';
import { userAgent, version } from './version.js';
import { startWorker, type WorkerRole } from './worker.js';

export interface App {
  url: string;
  /** Its router tells which routes there are. */
  express: Express;
  /** For what a process does besides serving, such as the greeting. */
  db: Database;
  /** Drains and releases everything, last-in first-out. */
  stop(): Promise<void>;
}

/** The composition root: opens what a role needs, wires the features, answers when work can begin. */
export async function startApp(
  config: CompleteConfig,
  databaseUrl: string,
  role: Role,
  logger: Logger,
): Promise<App> {
  const releasers = createReleasers(logger);
  const metrics = createMetrics();
  const health = createHealth(logger, (ready) => metrics.ready.set(ready ? 1 : 0));
  try {
    const server = await listen(startingApp(logger, metrics, health), config.PORT, config.DELIVERY_TIMEOUT); // as long as a test
    releasers.push('http server', server.close);
    const onWaiting = (reason: Error) => health.use({ postgres: () => Promise.reject(reason) });
    const opening = { config, databaseUrl, role, logger, metrics, releasers, onWaiting };
    const resources = await openResources(opening);
    const worker = role === 'api' ? null : startWorker(resources);
    if (worker) releasers.push('worker', worker.drain);
    health.use(...healthChecks(resources, worker));
    releasers.push('health', health.stop);
    const { url, express } = await serve(resources, role, worker, health, server, (close) =>
      // Both at once: while requests finish, no new work begins.
      releasers.push('http server', () => Promise.all([close(), worker?.drain()])),
    );
    logger.info({ role, url, queueEngine: resources.engine.kind, embedded: config.embedded }, 'started');
    return { url, express, db: resources.apiDb, stop: releasers.releaseAll };
  } catch (error) {
    await health.stop();
    await releasers.releaseAll();
    throw error;
  }
}

/** What answers until everything is open: the health pages, and 503 for the rest. */
function startingApp(logger: Logger, metrics: Metrics, health: Health): Express {
  const nobody = () => Promise.reject(unauthorized());
  const starting = () => {
    throw unavailable('The service is starting.');
  };
  return createApp({
    routes: [],
    pages: [health.page, starting],
    authenticate: { shipper: nobody, operator: nobody },
    limit: () => undefined,
    trustProxy: undefined,
    logger,
    metrics,
  });
}

/** Health pages on every role, the API on those that serve it. */
async function serve(
  resources: Resources,
  role: Role,
  worker: WorkerRole | null,
  health: Health,
  server: Listener,
  onListening: (close: () => Promise<void>) => void,
): Promise<Pick<App, 'url' | 'express'>> {
  const { config, apiDb, logger, metrics } = resources;
  const tokens = createTokens(config.TOKEN_SECRET, config.TOKEN_TTL);
  const url = `http://localhost:${server.port}`;
  const publicUrl = () => config.PUBLIC_URL ?? url;
  const metricsForAll = metricsPage(metrics);
  const pages = config.METRICS_PORT === undefined ? [health.page, metricsForAll] : [health.page];
  metrics.buildInfo.set({ version, node: process.versions.node, role, queue: resources.engine.kind }, 1);
  const authenticate = {
    shipper: authenticateShipper(apiDb, tokens),
    operator: authenticateOperator(config.OPERATOR_TOKEN),
  };
  const limits = rateLimits(resources);
  const common = {
    authenticate,
    limit: limits.api,
    trustProxy: config.TRUST_PROXY,
    logger,
    metrics,
  };
  const routes =
    role === 'worker'
      ? []
      : [loginRoute(apiDb, tokens, limits.login), ...apiRoutes(resources, worker, publicUrl)];
  const express = createApp({
    ...common,
    routes,
    pages:
      role === 'worker'
        ? pages
        : [...pages, passwordPage(apiDb), documentPages(apiDocument(config, routes), publicUrl)],
  });
  server.use(express);
  onListening(server.close);
  if (config.METRICS_PORT !== undefined) {
    const own = createApp({ ...common, routes: [], pages: [metricsForAll] });
    onListening((await listen(own, config.METRICS_PORT, 0)).close);
  }
  return { url, express };
}

function rateLimits({ config, limits, metrics }: Resources) {
  const onLimited = (limit: string) => metrics.rateLimited.inc({ limit });
  return {
    api: createApiLimit(limits, config.API_RATE_LIMIT, onLimited),
    login: createLoginLimits({
      limits,
      perAccount: config.LOGIN_LIMIT_ACCOUNT,
      failuresPerIp: config.LOGIN_LIMIT_IP,
      secret: config.TOKEN_SECRET,
      onLimited,
    }),
  };
}

/** What a role needs to be ready, and what it only reports: the API takes orders while the queue is away. */
function healthChecks({ apiDb, engine }: Resources, worker: WorkerRole | null): [HealthChecks, HealthChecks] {
  const postgres = schemaCheck(apiDb);
  return worker
    ? [{ postgres, queue: engine.check, flow: worker.checkFlow }, {}]
    : [{ postgres }, { queue: engine.check }];
}

/** What is owed goes to the workers by the queue. */
const byQueue = ({ pointers }: Resources): HandOver => ({
  reserve: () => noRoom,
  owed: (_room, _claims, dueWebhooks) => pointers.point('due', dueWebhooks),
  look: (webhookIds) => pointers.point('look', webhookIds),
});

/** Orders under way at once, and the deliveries of theirs that may wait for a process that sends them itself. */
const admission = { atOnce: 60, mostPressure: 25 };

function apiRoutes(resources: Resources, worker: WorkerRole | null, publicUrl: () => string): Route[] {
  const { config, apiDb: db, logger, catalogue } = resources;
  const handOver = worker?.handOver ?? byQueue(resources);
  const recording = resources.recording(db, handOver);
  const oneByOne = createBatcher<NewEvent, RecordResult>({
    maxItems: 200,
    concurrency: 1,
    maxWaiting: 5_000,
    onFlush: (items) => resources.metrics.batchSize.observe({ batch: 'events' }, items),
    flush: (events) => recordEvents(recording, events),
  });
  const acceptOrder = createAcceptOrder({
    db,
    dropoffLocations: resources.dropoffLocations,
    onAccepted: worker?.create ?? (({ shipmentId }) => resources.enqueueCreation(shipmentId)),
    admission: createAdmission({ ...admission, pressure: worker?.pressure ?? (() => 0) }),
    metrics: resources.metrics,
  });
  const resealing = { db, secrets: resources.secrets, logger };
  return [
    ...webhookRoutes({
      db,
      secrets: resources.secrets,
      policy: resources.policy,
      webhooksPerShipper: config.WEBHOOKS_PER_SHIPPER,
      knownInterests: new Set([...catalogue.names, ...notices]),
      onStopped: () => untilNoSendCanStart(resources.times),
      onDeleted: (webhookId) => cancelBacklog({ db, logger }, webhookId),
      onResuming: forgetCircuit,
      onResumed: (webhookId) => handOver.look([webhookId]),
      onReordered: async (webhookId) => {
        await remakeTurns(db, webhookId).catch((error: unknown) =>
          logger.warn(
            { webhookId, error: describeError(error) },
            'turns not remade; the sweeper gives those that are due',
          ),
        );
        handOver.look([webhookId]);
      },
      health: (webhookId) => webhookHealth(db, webhookId),
    }),
    ...shipmentRoutes({ db, acceptOrder }),
    ...deliveryRoutes({ db }),
    ...sendingByHand(resources, handOver),
    ...replayRoutes({ db, retentionMs: config.LOG_RETENTION }),
    ...operatorRoutes({
      db,
      publicUrl,
      knownStates: catalogue.names,
      recordEvent: oneByOne.add,
      recordEvents: (events) => recordEvents(recording, events),
      status: () => readStatus({ db, engineKind: resources.engine.kind, producers: resources.producers }),
    }),
    ...maintenanceRoutes({ db, resealSecrets: () => resealSecrets(resealing) }),
  ];
}

/** Tests are sent by this process, redeliveries by a worker. */
function sendingByHand(resources: Resources, handOver: HandOver): Route[] {
  const { config, apiDb: db, logger, catalogue, producers, times } = resources;
  const sendTest = createTestSender({
    db,
    look: handOver.look,
    secrets: resources.secrets,
    send: resources.sender.send,
    targets: resources.targets,
    logger,
    metrics: resources.metrics,
    times,
    timeoutMs: config.DELIVERY_TIMEOUT,
    leaseMs: byHandLeaseMs(config.DELIVERY_TIMEOUT, times),
    userAgent,
    renderSample,
  });
  const [firstQueue] = queueNames(config.DELIVERY_SHARDS);
  return onDemandRoutes({
    db,
    sampleState: catalogue.initial,
    knownStates: catalogue.names,
    sendTest,
    enqueueRedelivery: createRedeliveryQueue(producers.get(firstQueue!)!, logger),
  });
}
