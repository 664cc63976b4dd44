import type { Access } from './access.js';
import { passwordPaths } from '../accounts/password-page.js';
import { supportPaths } from '../accounts/support/sessions.js';
import { programRoutes } from '../accounts/programs/routes.js';
import { factsOf } from '../config/client-certificate.js';
import type { Config } from '../config/config.js';
import { byHandRoutes } from '../catch-up/by-hand.js';
import {
  dueSinceUnknown,
  forgetCircuit,
  forgetCircuits,
  notices,
  renewCircuit,
  type NewEvent,
  type RecordResult,
} from '../engine/engine.js';
import { notificationDocs } from '../webhooks/notification-docs.js';
import { deliveryRoutes } from '../history/log/routes.js';
import { cancelReplay } from '../catch-up/replay/cancel-replay.js';
import { replayProgressRoutes, replayRoutes } from '../catch-up/replay/routes.js';
import { webhookHealth, statsRoutes, defaultHours, webhookStats } from '../history/stats/routes.js';
import { createDocument } from '../http/openapi/document.js';
import { documentPaths, healthPaths, metricsPaths } from '../http/openapi/page-operations.js';
import type { OpenApiDocument } from '../http/openapi/schemas.js';
import type { Route } from '../http/route.js';
import { auditRoutes, erasureRoutes, maintenanceRoutes } from '../operator/maintenance-routes.js';
import { eventRoutes } from '../operator/event-routes.js';
import { handRoutes } from '../operator/hand-routes.js';
import { shipperRoutes, userRoutes } from '../operator/account-routes.js';
import { readStatus, statusRoute } from '../operator/status.js';
import { portalLinkRoute, supportRoutes } from '../operator/support-routes.js';
import { webhookTopRoute } from '../operator/webhook-top.js';
import { createBatcher } from '../platform/batch.js';
import type { Database } from '../platform/database/postgres.js';
import type { Resources } from './resources.js';
import { createAcceptOrder, createAdmission } from '../shipments/accept.js';
import { createInsertAndCreate, createShipments } from '../shipments/create.js';
import { eraseShipments } from '../shipments/erasure.js';
import { findingRoutes, shipmentRoutes } from '../shipments/routes.js';
import { simulationRoutes } from '../shipments/simulation/routes.js';
import { createWebhookLimits } from '../webhooks/limits.js';
import { confirmPaths } from '../webhooks/mails/addresses.js';
import { egressRoute, webhookRoutes } from '../webhooks/routes.js';
import { resealKeyCheck, resealWebhooks } from '../webhooks/reseal.js';
import {
  deleteWebhooks,
  findShipperOfWebhook,
  resumeWebhooks,
  suspendWebhooks,
  listWebhookIds,
} from '../webhooks/store.js';
import type { WorkerRole } from './worker.js';

const ordersAtOnce = 60;

