import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import helmet from 'helmet';
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import {
  ApiError,
  describeError,
  invalidRequest,
  methodNotAllowed,
  notFound,
  type Detail,
} from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import { arrivedAt, recognise } from './connections/intake.js';
import { networkOf } from './connections/network.js';
import type { BodyBytes } from './request/body-bytes.js';
import { jsonBody, payloadTooLarge, unsupportedMediaType } from './request/body.js';
import { refuseHeaders } from './request/refused-headers.js';
import { failureBody, successBody } from './envelope.js';
import { describeIssue, parseRequest, type Caller, type OperatorScope, type Route } from './route.js';
import type { Shares } from './connections/shares.js';

export interface ServerOptions {
  routes: Route[];
  /** Pages for people, outside the API's conventions. */
  pages: RequestHandler[];
  /** Throws ApiError where the request may not pass. */
  authenticate: Record<'shipper' | 'operator', (request: Request, scope: OperatorScope) => Promise<Caller>>;
  /** Throws ApiError where a shipper asks too often. */
  limit(shipperId: string): void;
  /** Requests that a shipper may have under way in this process at once, for either cost. */
  shares: Record<Route['cost'], Shares>;
  bodyBytes: BodyBytes;
  logger: Logger;
  metrics: Metrics;
  /** Proxies whose X-Forwarded-For is believed, as express takes them. */
  trustProxy: number | string[] | undefined;
}

/** Everything a request passes through, in order; errors thrown anywhere become the contract's answers. */
export function createApp(options: ServerOptions): Express {
  const { routes, pages, logger, metrics } = options;
  z.config({ customError: describeIssue });
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', 'simple')
    .set('trust proxy', options.trustProxy ?? false)
    .set('case sensitive routing', true);
  app.use(
    identifyAndLog(logger, metrics),
    helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } }),
  );
  app.use(['/v1', '/operator/v1'], keepPrivate);
  app.use(refuseHeaders);
  const parseBody = jsonBody();
  for (const [path, group] of groupByPath(routes)) {
    for (const spec of group) {
      const handlers = [
        admission(spec, options),
        ...(takesBody(spec) ? [parseBody] : []),
        handler(spec, options),
      ];
      app[spec.method](path, ...handlers);
    }
    app.all(path, refuseMethod(group));
  }
  for (const page of pages) app.use(page);
  app.use(() => {
    throw notFound('This route');
  });
  const fail = answerError(logger);
  app.use(((thrown, _request, response, _next) => fail(thrown, response)) satisfies ErrorRequestHandler);
  return app;
}

/** What the API answers belongs to who asked: no cache keeps it. */
const keepPrivate: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'private, no-store');
  next();
};

const groupByPath = (routes: Route[]): Map<string, Route[]> =>
  routes.reduce(
    (groups, spec) => groups.set(spec.path, [...(groups.get(spec.path) ?? []), spec]),
    new Map<string, Route[]>(),
  );

const takesBody = ({ method }: Route) => method === 'post' || method === 'patch';

/** Whose share it is: an unknown caller goes by its address block. */
function callerOf(request: Request, response: Response): string {
  const { caller } = response.locals as { caller?: Caller };
  return caller ? (caller.operator ?? caller.shipperId) : networkOf(request.ip);
}

const admission =
  (spec: Route, { authenticate, limit, shares, bodyBytes }: ServerOptions): RequestHandler =>
  async (request, response, next) => {
    if (spec.auth !== 'login') {
      const caller = (response.locals.caller = await authenticate[spec.auth](request, spec.scope));
      recognise(request, caller.operator ?? caller.shipperId);
      if (spec.auth === 'shipper') {
        limit(caller.shipperId);
        shares[spec.cost].begin(caller.shipperId, response);
      }
    }
    if (takesBody(spec)) response.locals.countBytes = bodyBytes(callerOf(request, response), response);
    next();
  };

/** It answers errors itself, so that a request that waits keeps nothing of the way it came through Express. */
function handler(spec: Route, options: ServerOptions): RequestHandler {
  const answer = answerOf(spec, options);
  const fail = answerError(options.logger);
  return (request, response) => {
    request.next = undefined;
    answer(request, response)
      .catch((thrown) => fail(thrown, response))
      .catch(() => response.destroy());
  };
}

const answerOf =
  (spec: Route, { shares }: ServerOptions) =>
  async (request: Request, response: Response) => {
    const { bodyDetails } = response.locals as { bodyDetails?: Detail[] };
    const parsed = parseRequest(spec, request, bodyDetails);
    const caller = response.locals.caller as Caller | undefined;
    const work = () => spec.handle({ ...parsed, caller } as never, { request, response });
    const takesTurns = spec.auth === 'shipper' && !spec.takesNoTurn;
    const answer = await (takesTurns ? shares[spec.cost].inTurn(caller!.shipperId, response, work) : work());
    if (answer) response.status(answer.httpStatus ?? 200).json(successBody(answer));
  };

const refuseMethod = (group: Route[]): RequestHandler => {
  const methods = group.map(({ method }) => method.toUpperCase());
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  return () => {
    throw methodNotAllowed(allow);
  };
};

/** Node takes about forty methods; those no route has share one label. */
const knownMethod = (method: string) =>
  ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'].includes(method) ? method : 'OTHER';

/** As nginx has it: the client closed the connection before it had its answer. */
const clientGone = 499;

/**
 * What the client got, not what it would have got: an answer that broke off counts as none, and a failure of ours stays
 * one.
 */
function statusOf({ writableFinished, statusCode, locals }: Response): number {
  if (writableFinished) return statusCode;
  return (locals as { error?: string }).error === undefined ? clientGone : Math.max(500, statusCode);
}

/** X-Request-Id on every answer (the caller's own if well-formed), and one wide line per request without its query. */
const identifyAndLog =
  (logger: Logger, metrics: Metrics): RequestHandler =>
  (request, response, next) => {
    const own = request.get('x-request-id');
    const requestId = own && /^[\w.-]{1,128}$/.test(own) ? own : randomUUID();
    response.locals.requestId = requestId;
    response.set('X-Request-Id', requestId);
    const startedAt = arrivedAt(request);
    response.once('close', () => {
      const route = (request.route as { path?: string } | undefined)?.path ?? null;
      const durationMs = performance.now() - startedAt;
      const { caller, error, waits } = response.locals as { caller?: Caller; error?: string; waits?: true };
      const status = statusOf(response);
      if (!waits)
        metrics.httpDuration.observe(
          { route: route ?? 'unmatched', method: knownMethod(request.method), status },
          durationMs / 1_000,
        );
      logger.info(
        {
          requestId,
          method: request.method,
          route,
          status,
          durationMs: Math.round(durationMs),
          ...(caller?.shipperId && { shipperId: caller.shipperId }),
          ...(error && { error }),
          ...(!response.writableFinished && { aborted: true }),
        },
        'request',
      );
    });
    next();
  };

const answerError =
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
  };

/** Errors of express and its body parser carry a `type` and a `status`; anything else unknown is our own fault. */
function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const { type, status } = (thrown ?? {}) as { type?: string; status?: number };
  if (status === 413) return payloadTooLarge();
  if (status === 415) return unsupportedMediaType();
  if (type === 'entity.parse.failed')
    return invalidRequest([{ path: 'body', message: 'must be valid JSON' }]);
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return invalidRequest([{ path: 'request', message: 'could not be read' }]);
  }
  return new ApiError(500, 'INTERNAL', 'Something went wrong on our side.');
}
