import type { RequestHandler, Response } from 'express';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { arrivedAt } from '../connections/intake.js';
import type { Caller, Route } from '../route.js';

interface Ended {
  requestId: string;
  route: string | null;
  status: number;
  isSlowByDesign: boolean;
  caller?: Caller | undefined;
  error?: string | undefined;
  traceId?: string | undefined;
  /** The shipment of an order. */
  trackingId?: string | undefined;
  isAborted: boolean;
}

const probes = ['/healthz', '/readyz', '/metrics'];

/** Load balancers and Prometheus ask several times a minute; what they find out is in metrics, and logged as it changes. */
const isProbe = ({ originalUrl, url = '' }: IncomingMessage & { originalUrl?: string }) =>
  probes.includes((originalUrl ?? url).replace(/\?.*$/s, ''));

/** An open page of the portal asks every few seconds. Its session has no Authorization header. */
const isReadByPortal = ({ method, headers }: IncomingMessage, caller: Caller | undefined) =>
  method === 'GET' && caller !== undefined && headers.authorization === undefined;

/** nginx's status for a client that closed the connection before its response. */
const clientGone = 499;

/** Log lines a second for requests that were refused, and for others that no account has made: pages, mostly. */
const linesPerSecond = { refused: 10, unknown: 100 };

/** Anyone may make any number of them: beyond the limit they are one line, a second later, with their number by status. */
function createLineLimit(logger: Logger, maxLines: number, message: string): (status: number) => boolean {
  let lines = 0;
  let countedFrom = -Infinity;
  let statuses: Record<number, number> | null = null;
  const writeCount = () => {
    const count = Object.values(statuses!).reduce((sum, n) => sum + n, 0);
    logger.info({ count, statuses }, message);
    statuses = null;
  };
  return (status) => {
    const now = performance.now();
    if (now - countedFrom >= 1_000) {
      countedFrom = now;
      lines = 0;
    }
    lines += 1;
    if (lines <= maxLines) return true;
    if (!statuses) {
      statuses = {};
      setTimeout(writeCount, 1_000).unref();
    }
    statuses[status] = (statuses[status] ?? 0) + 1;
    return false;
  };
}

type CountedMetrics = Pick<Metrics, 'httpRequests' | 'httpDuration' | 'httpSlowByDesign' | 'exemplars'>;

/** One log line per request, without its query, and its metrics. */
export function watchRequests(logger: Logger, metrics: CountedMetrics, routes: Route[]) {
  const count = createRequestCounter(metrics, routes);
  const findRoute = routeFinder(routes);
  const mayLog = {
    refused: createLineLimit(logger, linesPerSecond.refused, 'more requests refused'),
    unknown: createLineLimit(logger, linesPerSecond.unknown, 'more requests without an account'),
  };
  const end = (request: IncomingMessage, startedAt: number, ended: Ended, timing: Timing = {}) => {
    const { requestId, route, status, isSlowByDesign, caller, error, traceId, trackingId, isAborted } = ended;
    const { method = '' } = request;
    const now = performance.now();
    const untilMs = timing.answeredAtMs ?? timing.readingSinceMs ?? now;
    const clientsMs = (timing.readMs ?? 0) + (timing.heldMs?.() ?? 0);
    const workedMs = Math.max(0, untilMs - startedAt - clientsMs);
    const durationMs = now - startedAt;
    count({ route, method, status, workedMs, isSlowByDesign, traceId });
    const isQuiet = isProbe(request) || (status < 400 && isReadByPortal(request, caller));
    const level = isQuiet ? 'debug' : status >= 500 ? 'warn' : 'info';
    const kind = status >= 400 ? 'refused' : 'unknown';
    if (level !== 'debug' && (status >= 400 || !caller) && !mayLog[kind](status)) return;
    logger[level](
      {
        requestId,
        method,
        route,
        status,
        durationMs: Math.round(durationMs),
        ...(caller?.shipperId && { shipperId: caller.shipperId }),
        ...(trackingId && { trackingId }),
        ...(traceId && { traceId }),
        ...(error && { error }),
        ...(isAborted && { aborted: true }),
      },
      'request',
    );
  };

  return {
    /** Gives every response an X-Request-Id (the caller's own if well-formed), and logs and counts it when it ends. */
    watch: ((request, response, next) => {
      const requestId = requestIdOf(request);
      response.locals.requestId = requestId;
      response.set('X-Request-Id', requestId);
      const startedAt = arrivedAt(request);
      response.once('close', () => {
        const { caller, error, traceId, trackingId, slowByDesign, timing } = response.locals as Locals;
        const ended: Ended = {
          requestId,
          route: (request.route as { path?: string } | undefined)?.path ?? null,
          status: statusOf(response),
          isSlowByDesign: slowByDesign === true,
          caller,
          error,
          traceId,
          trackingId,
          isAborted: !response.writableFinished,
        };
        end(request, startedAt, ended, timing);
      });
      next();
    }) satisfies RequestHandler,
    /** Logs and counts a request whose client gave up before the app was given it. */
    onGivenUp: (request: IncomingMessage) => {
      const route = findRoute(request);
      end(request, arrivedAt(request), {
        requestId: requestIdOf(request),
        route: route?.path ?? null,
        status: clientGone,
        isSlowByDesign: route?.slowByDesign === true,
        isAborted: true,
      });
    },
  };
}

