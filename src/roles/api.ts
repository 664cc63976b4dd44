import type { Access } from './access.js';
import { passwordPaths } from '../accounts/password-page.js';
import type { Config } from '../config/config.js';
import { createRedeliveryQueue } from '../engine/attempt/redelivery.js';
import { byHandRoutes, createTestSender } from '../catch-up/by-hand.js';
import { byHandLeaseMs } from '../engine/attempt/by-hand.js';
import { notices, forgetCircuit, forgetCircuits } from '../engine/circuit/store.js';
import { queueNames } from '../engine/schedule/notify.js';
import { notificationDocs, notificationsOptions } from '../webhooks/notification-docs.js';
import { deliveryRoutes } from '../history/log/routes.js';
import { dueSinceUnknown, noRoom, type HandOver } from '../engine/outbox/types.js';
import { reorderDeliveries } from '../engine/outbox/turns.js';
import { cancelReplay } from '../catch-up/replay/cancel-replay.js';
import { replayProgressRoutes, replayRoutes } from '../catch-up/replay/routes.js';
import { untilNoSendCanStart } from '../engine/attempt/starts.js';
import { webhookHealth, statsRoutes, defaultHours, webhookStats } from '../history/stats/routes.js';
import { cancelBacklog } from '../engine/sweep/sweeper.js';
import { renderNotification } from '../engine/record/notification.js';
import { recordEvents, type NewEvent, type RecordResult } from '../engine/record/record.js';
import { createNotificationsDocument, type AsyncApiDocument } from '../http/asyncapi.js';
import { createDocument } from '../http/openapi/document.js';
import { documentPaths, healthPaths, metricsPaths } from '../http/openapi/page-operations.js';
import type { OpenApiDocument } from '../http/openapi/types.js';
import type { Route } from '../http/route.js';
import { auditRoutes } from '../operator/audit-routes.js';
import { erasureRoutes, maintenanceRoutes } from '../operator/maintenance-routes.js';
import { eventRoutes } from '../operator/event-routes.js';
import { shipperRoutes, userRoutes } from '../operator/account-routes.js';
import { readStatus, statusRoute } from '../operator/status.js';
import { supportRoutes } from '../operator/support-routes.js';
import { webhookTopRoute } from '../operator/webhook-top.js';
import { createBatcher } from '../platform/batch.js';
import type { Database } from '../platform/database/postgres.js';
import type { Resources } from './resources.js';
import { createAcceptOrder, createAdmission } from '../shipments/accept.js';
import { createShipments } from '../shipments/create.js';
import { eraseShipments } from '../shipments/erasure/erase.js';
import { findingRoutes, shipmentRoutes } from '../shipments/routes.js';
import { simulationRoutes } from '../shipments/simulation/routes.js';
import { version } from '../platform/version.js';
import { createWebhookLimits, type WebhookLimits } from '../webhooks/limits.js';
import { egressRoute, webhookRoutes } from '../webhooks/routes.js';
import { resealKeyCheck, resealWebhooks } from '../webhooks/sealing.js';
import { deleteWebhooks, resumeWebhooks, suspendWebhooks, listWebhookIds } from '../webhooks/store.js';
import type { WorkerRole } from './worker.js';

/** Without a worker in this process, jobs of the queue notify the workers of deliveries that are due. */
const byQueue = ({ notify }: Resources): HandOver => ({
  reserve: () => noRoom,
  recorded: (_room, _claims, left) => notify(left),
  notify,
});

/** `maxPressure`: deliveries that may wait for this process, if it sends them itself. */
const admission = { atOnce: 60, maxPressure: 25 };

