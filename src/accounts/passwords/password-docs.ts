import * as z from 'zod';
import { parametersOf } from '../../http/openapi/operation.js';
import { pageAnswer, text } from '../../http/openapi/pages.js';
import { exampleOf, type SchemaCollector } from '../../http/openapi/schemas.js';
import type { Paths } from '../../http/openapi/types.js';
import { form, linkToken } from './password-page.js';

const html = text('text/html');
const unavailable = { $ref: '#/components/responses/Unavailable' };
const tooManyRequests = { $ref: '#/components/responses/TooManyRequests' };
const common = { tags: ['Accounts'] as [string], security: [] };

/** `/set-password`, the page behind a password link. */
export function passwordPaths(schemas: SchemaCollector): Paths {
  const schema = schemas.toJson(form, 'body');
  const body = { schema, example: exampleOf(schema, schemas.components) };
  return {
    '/set-password': {
      get: {
        ...common,
        operationId: 'showPasswordForm',
        summary: 'The page at which a user sets a password',
        description:
          'The address is in the link that the operator makes; it is good for one use and 24 hours.',
        parameters: parametersOf(z.object({ token: linkToken }), 'query', schemas),
        responses: {
          200: pageAnswer('A form.', html),
          404: pageAnswer('The link was used already or has expired.', html),
          429: tooManyRequests,
          503: unavailable,
        },
      },
      post: {
        ...common,
        operationId: 'setPassword',
        summary: 'Set a password',
        description: 'What the form of the page sends; uses up the link.',
        requestBody: {
          required: true,
          content: { 'application/x-www-form-urlencoded': body, 'application/json': body },
        },
        responses: {
          200: pageAnswer('The password is set.', html),
          400: pageAnswer('The password is too short or too long; the form again.', html),
          404: pageAnswer('The link was used already or has expired.', html),
          413: {
            $ref: '#/components/responses/PayloadTooLarge',
            description: 'The body has more than 4 KiB.',
          },
          429: tooManyRequests,
          503: unavailable,
        },
      },
    },
  };
}
