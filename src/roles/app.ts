import type { Express } from 'express';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAccess } from './access.js';
import { createRefusals, type Refusals } from '../accounts/audit.js';
import { hasOperatorToken, operatorsOf } from '../accounts/login/authenticate.js';
import { apiDocument, apiRoutes } from './api.js';
import { startGauges } from './background.js';
import type { CompleteConfig } from '../config/config.js';
import { createFeed } from '../feed/routes.js';
import { documentPages, portalPages } from '../http/pages.js';
import { createHealth, type HealthChecks } from '../http/health.js';
import { createApp } from '../http/server.js';
import { createInbox } from '../inbox/inbox.js';
import { openListeners, type Listeners } from './listeners.js';
import { clockCheck, registerProcess } from '../observe/processes.js';
import { watchInfrastructure, type InfrastructureDependencies } from '../observe/infrastructure.js';
import { schemaCheck } from '../platform/database/migrate.js';
import type { Database } from '../platform/database/postgres.js';
import type { Logger } from '../platform/telemetry/logger.js';
import { createMetrics } from '../platform/telemetry/metrics.js';
import { createReleasers, openResources, openTracing, type Resources, type Role } from './resources.js';
import { buildInfo, version } from '../platform/version.js';
import { startWorker, type WorkerRole } from './worker.js';

export interface App {
  url: string;
  express: Express;
  db: Database;
  /** Reports not ready at once. `delayMs` later it drains and releases everything, last in, first out. */
  stop(delayMs?: number): Promise<void>;
}

export async function startApp(
  config: CompleteConfig,
  databaseUrl: string,
  role: Role,
  logger: Logger,
): Promise<App> {
  const releasers = createReleasers(logger);
  const tracing = await openTracing(config, logger);
  releasers.push('tracing', tracing.stop); // first, so released last
  const metrics = createMetrics(tracing);
  let refusals: Refusals | undefined;
  const health = createHealth({
    logger,
    metrics,
    role,
    mayReadReasons: hasOperatorToken(operatorsOf(config), () => refusals),
  });
  try {
    const listeners = await openListeners({ config, role, logger, metrics, health, releasers });
    const { url, metricsPort } = listeners;
    const onWaiting = (check: 'postgres' | 'queue', reason: Error) =>
      health.use({ [check]: () => Promise.reject(reason) });
    const opening = { config, databaseUrl, role, url, logger, metrics, tracing, releasers, onWaiting };
    const resources = await openResources(opening);
    refusals = createRefusals(resources.apiDb, logger);
    releasers.push('refusals', refusals.stop);
    const { dispatch } = resources.engine;
    const worker = dispatch && startWorker(resources, dispatch);
    if (worker) releasers.push('worker', worker.drain);
    releasers.push('gauges', startGauges(resources, worker !== null).stop);
    health.use(...healthChecks(resources, worker, role));
    releasers.push('health', health.stop);
    releasers.push('process', registerProcess(resources.workerDb, role, resources).stop);
    releasers.push(
      'infrastructure',
      watchInfrastructure(infrastructure(resources), worker !== null, resources).stop,
    );
    const { express, endWaits } = serve(resources, role, worker, listeners, refusals);
    // Concurrently: no new work begins while requests finish.
    releasers.push('http server', () => {
      endWaits();
      return Promise.all([listeners.main.close(), worker?.drain()]);
    });
    logger.info(
      { ...buildInfo, url, metricsPort, queueEngine: resources.queue.kind, embedded: config.embedded },
      'started',
    );
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

const infrastructure = ({
  apiDb: db,
  queue: engine,
  metrics,
  config,
}: Resources): InfrastructureDependencies => ({
  db,
  engine,
  metrics,
  sizeLimitBytes: config.DATABASE_SIZE_LIMIT,
  retentionMs: {
    log: config.LOG_RETENTION,
    audit: config.AUDIT_RETENTION,
    shipments: config.SHIPMENT_RETENTION,
  },
});

/** Health pages on every role, the API on those that serve it. */
function serve(
  resources: Resources,
  role: Role,
  worker: WorkerRole | null,
  { main, url, pages, maxConnections }: Listeners,
  refusals: Refusals,
): { express: Express; endWaits(): void } {
  const { config, logger, metrics } = resources;
  const access = openAccess(resources, refusals);
  const publicUrl = () => config.PUBLIC_URL ?? url;
  const build = { version, commit: buildInfo.commit ?? 'unknown', node: process.versions.node };
  metrics.buildInfo.set({ ...build, role, queue: resources.queue.kind }, 1);
  const feed = createFeed({
    db: resources.apiDb,
    retentionMs: config.LOG_RETENTION,
    stillAllowed: (request) => access.authenticate.shipper(request),
    maxWaiting: Math.ceil(maxConnections / 2),
    logger,
    onRefused: () => metrics.rateLimited.inc({ limit: 'feed' }),
  });
  resources.onRecorded.push(feed.nudge);
  metrics.onScrape(() => metrics.feedWaiting.set(feed.waiting()));
  const inbox =
    config.development && role !== 'worker'
      ? createInbox({ ...resources, ...access, db: resources.apiDb, host: config.HOST!, port: main.port })
      : undefined;
  const routes =
    role === 'worker'
      ? []
      : [...apiRoutes(resources, access, worker, publicUrl), feed.route, ...(inbox?.routes ?? [])];
  const express = createApp({
    api: role === 'worker' ? undefined : { ...access, routes },
    trustProxy: config.TRUST_PROXY,
    logger,
    metrics,
    inbox: inbox?.receiver,
    pages:
      role === 'worker'
        ? pages
        : [
            ...pages,
            ...access.linkPages,
            documentPages(() => apiDocument(config, routes), publicUrl),
            portalPages({
              inbox: inbox !== undefined,
              greeting: config.embedded,
              email: config.SMTP_URL !== undefined,
              attempts: config.RETRY_SCHEDULE.length + 1,
            }),
          ],
  });
  main.use(express);
  const endWaits = () => {
    feed.endWaits();
    inbox?.endHolds();
  };
  return { express, endWaits };
}

/** First the checks that decide readiness, then those only reported: the API takes orders while the queue is down. */
function healthChecks(
  { apiDb, queue, metrics }: Resources,
  worker: WorkerRole | null,
  role: Role,
): [HealthChecks, HealthChecks] {
  const always = { postgres: schemaCheck(apiDb), clock: clockCheck(apiDb, metrics, role) };
  return worker
    ? [{ ...always, queue: queue.check, flow: worker.checkFlow, orders: worker.checkOrders }, {}]
    : [always, { queue: queue.check }];
}
