import { suspended, unauthorized } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { createAccountCache } from '../principal-cache.js';
import { newLinkToken, sha256 } from '../credentials.js';
import { readSupportSessions, type SupportSession, findSupportLink, openSupportLink } from './store.js';
import type { Request, Response, Router } from 'express';
import * as z from 'zod';
import { html, toText } from '../../http/docs/pages.js';
import type { Paths, SchemaCollector } from '../../http/openapi/schemas.js';
import { addressOf } from '../../http/origin.js';
import { formNotRead, linkPage, linkPaths, linkToken } from '../link-page.js';

export type SupportSessions = ReturnType<typeof createSupportSessions>;

/** No token of a user begins so. */
const prefix = 'support_';

const newSupportToken = (): string => prefix + newLinkToken(undefined);

export const isSupportToken = (text: string): boolean => text.startsWith(prefix);

/** The operator's sessions in portals of shippers. */
export function createSupportSessions(db: Database) {
  const sessions = createAccountCache((hashes) => readSupportSessions(db, hashes));
  /** Null if it has ended. */
  const find = async (token: string): Promise<SupportSession | null> => {
    const session = await sessions.get(sha256(token).toString('hex'));
    return session && session.shipperStatus !== 'REMOVED' && session.endsAt.getTime() > Date.now()
      ? session
      : null;
  };
  return {
    find,
    /** As of at most eight seconds ago. 401: it has ended; 403: the shipper is suspended. */
    authenticate: async (token: string): Promise<SupportSession> => {
      const session = await find(token);
      if (!session) throw unauthorized();
      if (session.shipperStatus === 'SUSPENDED') throw suspended();
      return session;
    },
    /** Call it after each change of an account by this process. */
    clear: sessions.clear,
  };
}

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