export function apiRoutes(
  resources: Resources,
  access: Access,
  worker: WorkerRole | null,
  publicUrl: () => string,
): Route[] {
  const handOver = worker?.handOver ?? byQueue(resources);
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
  const knownInterests = new Set([...catalogue.names, ...notices]);
  const onStopped = () => untilNoSendCanStart(resources.durations);
  const outboxDeps = { ...resources, db, orderHoldMs: config.ORDER_HOLD, notify: handOver.notify };
  return [
    ...access.loginRoutes,
    ...accountRoutes(resources, access, handOver, publicUrl),
    ...webhookRoutes({
      db,
      sealer: resources.sealer,
      policy: resources.policy,
      webhooksPerShipper: config.WEBHOOKS_PER_SHIPPER,
      limits,
      knownInterests,
      onStopped,
      onDeleted: (webhookId) => cancelBacklog({ db, logger }, webhookId),
      onResuming: forgetCircuit,
      onResumed: (webhookId) => handOver.notify(dueSinceUnknown([webhookId])),
      onReordered: (webhookId, outside) =>
        reorderDeliveries({ ...outboxDeps, onStopped: () => outside(onStopped) }, webhookId),
      health: (webhookIds) => webhookHealth(db, webhookIds),
      stats: (webhookIds) => webhookStats(db, webhookIds, defaultHours),
    }),
    egressRoute(config.EGRESS_ADDRESSES ?? []),
    ...shipmentRoutes({ db, acceptOrder, orderChecks: config.ORDER_CHECKS, tracing: resources.tracing }),
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
    ...deliveryRoutes({ db, knownStates: knownInterests }),
    ...statsRoutes({ db }),
    ...sendingByHand(resources, handOver, limits),
    ...replayRoutes({ db, retentionMs: config.LOG_RETENTION, limits }),
    ...replayProgressRoutes(outboxDeps),
    ...eventRoutes({
      knownStates: catalogue.names,
      recordEvent: oneByOne.add,
      recordEvents: (events) => recordEvents(recording, events),
      tracing: resources.tracing,
    }),
    ...supportRoutes({ db, catalogue, knownStates: knownInterests }),
    webhookTopRoute(db),
    statusRoute(() =>
      readStatus({
        db,
        engineKind: resources.engine.kind,
        producers: resources.producers,
        concurrency: config.DELIVERY_CONCURRENCY,
      }),
    ),
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
      cancelReplay: (actor, replayId) => cancelReplay(outboxDeps, actor, { replayId, shipperId: null }),
      durations: resources.durations,
      orderHoldMs: config.ORDER_HOLD,
    }),
  ];
}

function accountRoutes(
  resources: Resources,
  { onAccountChanged }: Access,
  handOver: HandOver,
  publicUrl: () => string,
): Route[] {
  const { apiDb: db, durations } = resources;
  const webhooks = {
    suspend: suspendWebhooks,
    resume: async (tx: Database, shipperId: string) => {
      await forgetCircuits(tx, shipperId);
      await resumeWebhooks(tx, shipperId);
    },
    remove: deleteWebhooks,
  };
  return [
    ...shipperRoutes({
      db,
      webhooks,
      onStopped: () => untilNoSendCanStart(durations),
      onResumed: async (shipperId) => handOver.notify(dueSinceUnknown(await listWebhookIds(db, shipperId))),
      onChanged: onAccountChanged,
    }),
    ...userRoutes({ db, publicUrl, onChanged: onAccountChanged }),
    ...auditRoutes({ db }),
  ];
}

/** Tests are sent by this process, redeliveries by a worker. */
function sendingByHand(resources: Resources, handOver: HandOver, limits: WebhookLimits): Route[] {
  const { config, apiDb: db, logger, catalogue, producers, durations } = resources;
  const sendTest = createTestSender({
    db,
    notify: handOver.notify,
    send: resources.sender.send,
    targets: resources.targets,
    starts: resources.starts,
    logger,
    metrics: resources.metrics,
    durations,
    logAttempts: config.LOG_ATTEMPTS,
    tracing: resources.tracing,
    timeoutMs: config.DELIVERY_TIMEOUT,
    leaseMs: byHandLeaseMs(config.DELIVERY_TIMEOUT, durations),
    version,
    render: renderNotification,
  });
  const [firstQueue] = queueNames(config.DELIVERY_SHARDS);
  return byHandRoutes({
    db,
    sampleState: catalogue.initial,
    knownStates: catalogue.names,
    sendTest,
    enqueueRedelivery: createRedeliveryQueue(producers.get(firstQueue!)!, logger),
    limits,
  });
}

export const apiDocument = (
  config: Pick<Config, 'METRICS_PORT' | 'PUBLIC_URL'>,
  routes: Route[],
): OpenApiDocument =>
  createDocument({
    routes,
    pages: (schemas) => ({
      ...passwordPaths(schemas),
      ...healthPaths(schemas),
      ...(config.METRICS_PORT === undefined && metricsPaths),
      ...documentPaths,
    }),
    webhooks: notificationDocs,
    serverUrl: config.PUBLIC_URL ?? '/',
  });

export const notificationsDocument = (): AsyncApiDocument =>
  createNotificationsDocument(notificationsOptions);
