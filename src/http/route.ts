import type { Request, Response } from 'express';
import * as z from 'zod';
import { invalidRequest, type Detail, type ApiError } from '../platform/errors.js';
import { nearestName } from '../platform/issues.js';
import type { Tag } from './openapi/intro.js';
import type { Method } from './openapi/schemas.js';
import {
  unknownFieldsOf,
  warningsOf,
  withMisspelt,
  type FindUnknownFields,
} from './request/unknown-fields.js';

/** Runs a wait that uses nothing of the process but a timer, without the slot of its request. */
export type OutsideSlot = (wait: () => Promise<void>) => Promise<void>;

export const withoutSlot: OutsideSlot = (wait) => wait();

export interface Caller {
  shipperId: string;
  /** Empty unless a user asks. */
  userId: string;
  /** The shipper's own limit of requests per second; null: API_RATE_LIMIT. */
  rateLimit?: number | null;
  /** Name of the operator's token; null for a shipper's user or program. */
  operator: string | null;
  /** The token of a shipper's program; null for anyone else. */
  program: ProgramCaller | null;
  /** Name of the operator whose read-only session in the shipper's portal it is; absent for anyone else. */
  support?: string;
  address: string | null;
}

export interface ProgramCaller {
  tokenId: string;
  scopes: TokenScope[];
  /** The only webhook that it may use; null: every one. */
  webhookId: string | null;
}

/** The scopes of a program's token. */
export const tokenScopes = ['orders', 'webhooks', 'read'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** The scopes of an operator's token: reading, recording state events, or everything. */
export type OperatorScope = 'read' | 'events' | 'admin';

export interface RouteRequest<Params, Query, Headers, Body> {
  params: Params;
  query: Query;
  headers: Headers;
  body: Body;
  caller: Caller;
}

/** An endpoint's documentation besides its schemas; not used for requests. */
export interface RouteDocs {
  operationId: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** `data` of a success by HTTP status; its description is that of the response. Tests check real responses by it. */
  responses: Partial<Record<200 | 201 | 202, z.ZodObject>>;
  /** True if `data` is null when there is nothing to tell. */
  orNull?: boolean;
  /** The envelope has a `processId`: per the specification on order integration only. */
  hasProcessId?: boolean;
  /** Errors that not every endpoint of its kind has, or that have a specific reason. */
  errors?: Partial<Record<404 | 409 | 429, string>>;
  bodyExample?: object;
  /** Replaces fields of the example of `data`, so that it follows from the request's. */
  responseExample?: object;
}

export interface RawRequest {
  request: Request;
  response: Response;
  outside: OutsideSlot;
  /** The faults whose paths `items` matches, found when the body was read. */
  itemDetails: Detail[];
  /** Adds to missing fields the unknown ones that were probably meant. */
  withMisspelt(details: Detail[]): Detail[];
}

/** One endpoint. The schemas validate and document the request; the handler gets validated values only. */
export interface Route extends RouteDocs {
  method: Method;
  path: string;
  /**
   * `login` and `session` check their credentials themselves; `session` is for the portal's pages only. `none`: anybody
   * may call it.
   */
  auth: 'none' | 'login' | 'session' | 'shipper' | 'operator';
  /** Runs outside the shares: it has a gate of its own, or waits long for something other than the database. */
  ungated?: boolean;
  /** True if the route hashes a password or waits for a receiver: its time is measured apart from the API's. */
  slowByDesign?: boolean;
  /** `costly`: its statements may take long. Such requests have shares of their own, so as not to delay the others. */
  cost: 'usual' | 'costly';
  /** The scope required of an operator's token; default: `read` for GET, else `admin`. */
  scope: OperatorScope;
  /** A program's token needs one of these, or `read` for GET; none: only users may call it, unless it is a GET. */
  tokenScopes: TokenScope[];
  /** No program's token may call it, not even a GET. */
  usersOnly?: boolean;
  /** True if the response has nothing of another webhook when the caller's token is for one. */
  narrows?: boolean;
  params: z.ZodObject;
  query: z.ZodObject;
  headers: z.ZodObject;
  body: z.ZodType;
  unknownFields: FindUnknownFields;
  /** The paths of faults of items that the handler refuses one by one. */
  items?: RegExp;
  handle(request: RouteRequest<never, never, never, never>, raw: RawRequest): Promise<RouteResult | null>;
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
  ungated?: boolean;
  slowByDesign?: boolean;
  cost?: Route['cost'];
  scope?: OperatorScope;
  tokenScopes?: TokenScope[];
  usersOnly?: boolean;
  narrows?: boolean;
  params?: Params;
  query?: Query;
  /** Request headers by their documented names. */
  headers?: Headers;
  body?: Body;
  knownBody?: z.ZodType;
  items?: RegExp;
  /** Null: the handler has written the response itself. */
  handle(
    request: RouteRequest<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>,
    raw: RawRequest,
  ): Promise<RouteResult | null>;
}

/** Bounds the response to a malicious request. */
export const maxDetails = 1_000;

const nothing = z.object({});

/** Declares an endpoint; the schemas type the handler's argument. */
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
    tokenScopes: [],
    params: nothing,
    query: nothing,
    headers: nothing,
    body: nothing.optional(),
    unknownFields: unknownFieldsOf(spec.knownBody ?? spec.body ?? nothing),
    ...spec,
  } as unknown as Route;
}

/** The scopes of which a program's token needs one. */
export const scopesFor = ({
  method,
  tokenScopes: own,
  usersOnly,
}: Pick<Route, 'method' | 'tokenScopes' | 'usersOnly'>): TokenScope[] =>
  method === 'get' && !usersOnly ? [...own, 'read'] : own;

