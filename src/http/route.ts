import type { Request, Response } from 'express';
import * as z from 'zod';
import { invalidRequest, type Detail } from '../platform/errors.js';
import type { Answer } from './envelope.js';
import type { Tag } from './openapi/intro.js';
import type { Method } from './openapi/types.js';
import { unknownParameters } from './request/unknown-parameters.js';

/** Who is calling: null on routes without authentication. */
export interface Caller {
  shipperId: string;
  userId: string;
  /** Name of the operator's token; null for a shipper's user. */
  operator: string | null;
  address: string | null;
}

/** What an operator's token allows: to read, to record state events, or everything. */
export type OperatorScope = 'read' | 'events' | 'admin';

export interface RouteRequest<Params, Query, Headers, Body> {
  params: Params;
  query: Query;
  headers: Headers;
  body: Body;
  caller: Caller;
}

/** What the API's document says of an endpoint besides its schemas; nothing of it runs for a request. */
export interface RouteDocs {
  operationId: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** `data` of success by HTTP status; its description says what the answer is. Tests hold real answers to it. */
  answers: Partial<Record<200 | 201 | 202, z.ZodObject>>;
  /** The envelope bears a `processId`: the specification has it on order integration only. */
  hasProcessId?: boolean;
  /** When it answers an error that not every endpoint of its kind answers, or answers for a reason of its own. */
  errors?: Partial<Record<409 | 429, string>>;
  /** A body to begin with, where one with every field would not be; otherwise made of the fields' own examples. */
  bodyExample?: object;
}

/** One endpoint. The schemas validate the request and describe it; the handler sees only what passed. */
export interface Route extends RouteDocs {
  method: Method;
  path: string;
  /** `login` checks its credentials itself. */
  auth: 'login' | 'shipper' | 'operator';
  /** It takes turns among shippers itself, or waits long for something else than the database. */
  takesNoTurn?: boolean;
  /**
   * `dear`: its statements may take long. Such requests have a share of their own, so that they keep no others waiting.
   */
  cost: 'usual' | 'dear';
  /** What the operator's token has to allow; by default `read` for GET, else `admin`. */
  scope: OperatorScope;
  params: z.ZodObject;
  query: z.ZodObject;
  headers: z.ZodObject;
  body: z.ZodType;
  handle(
    request: RouteRequest<never, never, never, never>,
    raw: { request: Request; response: Response },
  ): Promise<Answer | null>;
}

interface RouteSpec<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Headers extends z.ZodObject,
  Body extends z.ZodType,
> extends RouteDocs {
  method: Method;
  path: string;
  auth?: Route['auth'];
  takesNoTurn?: boolean;
  cost?: Route['cost'];
  scope?: OperatorScope;
  params?: Params;
  query?: Query;
  /** Request headers by the names under which they are documented. */
  headers?: Headers;
  body?: Body;
  /** The answer, or null if the handler wrote the response itself. */
  handle(
    request: RouteRequest<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>,
    raw: { request: Request; response: Response },
  ): Promise<Answer | null>;
}

/** More wrong fields than any request of good faith has; a bound on the answer to one of bad faith. */
export const maxDetails = 1_000;

const nothing = z.object({});

/** Declares an endpoint; the handler's argument is typed by its schemas. */
export function route<
  Params extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Headers extends z.ZodObject = typeof nothing,
  Body extends z.ZodType = typeof nothing,
>(spec: RouteSpec<Params, Query, Headers, Body>): Route {
  return {
    auth: 'shipper',
    cost: 'usual',
    scope: spec.method === 'get' ? 'read' : 'admin',
    params: nothing,
    query: nothing,
    headers: nothing,
    body: nothing.optional(),
    ...spec,
  } as unknown as Route;
}

/**
 * Validates all parts of a request together, so that one answer names every wrong field. `bodyDetails` are those that
 * were found when the body was read; what they name the body's schema does not name again.
 */
export function parseRequest(
  spec: Route,
  request: Request,
  bodyDetails: Detail[] = [],
): { params: unknown; query: unknown; headers: unknown; body: unknown } {
  const headers = Object.keys(spec.headers.shape).map((name) => [name, request.get(name)]);
  const parts = {
    params: spec.params.safeParse(request.params),
    query: spec.query.safeParse(request.query),
    headers: spec.headers.safeParse(Object.fromEntries(headers)),
    body: spec.body.safeParse(request.body as unknown),
  };
  const named = new Set(bodyDetails.map(({ path }) => path));
  const details = [
    ...[parts.params, parts.query, parts.headers].flatMap(detailsOf),
    ...bodyDetails,
    ...detailsOf(parts.body).filter(({ path }) => !named.has(path)),
    ...unknownParameters(spec.query.shape, request.query),
  ];
  if (details.length > 0) throw invalidRequest(details.slice(0, maxDetails));
  return {
    params: parts.params.data,
    query: parts.query.data,
    headers: parts.headers.data,
    body: parts.body.data,
  };
}

const detailsOf = ({ error }: z.ZodSafeParseResult<unknown>): Detail[] => error?.issues.map(detailOf) ?? [];

export function detailOf(issue: z.core.$ZodIssue): Detail {
  const path = issue.path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text ? `${text}.${String(key)}` : String(key),
    '',
  );
  return { path: path || 'body', message: issue.message };
}

/** Says what would be right in the words of the whole API; used as zod's global error map. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    const article = /^[aeiou]/.test(issue.expected) ? 'an' : 'a';
    return issue.input === undefined
      ? `is required: ${article} ${issue.expected}`
      : `must be ${article} ${issue.expected}`;
  }
  return undefined;
}
