import express, { Router, type Request, type Response } from 'express';
import * as z from 'zod';
import { html as markup, toText } from '../../http/docs/pages.js';
import { parametersOf } from '../../http/openapi/document.js';
import { pageResponse, text } from '../../http/openapi/page-operations.js';
import { exampleOf, type Paths, type SchemaCollector } from '../../http/openapi/schemas.js';
import { addressOf } from '../../http/origin.js';
import { smallPage } from '../../http/pages.js';
import type { Database } from '../../platform/database/postgres.js';
import { methodNotAllowed } from '../../platform/errors.js';
import { createGate } from '../../platform/limits/gate.js';
import { sha256 } from '../credentials.js';
import { linkLookups, linkToken, notRead, unreadable } from '../password-page.js';
import { newSupportToken } from './sessions.js';
import { findSupportLink, openSupportLink } from './store.js';

const form = z.object({ token: linkToken }).meta({ id: 'SupportOpening' });

const lifetimeSeconds = 3_600;

const linkVoid = smallPage(
  'Link not valid',
  '<p>This link has already been used or has expired. Make a new one with <code>shipper portal-link</code>.</p>',
);

/** Opens a shipper's portal for the operator. Programs that follow links for a preview do not use it up: a button does. */
export function supportPage(
  db: Database,
  setCookie: (response: Response, session: string, lifetimeSeconds: number) => void,
): Router {
  const router = Router();
  const gate = createGate(linkLookups);
  const accountOf = async (given: unknown, request: Request) => {
    const token = linkToken.safeParse(given);
    if (!token.success) return null;
    const account = await gate.run(addressOf(request) ?? '', () => findSupportLink(db, sha256(token.data)));
    return account === null ? null : { token: token.data, account };
  };
  router.get('/support', async (request, response) => {
    const found = await accountOf(request.query.token, request);
    if (!found) return void response.status(404).send(linkVoid);
    response
      .set('Cache-Control', 'no-store')
      .send(smallPage('Open a portal', openingForm(found.token, found.account)));
  });
  router.post(
    '/support',
    express.urlencoded({ extended: false, limit: 4_096 }),
    express.json({ limit: 4_096 }),
    async (request, response) => {
      if (isOfOtherSite(request)) return void response.status(400).send(notRead);
      const found = await accountOf((request.body as Record<string, unknown> | undefined)?.token, request);
      const session = newSupportToken();
      const isOpened =
        found && (await openSupportLink(db, addressOf(request), sha256(found.token), sha256(session)));
      if (!isOpened) return void response.status(404).send(linkVoid);
      setCookie(response, session, lifetimeSeconds);
      response.set({ 'Cache-Control': 'no-store', Refresh: '0; url=/webhooks' }).send(portalIsOpen);
    },
  );
  router.use('/support', unreadable);
  router.all('/support', () => {
    throw methodNotAllowed('GET, HEAD, POST');
  });
  return router;
}

/** Another site could otherwise make a browser work in an account of its choice. */
const isOfOtherSite = (request: Request): boolean =>
  (request.get('Sec-Fetch-Site') ?? 'same-origin') !== 'same-origin';

const portalIsOpen = smallPage('The portal is open', '<p><a href="/webhooks">Go to it</a></p>');

/** The token consists of [A-Za-z0-9_-], so it needs no escaping. */
const openingForm = (token: string, account: string) => `
  ${toText(markup`<p>This opens the portal of ${account} for an hour, read-only. The audit log notes it, and the
    shipper sees it.</p>`)}
  <form method="post" action="/support">
    <input type="hidden" name="token" value="${token}">
    <button>Open the portal</button>
  </form>`;

const html = text('text/html');
const limited = {
  429: { $ref: '#/components/responses/TooManyRequests' },
  503: { $ref: '#/components/responses/Unavailable' },
};
const common = { tags: ['Operator'] as [string], security: [] };
const isVoid = pageResponse('The link has already been used or has expired.', html);

export function supportPaths(schemas: SchemaCollector): Paths {
  const schema = schemas.toJson(form, 'body');
  const body = { schema, example: exampleOf(schema, schemas.components) };
  return {
    '/support': {
      get: {
        ...common,
        operationId: 'showSupportForm',
        summary: "Show the page that opens a shipper's portal",
        description: 'The operator makes a link to it. A link is good for one use, within 15 minutes.',
        parameters: parametersOf(z.object({ token: linkToken }), 'query', schemas),
        responses: { 200: pageResponse('The form.', html), 404: isVoid, ...limited },
      },
      post: {
        ...common,
        operationId: 'openPortal',
        summary: "Open a shipper's portal, read-only",
        description:
          'Submits the form of the page, and uses up the link. Sets the cookie of a session that ends after an hour, in which every change is 403.',
        requestBody: {
          required: true,
          content: { 'application/x-www-form-urlencoded': body, 'application/json': body },
        },
        responses: {
          200: pageResponse('The portal is open; the page leads there.', html),
          400: pageResponse('The form could not be read, or another site sent it.', html),
          404: isVoid,
          413: {
            $ref: '#/components/responses/PayloadTooLarge',
            description: 'The body is larger than 4 KiB.',
          },
          ...limited,
        },
      },
    },
  };
}
