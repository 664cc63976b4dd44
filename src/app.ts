import type { Express } from 'express';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAccounts } from './account-wiring.js';
import { createRefusals, type Refusals } from './accounts/audit/refusals.js';
import { bearsOperatorToken, operatorsOf } from './accounts/login/operators.js';
import type { CompleteConfig } from './config/config.js';
import { notices } from './deliveries/circuit/operational-events.js';
import { forgetCircuit } from './deliveries/circuit/store.js';
import { queueNames } from './deliveries/dispatch/notify.js';
import { webhookHealth } from './deliveries/log/health.js';
import { statsRoutes } from './deliveries/stats/routes.js';
import { defaultHours, webhookStats } from './deliveries/stats/stats.js';
import { sampleShipment } from './deliveries/log/notification-docs.js';
import { deliveryRoutes } from './deliveries/log/routes.js';
import { createRedeliveryQueue } from './deliveries/on-demand/redelivery.js';
import { cancelReplay } from './deliveries/replay/cancel.js';
import { replayProgressRoutes, replayRoutes } from './deliveries/replay/routes.js';
import { onDemandRoutes } from './deliveries/on-demand/routes.js';
import { byHandLeaseMs } from './deliveries/on-demand/send-by-hand.js';
import { createTestSender } from './deliveries/on-demand/test.js';
import { dueSinceUnknown, noRoom, type HandOver } from './deliveries/outbox/hand-over.js';
import { remakeTurns } from './deliveries/outbox/turns.js';
import { cancelBacklog } from './deliveries/recovery/sweeper.js';
import { untilNoSendCanStart } from './deliveries/send/starts.js';
import { createFeed } from './events/feed/feed.js';
import { recordEvents, type NewEvent, type RecordResult } from './events/record.js';
import { renderNotification } from './events/notification.js';
import { apiDocument, notificationsDocument } from './api-document.js';
import { documentPages } from './http/document-pages.js';
import { createApp } from './http/server.js';
import type { Route } from './http/route.js';
import { erasureRoutes } from './operator/erasure-routes.js';
import { openListeners, type Listeners } from './listeners.js';
import { maintenanceRoutes } from './operator/maintenance-routes.js';
import { operatorRoutes } from './operator/routes.js';
import { readStatus } from './operator/status.js';
import { createBatcher } from './platform/batch.js';
import { describeError } from './platform/errors.js';
import { createHealth, type HealthChecks } from './http/health.js';
import type { Logger } from './platform/logger.js';
import { createMetrics } from './platform/metrics.js';
import { schemaCheck } from './platform/database/migrate.js';
import type { Database } from './platform/database/postgres.js';
import { createReleasers } from './platform/releasers.js';
import { openResources, type Resources, type Role } from './resources.js';
import { createAcceptOrder } from './shipments/accept.js';
import { createAdmission } from './shipments/admission.js';
import { createShipments } from './shipments/create.js';
import { eraseShipments } from './shipments/erasure/erase.js';
import { findingRoutes } from './shipments/finding/routes.js';
import { shipmentRoutes } from './shipments/routes.js';
import { simulationRoutes } from './shipments/simulation/routes.js';
import { createWebhookLimits, type WebhookLimits } from './webhooks/limits.js';
import { egressRoute } from './webhooks/destination/egress-route.js';
import { resealKeyCheck } from './webhooks/at-rest/key-check.js';
import { resealWebhooks } from './webhooks/at-rest/reseal.js';
import { webhookRoutes } from './webhooks/routes.js';
import { version } from './version.js';
import { startWorker, type WorkerRole } from './worker.js';

