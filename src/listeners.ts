import { Router, type Express, type Request, type RequestHandler } from 'express';
import { readFileSync } from 'node:fs';
import { bears } from './accounts/login/authenticate.js';
import type { CompleteConfig } from './config/config.js';
import type { Health } from './http/health.js';
import { listen, type Listener } from './http/connections/listener.js';
import type { Shares } from './http/connections/shares.js';
import { directProxies } from './http/connections/network.js';
import { createApp } from './http/server.js';
import { onlyRead, unauthorized, unavailable } from './platform/errors.js';
import type { Logger } from './platform/logger.js';
import type { Metrics } from './platform/metrics.js';
import type { createReleasers } from './platform/releasers.js';
import type { Role } from './resources.js';

export interface Listeners {
  /** Of the API, or of what a worker tells of its health. */
  main: Listener;
  /** As seen from this machine. */
  url: string;
  metricsPort: number | undefined;
  /** That it takes at once. */
  maxConnections: number;
  /** Health, and metrics where they have no listener of their own. */
  pages: RequestHandler[];
}

export interface ListenerDependencies {
  config: CompleteConfig;
  role: Role;
  logger: Logger;
  metrics: Metrics;
  health: Health;
  releasers: ReturnType<typeof createReleasers>;
}

/** With more of them, what each keeps would be felt in the memory. */
const maxConnections = 5_000;
/** Enough for whoever watches the service. */
const maxOfMetrics = 64;

/** Listens from the start: health, metrics, and 503 for the rest until `main.use` has another app answer. */
export async function openListeners(dependencies: ListenerDependencies): Promise<Listeners> {
  const { config, role, logger, metrics, health, releasers } = dependencies;
  const { METRICS_TOKEN: token, METRICS_PORT: metricsPort } = config;
  const metricsForAll = metricsPage(metrics, token === undefined ? () => true : bears(token));
  const pages = metricsPort === undefined ? [health.page, metricsForAll] : [health.page];
  if (!config.embedded && role !== 'worker' && metricsPort === undefined && token === undefined)
    logger.warn('/metrics shares the port of the API and is open to all: set METRICS_PORT or METRICS_TOKEN');

  const onDropped = (reason: 'refused' | 'displaced' | 'overfull') =>
    metrics.connectionsDropped.inc({ reason });
  const open = async (app: Express, port: number, most: number, maxOfBlock: number) => {
    const listener = await listen(app, {
      port,
      host: config.HOST,
      limits: { most, maxOfBlock, isProxy: directProxies(app), onDropped },
      longestAnswerMs: config.DELIVERY_TIMEOUT, // as long as a test
    });
    releasers.push('http server', listener.close);
    return listener;
  };
  const own =
    metricsPort === undefined
      ? undefined
      : await open(
          plainApp(dependencies, [health.page, metricsForAll]),
          metricsPort,
          maxOfMetrics,
          maxOfMetrics,
        );
  const most = config.MAX_CONNECTIONS ?? Math.min(maxConnections, Math.floor(openFilesLimit() / 2));
  const starting = () => {
    throw unavailable('The service is starting.');
  };
  const main = await open(
    plainApp(dependencies, [...pages, starting]),
    config.PORT,
    most,
    Math.ceil(most / 4),
  );
  metrics.connectionsLimit.set(most);
  metrics.onScrape(() => metrics.connections.set(main.connections()));
  const url = `http://${hostOf(config.HOST)}:${main.port}`;
  return { main, url, metricsPort: own?.port, maxConnections: most, pages };
}

/** An app without the API. */
function plainApp({ config, logger, metrics }: ListenerDependencies, pages: RequestHandler[]): Express {
  const nobody = () => Promise.reject(unauthorized());
  const boundless: Shares = {
    begin: () => undefined,
    inTurn: (_shipperId, _response, work) => work(),
  };
  return createApp({
    routes: [],
    pages,
    authenticate: { shipper: nobody, operator: nobody },
    limit: () => undefined,
    shares: { usual: boundless, dear: boundless },
    bodyBytes: () => () => undefined,
    trustProxy: config.TRUST_PROXY,
    logger,
    metrics,
  });
}

/** In a URL that this machine can use. */
function hostOf(host: string | undefined): string {
  if (host === undefined || ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** `/metrics` for Prometheus. */
function metricsPage(metrics: Metrics, isAllowed: (request: Request) => boolean): Router {
  const router = Router();
  router
    .route('/metrics')
    .get(async (request, response) => {
      if (!isAllowed(request)) throw unauthorized();
      response.type(metrics.contentType).send(await metrics.text());
    })
    .all(onlyRead);
  return router;
}

const usualLimit = 1_024;

/** How many files and connections this process may have open (`ulimit -n`); where no `/proc` tells, the least usual. */
function openFilesLimit(): number {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === 'unlimited' ? Infinity : Number(limit ?? usualLimit);
  } catch {
    return usualLimit;
  }
}
