import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import helmet from 'helmet';
import * as z from 'zod';
import {
  ApiError,
  describeError,
  invalidRequest,
  methodNotAllowed,
  notFound,
  type Detail,
} from '../platform/errors.js';
import { describeIssue, nearestName } from '../platform/issues.js';
import type { Logger } from '../platform/telemetry/logger.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import { networkOf, requireSameOrigin } from './origin.js';
import { recognise } from './connections/intake.js';
import type { App } from './connections/listener.js';
import type { Shares } from './request/shares.js';
import {
  failureBody,
  successBody,
  parseRequest,
  withoutSlot,
  type BodyFaults,
  type Caller,
  type ProgramCaller,
  type OperatorScope,
  type OutsideSlot,
  type Route,
} from './route.js';
import { type BodyBytes, jsonBody, payloadTooLarge, unusedBody } from './request/body.js';
import { markAnswered, watchRequests } from './request/watch.js';

/** The API of a process that serves it. */
export interface Api {
  routes: Route[];
  /** Throws ApiError if the request may not pass. */
  authenticate: Record<'shipper' | 'operator', (request: Request, scope: OperatorScope) => Promise<Caller>>;
  /** Throws ApiError if the program's token is not for this route, or for another webhook. */
  authorize(spec: Route, request: Request, shipperId: string, program: ProgramCaller): Promise<void>;
  limit(shipperId: string, ownPerSecond: number | null): void;
  shares: Record<Route['cost'], Shares>;
  bodyBytes: BodyBytes;
}

export interface ServerOptions {
  api?: Api | undefined;
  pages: RequestHandler[];
  /** Takes notifications, which everything else refuses; other requests go on to the next handler. */
  inbox?: RequestHandler | undefined;
  logger: Logger;
  metrics: Metrics;
  trustProxy: number | string[] | undefined;
}

/** Everything a request passes through, in order; errors thrown anywhere become failures in the envelope. */
export function createApp(options: ServerOptions): Express & Required<Pick<App, 'onGivenUp'>> {
  const { api, pages, logger, metrics } = options;
  z.config({ customError: describeIssue });
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', 'simple')
    .set('trust proxy', options.trustProxy ?? false)
    .set('case sensitive routing', true);
  const { watch, onGivenUp } = watchRequests(logger, metrics, api?.routes ?? []);
  app.use(watch, helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } }));
  app.use(['/v1', '/operator/v1'], forbidCaching);
  if (options.inbox) app.use(options.inbox);
  app.use(refuseHeaders);
  const fail = failureResponder(logger);
  if (api) serveRoutes(app, api, fail);
  for (const page of pages) app.use(page);
  const paths = api?.routes.map(({ path }) => path) ?? [];
  app.use(({ path }) => {
    throw unknownEndpoint(path, paths);
  });
  app.use(((thrown, _request, response, _next) => fail(thrown, response)) satisfies ErrorRequestHandler);
  return Object.assign(app, { onGivenUp });
}

function serveRoutes(app: Express, api: Api, fail: Fail): void {
  const parseBody = jsonBody();
  const skipBody = unusedBody();
  for (const [path, group] of groupByPath(api.routes)) {
    for (const spec of group) {
      const readBody = takesBody(spec) ? parseBody : skipBody;
      app[spec.method](path, admission(spec, api), readBody, handler(spec, api, fail));
    }
    app.all(path, refuseMethod(group));
  }
}

const forbidCaching: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'private, no-store');
  next();
};

const groupByPath = (routes: Route[]): Map<string, Route[]> =>
  routes.reduce(
    (groups, spec) => groups.set(spec.path, [...(groups.get(spec.path) ?? []), spec]),
    new Map<string, Route[]>(),
  );

const takesBody = ({ method }: Route) => method !== 'get' && method !== 'delete';

/** The key of the caller's share: an unknown caller counts by its address block. */
function callerOf(request: Request, response: Response): string {
  const { caller } = response.locals as { caller?: Caller };
  return caller ? (caller.operator ?? caller.shipperId) : networkOf(request.ip);
}

const admission =
  (spec: Route, { authenticate, authorize, limit, shares, bodyBytes }: Api): RequestHandler =>
  async (request, response, next) => {
    if (spec.slowByDesign) response.locals.slowByDesign = true;
    if (spec.auth === 'session') requireSameOrigin(request);
    else if (spec.auth !== 'login' && spec.auth !== 'none') {
      const caller = (response.locals.caller = await authenticate[spec.auth](request, spec.scope));
      recognise(request, caller.operator ?? caller.shipperId);
      if (spec.auth === 'shipper') {
        if (caller.support !== undefined && spec.method !== 'get') throw readOnly();
        limit(caller.shipperId, caller.rateLimit ?? null);
        if (caller.program) await authorize(spec, request, caller.shipperId, caller.program);
        shares[spec.cost].begin(caller.shipperId, response);
      }
    }
    if (takesBody(spec)) response.locals.countBytes = bodyBytes(callerOf(request, response), response);
    next();
  };

const readOnly = () =>
  new ApiError(
    403,
    'FORBIDDEN',
    "This session is the operator's, for support. It is read-only: only a user of the shipper may do that.",
  );

/** Handles errors itself, so that a waiting request retains nothing of its path through Express. */
function handler(spec: Route, api: Api, fail: Fail): RequestHandler {
  const respond = responder(spec, api);
  return (request, response) => {
    request.next = undefined;
    respond(request, response)
      .catch((thrown) => fail(thrown, response))
      .catch(() => response.destroy());
  };
}