export interface App {
  url: string;
  /** Its router tells which routes there are. */
  express: Express;
  /** For what a process does besides serving, such as the greeting. */
  db: Database;
  /** Reports not ready at once; `delayMs` later drains and releases everything, last-in first-out. */
  stop(delayMs?: number): Promise<void>;
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
  let refusals: Refusals | undefined;
  const health = createHealth({
    logger,
    onReady: (ready) => metrics.ready.set(ready ? 1 : 0),
    mayReadReasons: bearsOperatorToken(operatorsOf(config), () => refusals),
  });
  try {
    const listeners = await openListeners({ config, role, logger, metrics, health, releasers });
    const { url, metricsPort } = listeners;
    const onWaiting = (reason: Error) => health.use({ postgres: () => Promise.reject(reason) });
    const opening = { config, databaseUrl, role, url, logger, metrics, releasers, onWaiting };
    const resources = await openResources(opening);
    refusals = createRefusals(resources.apiDb, logger);
    releasers.push('refusals', refusals.stop);
    const worker = role === 'api' ? null : startWorker(resources);
    if (worker) releasers.push('worker', worker.drain);
    health.use(...healthChecks(resources, worker));
    releasers.push('health', health.stop);
    const { express, endWaits } = serve(resources, role, worker, listeners, refusals);
    // Both at once: while requests finish, no new work begins.
    releasers.push('http server', () => {
      endWaits();
      return Promise.all([listeners.main.close(), worker?.drain()]);
    });
    const { engine } = resources;
    logger.info({ role, url, metricsPort, queueEngine: engine.kind, embedded: config.embedded }, 'started');
    const stop = async (delayMs = 0) => {
      health.leave();
      await sleep(delayMs);
      await releasers.releaseAll();
    };
    return { url, express, db: resources.apiDb, stop };
  } catch (error) {
    await health.stop();
    await releasers.releaseAll();
    throw error;
  }
}

/** Health pages on every role, the API on those that serve it. */
function serve(
  resources: Resources,
  role: Role,
  worker: WorkerRole | null,
  { main, url, pages, maxConnections }: Listeners,
  refusals: Refusals,
): { express: Express; endWaits(): void } {
  const { config, logger, metrics } = resources;
  const accounts = openAccounts(resources, refusals);
  const publicUrl = () => config.PUBLIC_URL ?? url;
  metrics.buildInfo.set({ version, node: process.versions.node, role, queue: resources.engine.kind }, 1);
  const handOver = worker?.handOver ?? byQueue(resources);
  const feed = createFeed({
    db: resources.apiDb,
    retentionMs: config.LOG_RETENTION,
    stillAllowed: (request) => accounts.authenticate.shipper(request, 'read'),
    maxWaiting: Math.ceil(maxConnections / 2),
    logger,
    onRefused: () => metrics.rateLimited.inc({ limit: 'feed' }),
  });
  resources.recorded.on(feed.nudge);
  metrics.onScrape(() => metrics.feedWaiting.set(feed.waiting()));
  const routes =
    role === 'worker'
      ? []
      : [...accounts.routes(handOver), ...apiRoutes(resources, worker, handOver, publicUrl), feed.route];
  const express = createApp({
    authenticate: accounts.authenticate,
    limit: accounts.limit,
    shares: accounts.shares,
    bodyBytes: accounts.bodyBytes,
    trustProxy: config.TRUST_PROXY,
    logger,
    metrics,
    routes,
    pages:
      role === 'worker'
        ? pages
        : [
            ...pages,
            accounts.passwordPage,
            documentPages(
              { api: () => apiDocument(config, routes), notifications: notificationsDocument },
              publicUrl,
            ),
          ],
  });
  main.use(express);
  return { express, endWaits: feed.endWaits };
}

/** What a role needs to be ready, and what it only reports: the API takes orders while the queue is away. */
function healthChecks({ apiDb, engine }: Resources, worker: WorkerRole | null): [HealthChecks, HealthChecks] {
  const postgres = schemaCheck(apiDb);
  return worker
    ? [{ postgres, queue: engine.check, flow: worker.checkFlow }, {}]
    : [{ postgres }, { queue: engine.check }];
}

/** What is owed goes to the workers by the queue. */
const byQueue = ({ notify }: Resources): HandOver => ({
  reserve: () => noRoom,
  recorded: (_room, _claims, left) => notify(left),
  notify,
});

/** Orders under way at once, and the deliveries of theirs that may wait for a process that sends them itself. */
const admission = { atOnce: 60, maxPressure: 25 };

