import * as z from 'zod';
import { described } from '../request/fields.js';
import { headerRefs } from './responses.js';
import { exampleOf, type SchemaCollector } from './schemas.js';
import type { Content, Paths, ResponseObject } from './types.js';

const health = z
  .object({ status: described(z.literal('OK'), 'The process is alive.') })
  .meta({ id: 'Health', description: 'The process is alive.' });

const readiness = z
  .object({
    status: described(z.enum(['OK', 'UNAVAILABLE']), 'Whether the process is ready for work.'),
    checks: described(
      z.record(z.string(), z.string()),
      '`OK` or the failure of each dependency, with the reason if the request has an operator token that may read. Some dependencies may fail without making the process unready.',
      { postgres: 'OK', queue: 'OK' },
    ),
  })
  .meta({ id: 'Readiness', description: 'The dependencies of the process, as of the last second.' });

export const pageResponse = (description: string, content?: Content): ResponseObject => ({
  description,
  headers: headerRefs(['X-Request-Id']),
  ...(content && { content }),
});

export const text = (type: string): Content => ({ [type]: { schema: { type: 'string' } } });

const common = { tags: ['Health'] as [string], security: [] };

export function healthPaths(schemas: SchemaCollector): Paths {
  const json = (schema: z.ZodType, changes: object = {}): Content => {
    const converted = schemas.toJson(schema, 'output');
    const example = { ...(exampleOf(converted, schemas.components) as object), ...changes };
    return { 'application/json': { schema: converted, example } };
  };
  return {
    '/healthz': {
      get: {
        ...common,
        operationId: 'getHealth',
        summary: 'Is the process alive?',
        description: 'Responds at once and checks nothing. Use it to restart a process that hangs.',
        responses: { 200: pageResponse('The process is alive.', json(health)) },
      },
    },
    '/readyz': {
      get: {
        ...common,
        operationId: 'getReadiness',
        summary: 'Is the process ready for work?',
        description:
          'Checks PostgreSQL and the queue, each within 1.5 s and at most once a second. For load balancers.',
        responses: {
          200: pageResponse('The process is ready.', json(readiness)),
          503: pageResponse(
            'The process is not ready.',
            json(readiness, {
              status: 'UNAVAILABLE',
              checks: { postgres: 'PostgreSQL cannot be used', queue: 'OK' },
            }),
          ),
        },
      },
    },
  };
}

export const metricsPaths: Paths = {
  '/metrics': {
    get: {
      ...common,
      operationId: 'getMetrics',
      summary: 'Metrics for Prometheus',
      description: 'In the text format of Prometheus; every name begins with `parcelhook_`.',
      responses: { 200: pageResponse('All metrics of this process.', text('text/plain')) },
    },
  },
};

const json: Content = { 'application/json': { schema: { type: 'object' } } };
const page = text('text/html');

const documentPath = (operationId: string, summary: string, description: string, content: Content) => ({
  get: {
    ...common,
    operationId,
    summary,
    description,
    responses: {
      200: pageResponse('The document.', content),
      304: pageResponse('The document that `If-None-Match` names is current.'),
    },
  },
});

export const documentPaths: Paths = {
  '/openapi.json': documentPath(
    'getOpenApiDocument',
    'This API as an OpenAPI 3.1 document',
    'Generated from the schemas that validate requests. Has an `ETag`.',
    json,
  ),
  '/asyncapi.json': documentPath(
    'getAsyncApiDocument',
    'The notifications as an AsyncAPI 3.0 document',
    'What is sent to webhooks, generated from the schemas of the notifications. Has an `ETag`.',
    json,
  ),
  '/docs': documentPath(
    'getDocs',
    'The API for shippers as a web page',
    'The operations for shippers, the states, the notifications and how to verify them, from the same document. The page loads nothing. Its own script only searches it, and the page works without that.',
    page,
  ),
  '/docs/operator': documentPath(
    'getOperatorDocs',
    "The operator's API as a web page",
    "The operator's operations and the health of the process, from the same document.",
    page,
  ),
  '/docs/receiving': documentPath(
    'getReceiving',
    'How to receive notifications',
    'A page for people who write a receiver: verify, respond fast, handle each event once and in order, catch up.',
    page,
  ),
  '/docs/runbook': documentPath(
    'getRunbook',
    'What to do when an alert fires',
    'The runbook of this version. Each alert links to its section.',
    page,
  ),
};
