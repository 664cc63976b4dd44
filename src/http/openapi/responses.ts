import * as z from 'zod';
import { described, details, milliseconds, warnings } from '../request/fields.js';
import type { Route } from '../route.js';
import {
  exampleOf,
  type SchemaCollector,
  type HeaderObject,
  type Operation,
  type Reference,
  type ResponseObject,
} from './schemas.js';

interface Failure {
  name: string;
  code: string;
  description: string;
  message: string;
  details?: { path: string; message: string }[];
  headers?: string[];
}

/** The failures by HTTP status. */
const failures: Record<number, Failure> = {
  400: {
    name: 'InvalidRequest',
    code: 'INVALID_REQUEST',
    description:
      'A body, parameter or header is invalid, or the endpoint has no such query parameter; `error.details` names every wrong field.',
    message: 'The request is not valid; see details.',
    details: [{ path: 'targetAddress', message: 'The address must begin with https://.' }],
  },
  401: {
    name: 'Unauthorized',
    code: 'UNAUTHORIZED',
    description:
      'The key, the credentials or the token is missing, wrong, expired or revoked. The message says what is missing or malformed, never which part is wrong. Log in again.',
    message: 'The key or the token is not valid, or the token has expired: log in again.',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    code: 'FORBIDDEN',
    description:
      "The token is valid, but the key is another shipper's, the account is suspended, or a program's or the operator's token does not allow it. Or the request has the portal's cookie, but does not come from a page of the service.",
    message: 'The token does not belong to the account of this key.',
  },
  404: {
    name: 'NotFound',
    code: 'NOT_FOUND',
    description: 'It does not exist, or it belongs to another shipper.',
    message: 'This webhook was not found.',
  },
  405: {
    name: 'MethodNotAllowed',
    code: 'METHOD_NOT_ALLOWED',
    description: 'The path exists, but does not accept this method; `Allow` lists those that it accepts.',
    message: 'This endpoint accepts GET, POST, HEAD.',
    headers: ['Allow'],
  },
  409: {
    name: 'Conflict',
    code: 'CONFLICT',
    description: 'The request is valid, but conflicts with the current state.',
    message:
      'The idempotency key was used with another body in the last 24 hours: send that body again, or use a new key for this one.',
  },
  413: {
    name: 'PayloadTooLarge',
    code: 'PAYLOAD_TOO_LARGE',
    description: 'The body is larger than 256 KiB.',
    message: 'The body must have at most 262144 bytes.',
  },
  415: {
    name: 'UnsupportedMediaType',
    code: 'UNSUPPORTED_MEDIA_TYPE',
    description: 'The body is not `application/json`, not UTF-8, or compressed.',
    message: 'The body must be application/json in UTF-8, not compressed.',
  },
  429: {
    name: 'TooManyRequests',
    code: 'TOO_MANY_REQUESTS',
    description: 'Too many requests: wait as long as `Retry-After` says.',
    message: 'Too many requests.',
    headers: ['Retry-After'],
  },
  503: {
    name: 'Unavailable',
    code: 'UNAVAILABLE',
    description:
      'The database is out of reach; nothing was accepted, unless `message` says that the outcome is unknown. Send the request again after `Retry-After`, an order with its `Idempotency-Key`.',
    message: 'A dependency of the service is unavailable; nothing was accepted.',
    headers: ['Retry-After'],
  },
};

const unexpected: Failure = {
  name: 'Unexpected',
  code: 'INTERNAL',
  description: 'Any other failure, such as an internal error (500), has the same format.',
  message: 'Something went wrong on our side.',
};

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
export const responsesOf = (route: Route, schemas: SchemaCollector): Operation['responses'] => ({
  ...Object.fromEntries(
    Object.entries(route.responses).map(([httpStatus, data]) => [
      httpStatus,
      success(route, Number(httpStatus), data, schemas),
    ]),
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
  const takesBody = method !== 'get' && method !== 'delete';
  const namesThing = /:\w*Id\b/.test(path);
  const isOpen = auth === 'none';
  const checksCredentials = auth !== 'session' || takesBody; // without a session, the response is 200
  return [
    400, // also for requests with Parcelhook-Attempt
    ...(checksCredentials && !isOpen ? [401] : []),
    ...(isOpen ? [] : [403]),
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
