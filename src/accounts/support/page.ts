import type { Request, Response, Router } from 'express';
import * as z from 'zod';
import { html, toText } from '../../http/docs/pages.js';
import type { Paths, SchemaCollector } from '../../http/openapi/schemas.js';
import { addressOf } from '../../http/origin.js';
import type { Database } from '../../platform/database/postgres.js';
import { sha256 } from '../credentials.js';
import { formNotRead, linkPage, linkPaths, linkToken } from '../link-page.js';
import { newSupportToken } from './sessions.js';
import { findSupportLink, openSupportLink } from './store.js';

const path = '/support';
const form = z.object({ token: linkToken }).meta({ id: 'SupportOpening' });

const lifetimeSeconds = 3_600;

/** Opens a shipper's portal for the operator. */
export const supportPage = (
  db: Database,
  setCookie: (response: Response, session: string, lifetimeSeconds: number) => void,
): Router =>
  linkPage({
    path,
    title: 'Open a portal',
    another: 'Make a new one with <code>shipper portal-link</code>.',
    find: (tokenHash) => findSupportLink(db, tokenHash),
    about: (account) =>
      toText(
        html`<p class="long">
          This opens the portal of ${account} for an hour, read-only. The audit log notes it, and the shipper
          sees it.
        </p>`,
      ),
    button: 'Open the portal',
    submit: async (tokenHash, _account, { request, response }) => {
      if (isOfOtherSite(request)) return formNotRead;
      const session = newSupportToken();
      if (!(await openSupportLink(db, addressOf(request), tokenHash, sha256(session)))) return null;
      setCookie(response, session, lifetimeSeconds);
      response.set('Refresh', '0; url=/webhooks');
      return {
        title: 'The portal is open',
        body: '<p><a class="button primary" href="/webhooks">Go to it</a></p>',
      };
    },
  });

/** Another site could otherwise make a browser work in an account of its choice. */
const isOfOtherSite = (request: Request): boolean =>
  (request.get('Sec-Fetch-Site') ?? 'same-origin') !== 'same-origin';

export const supportPaths = (schemas: SchemaCollector): Paths =>
  linkPaths(schemas, {
    path,
    tag: 'Operator',
    form,
    show: {
      operationId: 'showSupportForm',
      summary: "Show the page that opens a shipper's portal",
      description: 'The operator makes a link to it. A link is good for one use, within 15 minutes.',
    },
    submit: {
      operationId: 'openPortal',
      summary: "Open a shipper's portal, read-only",
      description:
        'Submits the form of the page, and uses up the link. Sets the cookie of a session that ends after an hour, in which every change is 403.',
      done: 'The portal is open; the page leads there.',
      refused: 'The form could not be read, or another site sent it.',
    },
  });