function apiRoutes(
  resources: Resources,
  worker: WorkerRole | null,
  handOver: HandOver,
  publicUrl: () => string,
): Route[] {
  const { config, apiDb: db, logger, catalogue } = resources;
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
  const onLimited = (limit: string) => resources.metrics.rateLimited.inc({ limit });
  const limits = createWebhookLimits({
    limits: resources.limits,
    byHandPerWebhook: config.BY_HAND_LIMIT,
    creationsPerShipper: config.WEBHOOK_CREATION_LIMIT,
    onLimited,
  });
  const cancelling = { ...resources, db, orderHoldMs: config.ORDER_HOLD, notify: handOver.notify };
  return [
    ...webhookRoutes({
      db,
      sealed: resources.sealed,
      policy: resources.policy,
      webhooksPerShipper: config.WEBHOOKS_PER_SHIPPER,
      limits,
      knownInterests: new Set([...catalogue.names, ...notices]),
      onStopped: () => untilNoSendCanStart(resources.times),
      onDeleted: (webhookId) => cancelBacklog({ db, logger }, webhookId),
      onResuming: forgetCircuit,
      onResumed: (webhookId) => handOver.notify(dueSinceUnknown([webhookId])),
      onReordered: async (webhookId) => {
        const remake = () =>
          remakeTurns(db, webhookId, config.ORDER_HOLD).catch((error: unknown) =>
            logger.warn(
              { webhookId, error: describeError(error) },
              'turns not remade; the sweeper gives those that are due',
            ),
          );
        await remake();
        await untilNoSendCanStart(resources.times);
        await remake(); // what was being recorded meanwhile knew the ordering of before
        handOver.notify(dueSinceUnknown([webhookId]));
      },
      health: (webhookIds) => webhookHealth(db, webhookIds),
      stats: (webhookIds) => webhookStats(db, webhookIds, defaultHours),
    }),
    egressRoute(config.EGRESS_ADDRESSES ?? []),
    ...shipmentRoutes({ db, acceptOrder }),
    ...findingRoutes({ db, catalogue }),
    ...(config.SIMULATE
      ? simulationRoutes({
          db,
          catalogue,
          limits: resources.limits,
          onLimited: () => onLimited('simulation'),
          onBegun: () => worker?.simulate(),
        })
      : []),
    ...deliveryRoutes({ db }),
    ...statsRoutes({ db }),
    ...sendingByHand(resources, handOver, limits),
    ...replayRoutes({ db, retentionMs: config.LOG_RETENTION, limits }),
    ...replayProgressRoutes(cancelling),
    ...operatorRoutes({
      db,
      publicUrl,
      knownStates: catalogue.names,
      recordEvent: oneByOne.add,
      recordEvents: (events) => recordEvents(recording, events),
      status: () => readStatus({ db, engineKind: resources.engine.kind, producers: resources.producers }),
    }),
    ...erasureRoutes({
      db,
      create: (shipmentId) =>
        createShipments({ ...recording, initialState: catalogue.initial }, [shipmentId]),
      erase: (shipmentId, by) => eraseShipments({ ...resources, db }, [shipmentId], by),
    }),
    ...maintenanceRoutes({
      db,
      resealSecrets: async () => {
        const result = await resealWebhooks({ ...resources, db }, resources.secrets.prefix);
        if (result.unreadable === 0) await resealKeyCheck(db, resources.secrets);
        return result;
      },
      cancelReplay: (actor, replayId) => cancelReplay(cancelling, actor, { replayId, shipperId: null }),
      times: resources.times,
      orderHoldMs: config.ORDER_HOLD,
    }),
  ];
}

/** Tests are sent by this process, redeliveries by a worker. */
function sendingByHand(resources: Resources, handOver: HandOver, limits: WebhookLimits): Route[] {
  const { config, apiDb: db, logger, catalogue, producers, times } = resources;
  const sendTest = createTestSender({
    db,
    notify: handOver.notify,
    send: resources.sender.send,
    targets: resources.targets,
    starts: resources.starts,
    logger,
    metrics: resources.metrics,
    times,
    timeoutMs: config.DELIVERY_TIMEOUT,
    leaseMs: byHandLeaseMs(config.DELIVERY_TIMEOUT, times),
    version,
    renderSample: (state, timestampMs) => renderNotification(sampleShipment, { state }, timestampMs),
  });
  const [firstQueue] = queueNames(config.DELIVERY_SHARDS);
  return onDemandRoutes({
    db,
    sampleState: catalogue.initial,
    knownStates: catalogue.names,
    sendTest,
    enqueueRedelivery: createRedeliveryQueue(producers.get(firstQueue!)!, logger),
    limits,
  });
}
