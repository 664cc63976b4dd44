import * as z from 'zod';
import { described, details, milliseconds, warnings } from '../request/fields.js';
import type { Route } from '../route.js';
import { failures, unexpected, type Failure } from './failures.js';
import { exampleOf, type SchemaCollector } from './schemas.js';
import type { HeaderObject, Operation, Reference, ResponseObject, LinkObject } from './types.js';

const exampleRequestId = 'c0ffee00-1234-4abc-8def-0123456789ab';
const version = described(z.string(), 'Version of the response format.', '1.0.0');
const timestamp = milliseconds('When the response was sent, in milliseconds since 1970.');

const failureSchema = z
  .object({
    version,
    status: described(
      z.enum([...Object.values(failures), unexpected].map(({ code }) => code)),
      'What went wrong, as a code to act on.',
    ),
    timestamp,
    error: z.object({
      message: described(z.string(), 'What went wrong, in English.', unexpected.message),
      requestId: described(z.string(), 'The same as the header `X-Request-Id`.', exampleRequestId),
      details,
    }),
  })
  .meta({ id: 'Failure', description: 'The format of every failure.' });

/** `components.headers` */
export const headers: Record<string, HeaderObject> = {
  'X-Request-Id': {
    description: "Identifies the request, also in the service's log.",
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { description: 'The authentication scheme to use.', schema: { type: 'string' } },
  Allow: { description: 'The methods that the path takes.', schema: { type: 'string' } },
  'Retry-After': {
    description: 'Seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 0 },
  },
};

export const headerRefs = (names: string[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** `components.responses`, one per failure. */
export function failureResponses(schemas: SchemaCollector): Record<string, ResponseObject> {
  const schema = schemas.toJson(failureSchema, 'output');
  const example = exampleOf(schema, schemas.components) as z.output<typeof failureSchema>;
  const responseOf = ({ code, description, message, details: wrong, headers: own = [] }: Failure) => ({
    description,
    headers: headerRefs(['X-Request-Id', ...own]),
    content: {
      'application/json': {
        schema,
        example: {
          ...example,
          status: code,
          error: { message, requestId: exampleRequestId, ...(wrong && { details: wrong }) },
        },
      },
    },
  });
  return Object.fromEntries(
    [...Object.values(failures), unexpected].map((failure) => [failure.name, responseOf(failure)]),
  );
}

/** Success in the envelope, and the failures an endpoint of this kind may have. */
export const responsesOf = (
  route: Route,
  routes: Route[],
  schemas: SchemaCollector,
): Operation['responses'] => ({
  ...Object.fromEntries(
    Object.entries(route.responses).map(([httpStatus, data]) => {
      const links = linksOf(route, data, routes);
      const response = success(route, Number(httpStatus), data, schemas);
      return [httpStatus, { ...response, ...(Object.keys(links).length > 0 && { links }) }];
    }),
  ),
  ...Object.fromEntries(
    failuresOf(route).map((httpStatus) => [
      httpStatus,
      refTo(failures[httpStatus]!, route.errors?.[httpStatus as 409]),
    ]),
  ),
  default: refTo(unexpected),
});

function success(
  route: Route,
  httpStatus: number,
  data: z.ZodObject,
  schemas: SchemaCollector,
): ResponseObject {
  const envelope = z.object({
    version,
    status: z.literal(httpStatus === 201 ? 'CREATED' : 'OK'),
    ...(route.hasProcessId && {
      processId: described(z.uuid(), 'Identifies the processing of the order.', exampleRequestId),
    }),
    timestamp,
    data: route.orNull ? data.nullable() : data,
    ...(route.method !== 'get' && route.method !== 'delete' && { warnings }),
  });
  const schema = schemas.toJson(envelope, 'output');
  const example = exampleOf(schema, schemas.components) as Record<string, unknown>;
  delete example.warnings; // they are rare
  example.data = { ...(example.data as object), ...route.responseExample };
  return {
    description: data.description ?? '',
    headers: headerRefs(['X-Request-Id']),
    content: { 'application/json': { schema, example } },
  };
}

/** Sorts them in ascending order. All but 409, and the 404 of a query, follow from the endpoint's form. */
function failuresOf({ auth, method, path, errors }: Route): number[] {
  const takesBody = method === 'post' || method === 'patch';
  const namesThing = path.includes(':');
  const checksCredentials = auth !== 'session' || takesBody; // without a session, the response is 200
  return [
    400, // also for requests with Parcelhook-Attempt
    ...(checksCredentials ? [401] : []),
    403,
    ...(namesThing || errors?.[404] ? [404] : []),
    ...(errors?.[409] ? [409] : []),
    ...(takesBody ? [413, 415] : []),
    ...(auth === 'operator' || !checksCredentials ? [] : [429]),
    503,
  ];
}

const refTo = (failure: Failure, description?: string): Reference => ({
  $ref: `#/components/responses/${failure.name}`,
  ...(description !== undefined && { description }),
});

const idsIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);

/** Query filters by id. */
const filtersOf = ({ query }: Route): string[] => Object.keys(query.shape).filter((name) => /Id$/.test(name));

/**
 * Links from an endpoint that creates or changes something to those that take its id, in the path or as a filter. The id
 * comes from the response or from the request's own path.
 */
function linksOf(route: Route, data: z.ZodObject, routes: Route[]): Record<string, LinkObject> {
  if (route.method !== 'post') return {};
  const returned = Object.keys(data.shape);
  const own = idsIn(route.path);
  const sourceOf = (id: string): string | undefined =>
    returned.includes(id)
      ? `$response.body#/data/${id}`
      : own.includes(id)
        ? `$request.path.${id}`
        : undefined;
  const takenBy = (target: Route): string[] => [
    ...idsIn(target.path),
    ...filtersOf(target).filter((id) => returned.includes(id)),
  ];
  const targets = routes.filter((target) => {
    const ids = takenBy(target);
    return (
      target.operationId !== route.operationId &&
      ids.some((id) => returned.includes(id)) &&
      ids.every((id) => sourceOf(id) !== undefined)
    );
  });
  return Object.fromEntries(
    targets.map((target) => [
      target.operationId,
      {
        operationId: target.operationId,
        parameters: Object.fromEntries(takenBy(target).map((id) => [id, sourceOf(id)!])),
      },
    ]),
  );
}
