import * as z from 'zod';
import { described } from '../described.js';
import { headerRefs } from './responses.js';
import { exampleOf, type SchemaCollector } from './schemas.js';
import type { Content, Paths, ResponseObject } from './types.js';

const health = z
  .object({ status: described(z.literal('OK'), 'The process lives.') })
  .meta({ id: 'Health', description: 'The process answers.' });

const readiness = z
  .object({
    status: described(z.enum(['OK', 'UNAVAILABLE']), 'Whether work should be sent here.'),
    checks: described(
      z.record(z.string(), z.string()),
      '`OK` by part, or that the part cannot be used; the reason is given if the request has an operator token that may read. A part may be away without making the process unready.',
      { postgres: 'OK', queue: 'OK' },
    ),
  })
  .meta({ id: 'Readiness', description: 'What the process needs, as it was within the last second.' });

/** A page's answer: not in the envelope. */
export const pageAnswer = (description: string, content?: Content): ResponseObject => ({
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
    '/healthz': {
      get: {
        ...common,
        operationId: 'getHealth',
        summary: 'Does the process live?',
        description: 'Answers at once and looks at nothing else: for restarting what hangs.',
        responses: { 200: pageAnswer('It does.', json(health)) },
      },
    },
    '/readyz': {
      get: {
        ...common,
        operationId: 'getReadiness',
        summary: 'Can work be sent here?',
        description:
          'Checks PostgreSQL and the queue, each within 1.5 s and at most once a second. For load balancers.',
        responses: {
          200: pageAnswer('Yes.', json(readiness)),
          503: pageAnswer(
            'Not now.',
            json(readiness, { status: 'UNAVAILABLE', checks: { postgres: 'PostgreSQL cannot be used' } }),
          ),
        },
      },
    },
  };
}

/** `/metrics`, where it is served on this port. */
export const metricsPaths: Paths = {
  '/metrics': {
    get: {
      ...common,
      operationId: 'getMetrics',
      summary: 'Metrics for Prometheus',
      description: 'In the text format of Prometheus; every name begins with `parcelhook_`.',
      responses: { 200: pageAnswer('All metrics of this process.', text('text/plain')) },
    },
  },
};

const document: Content = { 'application/json': { schema: { type: 'object' } } };

/** The documents themselves. */
export const documentPaths: Paths = {
  '/openapi.json': {
    get: {
      ...common,
      operationId: 'getOpenApiDocument',
      summary: 'This API as an OpenAPI 3.1 document',
      description: 'Made from the schemas that validate. Bears an `ETag`.',
      responses: {
        200: pageAnswer('The document.', document),
        304: pageAnswer('The document that `If-None-Match` names is still the newest.'),
      },
    },
  },
  '/asyncapi.json': {
    get: {
      ...common,
      operationId: 'getAsyncApiDocument',
      summary: 'The notifications as an AsyncAPI 3.0 document',
      description: 'What is sent to webhooks, made from the schemas of what is sent. Bears an `ETag`.',
      responses: {
        200: pageAnswer('The document.', document),
        304: pageAnswer('The document that `If-None-Match` names is still the newest.'),
      },
    },
  },
  '/docs': {
    get: {
      ...common,
      operationId: 'getDocs',
      summary: 'This API as a page for people',
      description: 'The same document. One page that loads nothing from elsewhere and runs no script.',
      responses: {
        200: pageAnswer('The page.', text('text/html')),
        304: pageAnswer('The page that `If-None-Match` names is still the newest.'),
      },
    },
  },
};