export function apiRoutes(
  resources: Resources,
  access: Access,
  worker: WorkerRole | null,
  publicUrl: () => string,
): Route[] {
  const { config, apiDb: db, readDb, catalogue, engine } = resources;
  const oneByOne = createBatcher<NewEvent, RecordResult>({
    maxItems: 200,
    concurrency: 1,
    maxWaiting: 5_000,
    onFlush: resources.metrics.batchSize.labels('events').observe,
    flush: (events) => engine.record(db, events),
  });
  const acceptOrder = createAcceptOrder({
    db,
    dropoffLocations: resources.dropoffLocations,
    cell: config.CELL,
    insertAndCreate:
      worker &&
      createInsertAndCreate({ ...engine.recording(db), db, initialState: resources.catalogue.initial }),
    onAccepted: worker?.create ?? (({ shipmentId }) => resources.enqueueCreation(shipmentId)),
    admission: createAdmission({
      atOnce: ordersAtOnce,
      hasRoom: engine.dispatch?.figures.hasRoomForOrder ?? (() => true),
    }),
    stored: resources.stored,
    metrics: resources.metrics,
  });
  const onLimited = (limit: string) => resources.metrics.rateLimited.inc({ limit });
  const limits = createWebhookLimits({
    limits: resources.limits,
    stored: resources.stored,
    byHandPerWebhook: config.BY_HAND_LIMIT,
    creationsPerShipper: config.WEBHOOK_CREATION_LIMIT,
    onLimited,
  });
  const knownInterests = new Set([...catalogue.names, ...notices]);
  const onReleased = (webhookId: string) => engine.wake(dueSinceUnknown([webhookId]));
  const outboxDeps = { ...resources, db, orderHoldMs: config.ORDER_HOLD, notify: engine.wake };
  return [
    ...access.loginRoutes,
    ...programRoutes({
      db,
      cell: config.CELL,
      limits: resources.limits,
      hasWebhook: async (shipperId, webhookId) => (await findShipperOfWebhook(db, webhookId)) === shipperId,
      onLimited: () => onLimited('token_creation'),
      onRevoked: access.onAccountChanged,
    }),
    ...accountRoutes(resources, access, publicUrl),
    ...webhookRoutes({
      db,
      sealer: resources.sealer,
      policy: resources.policy,
      webhooksPerShipper: config.WEBHOOKS_PER_SHIPPER,
      mails: config.SMTP_URL !== undefined,
      limits,
      knownInterests,
      onStopped: engine.stop,
      onDeleted: (webhookId) => engine.cancel(db, webhookId),
      onResuming: forgetCircuit,
      onMoving: renewCircuit,
      onReleased,
      onReordered: (webhookId, outside) => engine.reorder(db, webhookId, outside),
      health: (webhookIds) => webhookHealth(db, webhookIds),
      stats: (webhookIds) => webhookStats(readDb, webhookIds, defaultHours),
    }),
    egressRoute(
      config.EGRESS_ADDRESSES ?? [],
      config.CLIENT_CERT_FILE === undefined ? null : factsOf(config.CLIENT_CERT_FILE),
    ),
    ...shipmentRoutes({
      db,
      acceptOrder,
      orderChecks: config.ORDER_CHECKS,
      itemsLimit: config.ORDER_ITEMS_LIMIT,
      recordEvent: oneByOne.add,
      tracing: resources.tracing,
    }),
    ...findingRoutes({ db, readDb, catalogue }),
    ...(config.SIMULATE
      ? simulationRoutes({
          db,
          catalogue,
          limits: resources.limits,
          onLimited: () => onLimited('simulation'),
          onBegun: () => worker?.simulate(),
        })
      : []),
    ...deliveryRoutes({ db, readDb, knownStates: knownInterests }),
    ...statsRoutes({ db, readDb }),
    ...byHandRoutes({ db, sampleState: catalogue.initial, knownStates: catalogue.names, engine, limits }),
    ...replayRoutes({ db, retentionMs: config.LOG_RETENTION, limits }),
    ...replayProgressRoutes(outboxDeps),
    ...eventRoutes({
      knownStates: catalogue.names,
      itemsLimit: config.ORDER_ITEMS_LIMIT,
      recordEvent: oneByOne.add,
      recordEvents: (events) => engine.record(db, events),
      tracing: resources.tracing,
    }),
    ...supportRoutes({ db, readDb, catalogue, knownStates: knownInterests }),
    ...handRoutes({
      db,
      engine,
      limits,
      retentionMs: config.LOG_RETENTION,
      onStopped: engine.stop,
      onResuming: forgetCircuit,
      onReleased,
    }),
    webhookTopRoute(db),
    statusRoute(() =>
      readStatus({
        db,
        engineKind: resources.queue.kind,
        producers: resources.producers,
        stored: resources.stored,
        concurrency: config.DELIVERY_CONCURRENCY,
      }),
    ),
    ...erasureRoutes({
      db,
      create: (shipmentId) =>
        createShipments({ ...engine.recording(db), initialState: catalogue.initial }, [shipmentId]),
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
      maxAttempts: config.RETRY_SCHEDULE.length + 1,
    }),
  ];
}

function accountRoutes(resources: Resources, { onAccountChanged }: Access, publicUrl: () => string): Route[] {
  const { apiDb: db, engine } = resources;
  const { CELL: cell, SMTP_URL: smtpUrl } = resources.config;
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
      cell,
      webhooks,
      onStopped: engine.stop,
      onResumed: async (shipperId) => engine.wake(dueSinceUnknown(await listWebhookIds(db, shipperId))),
      onChanged: onAccountChanged,
    }),
    portalLinkRoute(db, publicUrl, cell),
    ...userRoutes({
      db,
      publicUrl,
      cell,
      mails: smtpUrl !== undefined,
      onChanged: onAccountChanged,
    }),
    ...auditRoutes({ db }),
  ];
}

export const apiDocument = (
  config: Pick<Config, 'METRICS_PORT' | 'PUBLIC_URL'>,
  routes: Route[],
): OpenApiDocument =>
  createDocument({
    routes,
    pages: (schemas) => ({
      ...passwordPaths(schemas),
      ...confirmPaths(schemas),
      ...supportPaths(schemas),
      ...healthPaths(schemas),
      ...(config.METRICS_PORT === undefined && metricsPaths),
      ...documentPaths,
    }),
    webhooks: notificationDocs,
    serverUrl: config.PUBLIC_URL ?? '/',
  });
