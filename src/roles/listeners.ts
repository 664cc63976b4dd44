import { Router, type Express, type Request, type RequestHandler } from 'express';
import { hasToken } from '../accounts/login/authenticate.js';
import type { CompleteConfig } from '../config/config.js';
import { directProxies } from '../http/origin.js';
import type { Dropped } from '../http/connections/connections.js';
import { listen } from '../http/connections/listener.js';
import type { Health } from '../http/health.js';
import { createApp } from '../http/server.js';
import { readOnlyRoute, unauthorized, unavailable } from '../platform/errors.js';
import { openFilesLimit } from '../platform/open-files.js';
import { openMetricsType } from '../platform/telemetry/exemplars.js';
import type { Logger } from '../platform/telemetry/logger.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import type { createReleasers, Role } from './resources.js';

export type Listeners = Awaited<ReturnType<typeof openListeners>>;

export interface ListenerDependencies {
  config: CompleteConfig;
  role: Role;
  logger: Logger;
  metrics: Metrics;
  health: Health;
  releasers: ReturnType<typeof createReleasers>;
}

/** More connections would take noticeable memory. */
const defaultMaxConnections = 5_000;
const maxMetricsConnections = 64;

/** The main listener, until `main.use` sets the app, serves health and metrics, and 503 for the rest. */
export async function openListeners(dependencies: ListenerDependencies) {
  const { config, role, logger, metrics, health, releasers } = dependencies;
  const { METRICS_TOKEN: token, METRICS_PORT: metricsPort } = config;
  const metricsRoute = metricsPage(metrics, token === undefined ? () => true : hasToken(token));
  const pages = metricsPort === undefined ? [health.page, metricsRoute] : [health.page];
  if (!config.embedded && role !== 'worker' && metricsPort === undefined && token === undefined)
    logger.warn('/metrics shares the port of the API and is open to all: set METRICS_PORT or METRICS_TOKEN');

  const onDropped = (reason: Dropped) => metrics.connectionsDropped.inc({ reason });
  const open = async (app: Express, port: number, maxConnections: number, maxPerBlock: number) => {
    const listener = await listen(app, {
      port,
      host: config.HOST,
      limits: { maxConnections, maxPerBlock, isProxy: directProxies(app), onDropped },
      maxResponseMs: config.DELIVERY_TIMEOUT, // as long as a test
      times: { idleMs: config.KEEP_ALIVE_TIMEOUT },
    });
    releasers.push('http server', listener.close);
    return listener;
  };
  const own =
    metricsPort === undefined
      ? undefined
      : await open(
          plainApp(dependencies, [health.page, metricsRoute]),
          metricsPort,
          maxMetricsConnections,
          maxMetricsConnections,
        );
  const maxConnections =
    config.MAX_CONNECTIONS ?? Math.min(defaultMaxConnections, Math.floor(openFilesLimit() / 2));
  const starting = () => {
    throw unavailable('The service is starting.');
  };
  const main = await open(
    plainApp(dependencies, [...pages, starting]),
    config.PORT,
    maxConnections,
    Math.ceil(maxConnections / 4),
  );
  metrics.connectionsLimit.set(maxConnections);
  metrics.onScrape(() => metrics.connections.set(main.connections()));
  const url = `http://${hostOf(config.HOST)}:${main.port}`;
  /** `url` is for clients on this host. `pages`: health, and metrics where they have no listener of their own. */
  return { main, url, metricsPort: own?.port, maxConnections, pages };
}

const plainApp = ({ config, logger, metrics }: ListenerDependencies, pages: RequestHandler[]): Express =>
  createApp({ pages, trustProxy: config.TRUST_PROXY, logger, metrics });

function hostOf(host: string | undefined): string {
  if (host === undefined || ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Each text takes milliseconds to make, and strangers may ask for it: beyond so many in a second, the last is shared. */
const maxTextsPerSecond = 5;

function metricsPage(metrics: Metrics, isAllowed: (request: Request) => boolean): Router {
  const make = async () => {
    const text = await metrics.text();
    return { text, open: metrics.exemplars?.openMetrics(text) };
  };
  let latest: ReturnType<typeof make>;
  let madeAt: number[] = [];
  const texts = () => {
    const now = performance.now();
    madeAt = madeAt.filter((at) => now - at < 1_000);
    if (madeAt.length < maxTextsPerSecond) {
      madeAt.push(now);
      latest = make();
    }
    return latest;
  };
  const router = Router();
  router
    .route('/metrics')
    .get(async (request, response) => {
      if (!isAllowed(request))
        throw unauthorized('Bearer', 'METRICS_TOKEN is needed: `Authorization: Bearer <token>`.');
      const { text, open } = await texts();
      const isOpen = open !== undefined && request.get('accept')?.includes('application/openmetrics-text');
      response.type(isOpen ? openMetricsType : metrics.contentType).send(isOpen ? open : text);
    })
    .all(readOnlyRoute);
  return router;
}
