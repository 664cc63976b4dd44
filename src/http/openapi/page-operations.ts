import * as z from 'zod';
import { described } from '../request/fields.js';
import { headerRefs } from './responses.js';
import {
  exampleOf,
  type SchemaCollector,
  type Content,
  type Operation,
  type Paths,
  type ResponseObject,
} from './schemas.js';

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

/** A response without the envelope. */
export const pageResponse = (description: string, content?: Content): ResponseObject => ({
  description,
  headers: headerRefs(['X-Request-Id']),
  ...(content && { content }),
});

export const text = (type: string): Content => ({ [type]: { schema: { type: 'string' } } });

const common = { tags: ['Health'] as [string], security: [] };

/** `/healthz` and `/readyz` */
export function healthPaths(schemas: SchemaCollector): Paths {
  const json = (schema: z.ZodType, changes: object = {}): Content => {
    const converted = schemas.toJson(schema, 'output');
    const example = { ...(exampleOf(converted, schemas.components) as object), ...changes };
    return { 'application/json': { schema: converted, example } };
  };
  return {
    '/healthz': reading(
      {
        operationId: 'getHealth',
        summary: 'Is the process alive?',
        description: 'Responds at once and checks nothing. Use it to restart a process that hangs.',
      },
      { 200: pageResponse('The process is alive.', json(health)) },
    ),
    '/readyz': reading(
      {
        operationId: 'getReadiness',
        summary: 'Is the process ready for work?',
        description:
          'Checks PostgreSQL and the queue, each within 1.5 s and at most once a second. For load balancers.',
      },
      {
        200: pageResponse('The process is ready.', json(readiness)),
        503: pageResponse(
          'The process is not ready.',
          json(readiness, {
            status: 'UNAVAILABLE',
            checks: { postgres: 'PostgreSQL cannot be used', queue: 'OK' },
          }),
        ),
      },
    ),
  };
}

type About = Pick<Operation, 'operationId' | 'summary' | 'description' | 'parameters'>;

const reading = (about: About, responses: Operation['responses']): Paths[string] => ({
  get: { ...common, ...about, responses },
});

/** `/metrics`, where it is served on this port. */
export const metricsPaths: Paths = {
  '/metrics': reading(
    {
      operationId: 'getMetrics',
      summary: 'Metrics for Prometheus',
      description: 'In the text format of Prometheus; every name begins with `parcelhook_`.',
    },
    { 200: pageResponse('All metrics of this process.', text('text/plain')) },
  ),
};

const docPage = (about: About): Paths[string] =>
  reading(about, {
    200: pageResponse('The page.', text('text/html')),
    304: pageResponse('The page that `If-None-Match` names is current.'),
  });

export const documentPaths: Paths = {
  '/openapi.json': reading(
    {
      operationId: 'getOpenApiDocument',
      summary: 'This API as an OpenAPI 3.1 document',
      description: 'Generated from the schemas that validate requests. Has an `ETag`.',
    },
    {
      200: pageResponse('The document.', { 'application/json': { schema: { type: 'object' } } }),
      304: pageResponse('The document that `If-None-Match` names is current.'),
    },
  ),
  '/docs': docPage({
    operationId: 'getDocs',
    summary: 'The reference of the API as a web page',
    description: 'This document, rendered in the browser: all operations and notifications, with a search.',
  }),
  '/docs/api': docPage({
    operationId: 'getApiGuide',
    summary: 'How the API behaves',
    description: 'A page for people who place orders and register webhooks.',
  }),
  '/docs/receiving': docPage({
    operationId: 'getReceiving',
    summary: 'How to receive notifications',
    description:
      'A page for people who write a receiver: verify, respond fast, handle each event once and in order, catch up.',
  }),
  '/docs/runbook': docPage({
    operationId: 'getRunbook',
    summary: 'What to do when an alert fires',
    description: 'The runbook of this version. Each alert links to its section.',
  }),
  '/docs/search': reading(
    {
      operationId: 'searchDocs',
      summary: 'A search over all pages of the documentation',
      description: 'Finds the sections and operations that have every word of `q`.',
      parameters: [
        {
          name: 'q',
          in: 'query',
          required: false,
          description: 'Words, in any case of letters.',
          schema: { type: 'string' },
        },
      ],
    },
    { 200: pageResponse('The results as a page.', text('text/html')) },
  ),
};