/** Declares an endpoint of the operator's API. */
export const operatorRoute = <
  Params extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Headers extends z.ZodObject = typeof nothing,
  Body extends z.ZodType = typeof nothing,
>(
  spec: Omit<RouteSpec<Params, Query, Headers, Body>, 'auth' | 'tag'>,
): Route => route<Params, Query, Headers, Body>({ ...spec, auth: 'operator', tag: 'Operator' });

/** The faults found while a body was read: in the items of its lists, and elsewhere. `more` counts those not kept. */
export type BodyFaults = Record<'beside' | 'ofItems', { details: Detail[]; more: number }>;

/**
 * Validates all parts of a request together, so that one response names every wrong field. The body's schema does not
 * report the paths of `bodyFaults` again. `warnings` name what was ignored.
 */
export function parseRequest(
  spec: Route,
  request: Request,
  bodyFaults = noFaults(),
): {
  params: unknown;
  query: unknown;
  headers: unknown;
  body: unknown;
  itemDetails: Detail[];
  withMisspelt: RawRequest['withMisspelt'];
  warnings: Detail[];
} {
  const headers = Object.keys(spec.headers.shape).map((name) => [name, request.get(name)]);
  const parts = {
    params: spec.params.safeParse(request.params),
    query: spec.query.safeParse(request.query),
    headers: spec.headers.safeParse(Object.fromEntries(headers)),
    body: spec.body.safeParse(request.body as unknown),
  };
  const { beside, ofItems } = bodyFaults;
  const bodyDetails = [...beside.details, ...ofItems.details];
  const isOfItem = ({ path }: Detail) => spec.items?.test(path) === true;
  const details = [
    ...detailsOf(parts.params),
    ...besides(repeatedParameters(spec.query.shape, request.query), detailsOf(parts.query)),
    ...detailsOf(parts.headers),
    ...besides(
      bodyDetails.filter((one) => !isOfItem(one)),
      detailsOf(parts.body),
    ),
    ...unknownParameters(spec.query.shape, request.query),
  ];
  const unknown = spec.unknownFields(request.body);
  const more = beside.more + (spec.items ? 0 : ofItems.more);
  if (details.length > 0) throw invalidRequest(cut(withMisspelt(details, unknown), more));
  return {
    params: parts.params.data,
    query: parts.query.data,
    headers: parts.headers.data,
    body: parts.body.data,
    itemDetails: bodyDetails.filter(isOfItem),
    withMisspelt: (missing) => withMisspelt(missing, unknown),
    warnings: warningsOf(unknown),
  };
}

export const noFaults = (): BodyFaults => ({
  beside: { details: [], more: 0 },
  ofItems: { details: [], more: 0 },
});

/** Returns at most `maxDetails`. If there are more, those outside lists and objects come first, and the last counts the rest. */
function cut(details: Detail[], more: number): Detail[] {
  const count = details.length + more;
  if (count <= maxDetails) return details;
  const isWithin = ({ path }: Detail) => /[.[]/.test(path);
  const ordered = [...details.filter((one) => !isWithin(one)), ...details.filter(isWithin)];
  const shown = ordered.slice(0, maxDetails - 1);
  const rest = (count - shown.length).toLocaleString('en');
  return [...shown, { path: 'body', message: `has ${rest} more errors, which are not listed` }];
}

export function besides(first: Detail[], more: Detail[]): Detail[] {
  const named = new Set(first.map(({ path }) => path));
  return [...first, ...more.filter(({ path }) => !named.has(path))];
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

const repeatedParameters = (declared: object, given: Request['query']): Detail[] =>
  Object.keys(declared)
    .filter((name) => Array.isArray(given[name]))
    .map((name) => ({ path: name, message: 'is given more than once' }));

const maxNameLength = 100; // of a parameter in `details`

/**
 * Query parameters that are given but not declared: a misspelt filter must not return the whole list. `key` is always
 * allowed, even where it is not needed.
 */
function unknownParameters(declared: object, given: object): Detail[] {
  const known = ['key', ...Object.keys(declared)];
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = nearestName(name, known);
      const hint = meant === null ? '' : `; did you mean ${meant}?`;
      return {
        path: name.slice(0, maxNameLength).toWellFormed() || 'query',
        message: `is not a parameter of this endpoint; it takes ${known.join(', ')}${hint}`,
      };
    });
}

/** The version of the specification's sample; it changes when the shape of responses does. */
const version = '1.0.0';

/** `timestampMs` is set only where an earlier response is repeated. */
export interface RouteResult {
  httpStatus?: 200 | 201 | 202;
  data: object | null;
  processId?: string;
  timestampMs?: number;
  /** Shown beside those of the fields that were ignored. */
  warnings?: Detail[];
}

/** The specification's envelope: version, status, processId (order integration only), timestamp, data; `warnings` if any. */
export function successBody(result: RouteResult, ignored: Detail[] = []) {
  const { httpStatus, data, processId, timestampMs } = result;
  const warnings = result.warnings ? [...ignored, ...result.warnings] : ignored;
  return {
    version,
    status: httpStatus === 201 ? 'CREATED' : 'OK',
    ...(processId !== undefined && { processId }),
    timestamp: timestampMs ?? Date.now(),
    data,
    ...(warnings.length > 0 && { warnings }),
  };
}

export const failureBody = (error: ApiError, requestId: string) => ({
  version,
  status: error.status,
  timestamp: Date.now(),
  error: {
    message: error.message,
    requestId,
    ...(error.extra.details && { details: error.extra.details }),
  },
});

/** The form of times in responses: ISO 8601 with an explicit offset, `2026-11-21T12:00:00+00:00`. */
export const isoOffset = (time: Date | null): string | null =>
  time === null ? null : time.toISOString().replace(/(\.000)?Z$/, '+00:00');
