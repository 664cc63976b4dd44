import express, { Router, type Request } from 'express';
import * as z from 'zod';
import { linkTokenPattern, sha256 } from '../../accounts/credentials.js';
import { unreadable } from '../../accounts/password-page.js';
import { html as markup, toText } from '../../http/docs/pages.js';
import { parametersOf } from '../../http/openapi/document.js';
import { pageResponse, text } from '../../http/openapi/page-operations.js';
import { exampleOf, type Paths, type SchemaCollector } from '../../http/openapi/schemas.js';
import { addressOf } from '../../http/origin.js';
import { smallPage } from '../../http/pages.js';
import { described } from '../../http/request/fields.js';
import type { Database } from '../../platform/database/postgres.js';
import { methodNotAllowed } from '../../platform/errors.js';
import { createGate } from '../../platform/limits/gate.js';
import { confirmAddress, findAskedAddress, type AskedAddress } from './addresses.js';

const form = z
  .object({
    token: described(
      z.string().regex(linkTokenPattern),
      'Token of the link.',
      'Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms',
    ),
  })
  .meta({ id: 'AddressConfirmation' });

const path = '/confirm-address';
/** The page is public: lookups of links must not starve other database work. */
const lookups = { concurrency: 2, maxWaiting: 100, maxWaitMs: 1_000 };
const linkVoid = smallPage(
  'Link not valid',
  '<p>This link has already been used or has expired. Who entered the address can ask for a new one.</p>',
);

/** A button confirms, not the link: programs that check mails open their links. */
export function confirmPage(db: Database): Router {
  const gate = createGate(lookups);
  const router = Router();
  const run = <T>(
    request: Request,
    task: (tokenHash: Buffer) => Promise<T>,
    given: unknown,
  ): Promise<T | null> => {
    const parsed = form.safeParse(given ?? {});
    if (!parsed.success) return Promise.resolve(null);
    return gate.run(addressOf(request) ?? '', () => task(sha256(parsed.data.token)));
  };
  router.get(path, async (request, response) => {
    const asked = await run(request, (tokenHash) => findAskedAddress(db, tokenHash), request.query);
    if (!asked) return void response.status(404).send(linkVoid);
    response
      .set('Cache-Control', 'no-store')
      .send(smallPage('Confirm your address', confirmForm(request.query.token as string, asked)));
  });
  router.post(
    path,
    express.urlencoded({ extended: false, limit: 4_096 }),
    express.json({ limit: 4_096 }),
    async (request, response) => {
      const confirmed = await run(request, (tokenHash) => confirmAddress(db, tokenHash), request.body);
      if (!confirmed) return void response.status(404).send(linkVoid);
      response
        .set('Cache-Control', 'no-store')
        .send(smallPage('Address confirmed', '<p>Messages about the webhook will be sent to it.</p>'));
    },
  );
  router.use(path, unreadable);
  router.all(path, () => {
    throw methodNotAllowed('GET, HEAD, POST');
  });
  return router;
}

/** The token consists of [A-Za-z0-9_-], so it needs no escaping. */
const confirmForm = (token: string, { email, account }: AskedAddress) => `
  ${toText(markup`<p>The Parcelhook account ${account} asks to have messages about its webhooks sent to ${email}.</p>`)}
  <form method="post" action="${path}">
    <input type="hidden" name="token" value="${token}">
    <button>Confirm the address</button>
  </form>`;

const html = text('text/html');
const common = { tags: ['Webhooks'] as [string], security: [] };
const failures = {
  404: pageResponse('The link has already been used or has expired.', html),
  429: { $ref: '#/components/responses/TooManyRequests' },
  503: { $ref: '#/components/responses/Unavailable' },
};

export function confirmPaths(schemas: SchemaCollector): Paths {
  const schema = schemas.toJson(form, 'body');
  const body = { schema, example: exampleOf(schema, schemas.components) };
  return {
    [path]: {
      get: {
        ...common,
        operationId: 'showConfirmationForm',
        summary: 'Show the page for confirming an address',
        description: 'A link to it is mailed to each `notifyEmail` that is no user’s of the shipper.',
        parameters: parametersOf(form, 'query', schemas),
        responses: { 200: pageResponse('The form.', html), ...failures },
      },
      post: {
        ...common,
        operationId: 'confirmAddress',
        summary: 'Confirm an address',
        description: 'Submits the form of the page, and uses up the link.',
        requestBody: {
          required: true,
          content: { 'application/x-www-form-urlencoded': body, 'application/json': body },
        },
        responses: {
          200: pageResponse('The address is confirmed.', html),
          400: pageResponse('The form could not be read.', html),
          413: {
            $ref: '#/components/responses/PayloadTooLarge',
            description: 'The body is larger than 4 KiB.',
          },
          ...failures,
        },
      },
    },
  };
}