interface Locals {
  bodyFaults?: BodyFaults;
  caller?: Caller;
  /** Renews the portal's session if that is due; called just before the response is sent. */
  renewSession?(): Promise<unknown>;
}

const responder =
  (spec: Route, { shares }: Api) =>
  async (request: Request, response: Response) => {
    const { bodyFaults, caller, renewSession } = response.locals as Locals;
    let warnings: Detail[] = [];
    /** Validates in the request's turn: what is sent decides how long that takes. */
    const work = async (outside: OutsideSlot) => {
      const {
        warnings: ignored,
        itemDetails,
        withMisspelt,
        ...parsed
      } = parseRequest(spec, request, bodyFaults);
      warnings = ignored;
      return spec.handle({ ...parsed, caller } as never, {
        request,
        response,
        outside,
        itemDetails,
        withMisspelt,
      });
    };
    const isGated = spec.auth === 'shipper' && !spec.ungated;
    const result = await (isGated
      ? shares[spec.cost].run(caller!.shipperId, response, work)
      : work(withoutSlot));
    if (result && spec.hasProcessId)
      response.locals.trackingId = (result.data as { trackingId?: string }).trackingId;
    if (result) await renewSession?.();
    if (result) response.status(result.httpStatus ?? 200).json(successBody(result, warnings));
    markAnswered(response);
  };

const refuseMethod = (group: Route[]): RequestHandler => {
  const methods = group.map(({ method }) => method.toUpperCase());
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  const isLogin = group.some(({ auth }) => auth === 'login');
  return () => {
    throw methodNotAllowed(allow, isLogin ? 'Log in with GET and Basic e-mail:password.' : undefined);
  };
};

type Fail = ReturnType<typeof failureResponder>;

const failureResponder =
  (logger: Logger) =>
  (thrown: unknown, response: Response): void => {
    const requestId = response.locals.requestId as string;
    const error = toApiError(thrown);
    if (error.httpStatus >= 500) {
      response.locals.error = describeError(error.cause ?? thrown);
      if (error.httpStatus === 500)
        logger.error({ requestId, stack: (thrown as Error | undefined)?.stack }, 'unexpected error');
    }
    if (response.headersSent) return void response.destroy();
    response
      .status(error.httpStatus)
      .set(error.extra.headers ?? {})
      .json(failureBody(error, requestId));
    markAnswered(response);
  };

/** Errors of express carry a `status`; any other error is a fault of the service. */
function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const { status } = (thrown ?? {}) as { status?: number };
  if (status === 413) return payloadTooLarge();
  if (typeof status === 'number' && status >= 400 && status < 500)
    return invalidRequest([{ path: 'request', message: 'could not be read' }]);
  return new ApiError(500, 'INTERNAL', 'Something went wrong on our side.');
}

/** Refuses headers that no request may have or lack. */
const refuseHeaders: RequestHandler = (request, _response, next) => {
  const details = [...wrongInHttp(request), ...notifications(request)];
  if (details.length > 0) throw invalidRequest(details);
  next();
};

/** RFC 9110, 7.2 and 10.1.1: Node's own response would have no body (see `listen`). HTTP/1.0 had neither. */
function wrongInHttp({ httpVersion, headers }: Request): Detail[] {
  if (httpVersion !== '1.1') return [];
  const { host, expect = '' } = headers;
  return [
    ...(host === undefined ? [{ path: 'Host', message: 'is required' }] : []),
    ...(/^(100-continue)?$/i.test(expect) ? [] : [{ path: 'Expect', message: 'must be 100-continue' }]),
  ];
}

/** A notification that reached this API would cause another one: a growing loop. */
function notifications({ headers }: Request): Detail[] {
  if (headers['parcelhook-attempt'] === undefined) return [];
  const message = 'marks a notification: a webhook must not point to this service';
  return [{ path: 'Parcelhook-Attempt', message }];
}

/** Endpoints that do not exist, each with the one that its callers want. */
const guesses: Record<string, string> = {
  '/v1/orders': '/v1/shipments',
  ...Object.fromEntries(
    ['shipments', 'orders', 'tracking', 'track'].map((place) => [
      `/v1/${place}/:trackingId`,
      '/v1/shipment-tracking/:trackingId',
    ]),
  ),
};

/** A 404 that names the nearest endpoint: callers forget `/v1` or the end of a plural, or put `/api` before the path. */
function unknownEndpoint(given: string, paths: string[]): ApiError {
  const error = notFound('This endpoint');
  if (paths.length === 0) return error; // a worker has no /docs either
  const path = given.replace(/\/{2,}/g, '/');
  const inner = path.replace(/^\/api(?=\/)/, '');
  const meant = nearestPath(inner, paths) ?? nearestPath(`/v1${inner}`, paths);
  if (path !== given) error.message += ' Its path has a doubled slash: does the base URL end in one?';
  error.message += `${meant === null ? '' : ` Did you mean ${meant}?`} See /docs.`;
  return error;
}

function nearestPath(given: string, paths: string[]): string | null {
  const segments = given.split('/');
  const filled = new Map<string, string>();
  for (const path of [...paths, ...Object.keys(guesses)]) {
    const own = path.split('/');
    if (own.length !== segments.length) continue;
    const asGiven = own.map((segment, index) => (segment.startsWith(':') ? segments[index] : segment));
    filled.set(asGiven.join('/'), guesses[path] ?? path);
  }
  const nearest = nearestName(given, filled.keys());
  return nearest && filled.get(nearest)!.replace(/:(\w+)/g, '{$1}');
}