interface Locals {
  caller?: Caller;
  error?: string;
  traceId?: string;
  trackingId?: string;
  slowByDesign?: true;
  timing?: Timing;
}

/**
 * The parts of a request's time that are its client's: while its body is read, while it waits behind its shipper's own
 * requests, and from the answer on (performance.now()).
 */
interface Timing {
  readMs?: number;
  readingSinceMs?: number | undefined;
  /** How long it has waited for its shipper's own share, so far. */
  heldMs?: () => number;
  answeredAtMs?: number;
}

const timingOf = ({ locals }: Response): Timing => ((locals as Locals).timing ??= {});

/** Reads a request's body; the time until it is there is its client's. */
export async function whileReading<Body>(response: Response, read: () => Promise<Body>): Promise<Body> {
  const timing = timingOf(response);
  const sinceMs = (timing.readingSinceMs = performance.now());
  try {
    return await read();
  } finally {
    timing.readingSinceMs = undefined;
    timing.readMs = performance.now() - sinceMs;
  }
}

export function markHeld(response: Response, heldMs: () => number): void {
  timingOf(response).heldMs = heldMs;
}

/** The answer is ready: whether and how fast the client reads it is not ours. */
export function markAnswered(response: Response): void {
  timingOf(response).answeredAtMs ??= performance.now();
}

function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,128}$/.test(given) ? given : randomUUID();
}

/** The status that the client got: an interrupted response counts as none, but a failure of the service remains one. */
function statusOf({ writableFinished, statusCode, locals }: Response): number {
  if (writableFinished) return statusCode;
  return (locals as Locals).error === undefined ? clientGone : Math.max(500, statusCode);
}

/** Finds the route that Express would have: the first whose path and method match; else one of another method. */
function routeFinder(routes: Route[]): (request: IncomingMessage) => Route | undefined {
  const patterns = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}/?$`),
  }));
  return ({ url = '', method = '' }) => {
    const path = url.replace(/\?.*$/s, '');
    const matching = patterns.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route);
    const served = method === 'HEAD' ? 'get' : method.toLowerCase();
    return matching.find((route) => route.method === served) ?? matching[0];
  };
}

interface EndedRequest {
  route: string | null;
  method: string;
  status: number;
  workedMs: number;
  isSlowByDesign: boolean;
  traceId?: string | undefined;
}

/** Statuses that the alerts count start at 0: to Prometheus, a counter that first appears at 1 has not increased. */
const countedFromZero = [499, 500, 503];
const badClasses = ['4xx', '499', '5xx'];
const apis = ['/v1', '/operator'];

/**
 * Counts a request and observes its duration. The number of series is bounded whatever clients send: a route has its own
 * methods and OTHER, and durations have a series for each good response of a route, and for each class of bad responses
 * of an API. Refusals and failures by route are in the counter.
 */
export function createRequestCounter(
  { httpRequests, httpDuration, httpSlowByDesign, exemplars }: CountedMetrics,
  routes: Pick<Route, 'method' | 'path' | 'responses'>[],
): (request: EndedRequest) => void {
  const served = new Map<string, Set<string>>();
  for (const { method, path, responses } of routes) {
    served.set(path, (served.get(path) ?? new Set()).add(method.toUpperCase()));
    for (const status of [...Object.keys(responses), ...countedFromZero])
      httpRequests.inc({ route: path, method: method.toUpperCase(), status }, 0);
  }
  if (routes.length > 0)
    for (const api of apis)
      for (const status of badClasses) httpDuration.zero({ route: `${api}/*`, method: 'any', status });

  return ({ route, method, status, workedMs, isSlowByDesign, traceId }) => {
    const path = route ?? 'unmatched';
    const labels = { route: path, method: methodLabel(method, served.get(path) ?? pageMethods), status };
    httpRequests.inc(labels);
    if (isSlowByDesign) httpSlowByDesign.observe({ route: path }, workedMs / 1_000);
    else {
      const observed = status < 400 ? labels : badLabels(path, status);
      httpDuration.observe(observed, workedMs / 1_000);
      if (traceId !== undefined) exemplars?.keep(httpDuration, workedMs / 1_000, traceId, observed);
    }
  };
}

/** The methods of the pages beside the API. */
const pageMethods = new Set(['GET', 'POST']);

/** Node accepts about forty methods. A HEAD is served by the route's GET. */
function methodLabel(method: string, served: ReadonlySet<string>): string {
  const used = method === 'HEAD' ? 'GET' : method;
  return served.has(used) ? used : 'OTHER';
}

const badLabels = (path: string, status: number) => {
  const api = apis.find((prefix) => path.startsWith(`${prefix}/`));
  return {
    route: api === undefined ? 'other' : `${api}/*`,
    method: 'any',
    status: status === 499 ? '499' : `${Math.floor(status / 100)}xx`,
  };
};
