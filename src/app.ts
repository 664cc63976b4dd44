import type { Express } from 'express';
import { createApiLimit } from './accounts/api-limit.js';
import { authenticateOperator, authenticateShipper } from './accounts/authenticate.js';
import { loginRoute } from './accounts/login.js';
import { createLoginLimits } from './accounts/login-limits.js';
import { passwordPage } from './accounts/password-page.js';
import { createTokens } from './accounts/tokens.js';
import type { CompleteConfig } from './config.js';
import { forgetCircuit } from './deliveries/circuit-store.js';
import { queueNames } from './deliveries/enqueue.js';
import { webhookHealth } from './deliveries/health.js';
import { createManualQueue } from './deliveries/manual.js';
import { manualRoutes } from './deliveries/manual-routes.js';
import { notices } from './deliveries/notice-store.js';
import { replayRoutes } from './deliveries/replay-routes.js';
import { deliveryRoutes } from './deliveries/routes.js';
import { cancelBacklog, resumeBacklog, untilNoSendCanStart } from './deliveries/stop.js';
import { createTestSender } from './deliveries/test-send.js';
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
import { unauthorized, unavailable } from './platform/errors.js';
import { createHealth, type Health, type HealthChecks } from './platform/health.js';
import type { Logger } from './platform/logger.js';
import { createMetrics, type Metrics } from './platform/metrics.js';
import { metricsPage } from './platform/metrics-page.js';
import { schemaCheck } from './platform/migrate.js';
import type { Database } from './platform/postgres.js';
import { createReleasers } from './platform/releasers.js';
import { openResources, type Resources, type Role } from './resources.js';
import { createAcceptOrder } from './shipments/accept.js';
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
    const { url, express } = await serve(resources, role, health, server, (close) =>
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
    role === 'worker' ? [] : [loginRoute(apiDb, tokens, limits.login), ...apiRoutes(resources, publicUrl)];
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

function apiRoutes(resources: Resources, publicUrl: () => string): Route[] {
  const { config, apiDb: db, logger, catalogue, deliveryQueue, enqueueCreation, recording } = resources;
  const oneByOne = createBatcher<NewEvent, RecordResult>({
    maxItems: 200,
    concurrency: 1,
    maxWaiting: 5_000,
    onFlush: (items) => resources.metrics.batchSize.observe({ batch: 'events' }, items),
    flush: (events) => recordEvents(recording(db), events),
  });
  const acceptOrder = createAcceptOrder({
    db,
    dropoffLocations: resources.dropoffLocations,
    onAccepted: enqueueCreation,
    metrics: resources.metrics,
  });
  const resealing = { db, secrets: resources.secrets, logger };
  const backlogs = { db, queue: deliveryQueue, logger, metrics: resources.metrics };
  return [
    ...webhookRoutes({
      db,
      secrets: resources.secrets,
      policy: resources.policy,
      webhooksPerShipper: config.WEBHOOKS_PER_SHIPPER,
      knownInterests: new Set([...catalogue.names, ...notices]),
      onStopped: (webhookId) => untilNoSendCanStart(backlogs, webhookId),
      onDeleted: (webhookId) => cancelBacklog(backlogs, webhookId),
      onResuming: forgetCircuit,
      onResumed: (webhookId) => resumeBacklog(backlogs, webhookId),
      health: (webhookId) => webhookHealth(db, webhookId),
    }),
    ...shipmentRoutes({ db, acceptOrder }),
    ...deliveryRoutes({ db }),
    ...sendingByHand(resources),
    ...replayRoutes({ db, retentionMs: config.LOG_RETENTION }),
    ...operatorRoutes({
      db,
      publicUrl,
      knownStates: catalogue.names,
      recordEvent: oneByOne.add,
      recordEvents: (events) => recordEvents(recording(db), events),
      status: () => readStatus({ db, engineKind: resources.engine.kind, producers: resources.producers }),
    }),
    ...maintenanceRoutes({ db, resealSecrets: () => resealSecrets(resealing) }),
  ];
}

/** Tests are sent by this process, redeliveries by a worker. */
function sendingByHand(resources: Resources): Route[] {
  const { config, apiDb: db, logger, catalogue, producers } = resources;
  const sendTest = createTestSender({
    db,
    queue: resources.deliveryQueue,
    secrets: resources.secrets,
    send: resources.sender.send,
    logger,
    metrics: resources.metrics,
    timeoutMs: config.DELIVERY_TIMEOUT,
    userAgent,
    renderSample,
  });
  const [firstQueue] = queueNames(config.DELIVERY_SHARDS);
  return manualRoutes({
    db,
    sampleState: catalogue.initial,
    knownStates: catalogue.names,
    sendTest,
    enqueueManual: createManualQueue(producers.get(firstQueue!)!, logger),
  });
}
