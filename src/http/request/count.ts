import type { Metrics } from '../../platform/telemetry/metrics.js';
import type { Route } from '../route.js';

export interface EndedRequest {
  /** The pattern of the route's path; null without a route. */
  route: string | null;
  /** The method as the client wrote it. */
  method: string;
  /** 499: the client gave up before its response. */
  status: number;
  /** The time from its arrival to its response, without its client's part of the time (see `Timing`). */
  workedMs: number;
  isSlowByDesign: boolean;
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
  {
    httpRequests,
    httpDuration,
    httpSlowByDesign,
  }: Pick<Metrics, 'httpRequests' | 'httpDuration' | 'httpSlowByDesign'>,
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

  return ({ route, method, status, workedMs, isSlowByDesign }) => {
    const path = route ?? 'unmatched';
    const labels = { route: path, method: methodLabel(method, served.get(path) ?? pageMethods), status };
    httpRequests.inc(labels);
    if (isSlowByDesign) httpSlowByDesign.observe({ route: path }, workedMs / 1_000);
    else httpDuration.observe(status < 400 ? labels : badLabels(path, status), workedMs / 1_000);
  };
}

/** The methods of the pages besides the API. */
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
