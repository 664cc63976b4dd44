import type { Request } from 'express';
import * as z from 'zod';
import { isoOffset } from '../../http/envelope.js';
import { described, instant, uuid } from '../../http/request/fields.js';
import { route, type Route } from '../../http/route.js';
import { csrfHeader } from '../../http/same-origin.js';
import type { Database } from '../../platform/database/postgres.js';
import { judgeBy, type PrincipalCache } from '../principal-cache.js';
import { endSession } from '../session-store.js';
import type { VerifiedClaims } from '../tokens.js';
import type { ShipperCredentials } from './authenticate.js';
import { toStoredEmail, type LogIn } from './log-in.js';

export interface SessionDependencies extends Pick<ShipperCredentials, 'sessions' | 'cookie'> {
  db: Database;
  logIn: LogIn;
  principals: PrincipalCache;
  features: { simulate: boolean; email: boolean };
}

const session = z
  .object({
    user: z.object({
      userId: uuid('Of the user who is logged in.'),
      email: described(z.string(), "The user's e-mail address.", 'user@example.com'),
    }),
    shipper: z.object({
      shipperId: uuid("Of the user's shipper."),
      name: described(z.string(), 'Its name.', 'Example Shop'),
    }),
    expiresAt: instant('When the session ends by itself.'),
    features: z.object({
      simulate: described(z.boolean(), 'Whether journeys of shipments can be simulated.', true),
      email: described(z.boolean(), 'Whether the service sends e-mails.', false),
    }),
  })
  .meta({ id: 'Session', description: 'The user who is logged in to the portal.' });

const text = (maxLength: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(maxLength, `must have at most ${maxLength.toLocaleString('en')} characters`);
const credentials = z
  .object({
    key: described(text(255), 'Account key.', 'ak_3q2-7wAAAAAAAAAAAAAAAAAAAAA'),
    email: described(text(1_000), "The user's e-mail address.", 'user@example.com'),
    password: described(text(1_000), "The user's password.", 'correct horse battery staple'),
  })
  .meta({ id: 'SessionCredentials' });

const site = described(
  z.literal('same-origin'),
  'Set by the browser: the request comes from a page of this service.',
  'same-origin',
);
const csrf = described(
  z.literal('1'),
  'Another site would have to ask the service before sending it, and is refused.',
  '1',
);
const reading = z.object({ 'Sec-Fetch-Site': site });
const writing = z.object({ 'Sec-Fetch-Site': site, [csrfHeader]: csrf });

const common = { path: '/v1/session', tag: 'Accounts', auth: 'session' } as const;

/** Contract, section 10. */
export function sessionRoutes(deps: SessionDependencies): Route[] {
  const { db, sessions, cookie, logIn, principals, features } = deps;
  const describe = (
    { userId, shipperId, expiresAtMs }: Pick<VerifiedClaims, 'userId' | 'shipperId' | 'expiresAtMs'>,
    email: string,
    name: string,
  ) => ({
    user: { userId, email },
    shipper: { shipperId, name },
    expiresAt: isoOffset(new Date(expiresAtMs)),
    features,
  });
  /** Null if it is absent, expired or ended. */
  const current = async (request: Request) => {
    const claims = await sessions.verify(cookie.read(request) ?? '');
    if (!claims) return null;
    const { verdict, principal } = await judgeBy(principals, claims, claims.accountKeyHash);
    return verdict === 'ENDED' ? null : { claims, principal: principal!, isGood: verdict === 'GOOD' };
  };
  const endCurrent = async (request: Request) => {
    const found = await current(request);
    if (!found) return;
    const { userId, sessionId, expiresAtMs } = found.claims;
    await endSession(db, { userId, sessionId: sessionId!, expiresAt: new Date(expiresAtMs) });
    principals.clear();
  };

  return [
    route({
      ...common,
      method: 'get',
      summary: 'Show who is logged in to the portal',
      operationId: 'getSession',
      description:
        '`data` is null without a session, if it has expired or ended, and while its shipper is suspended.',
      responses: { 200: session },
      orNull: true,
      headers: reading,
      handle: async (_request, { request }) => {
        const found = await current(request);
        if (!found?.isGood) return { data: null };
        const { claims, principal } = found;
        return { data: describe(claims, principal.email, principal.shipperName) };
      },
    }),
    route({
      ...common,
      method: 'post',
      summary: 'Log in to the portal',
      operationId: 'createSession',
      description:
        'For the pages of the portal. It sets a cookie that lasts as long as an access token, ends the session of the cookie that it replaces, and has the limits of login.',
      responses: { 201: session },
      slowByDesign: true,
      headers: writing,
      body: credentials,
      handle: async ({ body }, { request, response }) => {
        const { key: accountKey, email: given, password } = body;
        const email = toStoredEmail(given);
        // Not Basic: a browser would ask for a password itself.
        const { user, claims } = await logIn(request, { accountKey, email, password }, 'Bearer');
        await endCurrent(request); // its cookie is replaced, so nobody could log it out any more
        const token = await sessions.issue(claims);
        const { expiresAtMs } = (await sessions.verify(token))!;
        cookie.set(response, token, sessions.lifetimeSeconds);
        return { httpStatus: 201, data: describe({ ...claims, expiresAtMs }, email, user.shipperName) };
      },
    }),
    route({
      ...common,
      method: 'delete',
      summary: 'Log out of the portal',
      operationId: 'deleteSession',
      description:
        'Ends this session within ten seconds, wherever its cookie is; other sessions and tokens go on. Without a session nothing happens.',
      responses: { 200: session },
      orNull: true,
      headers: writing,
      handle: async (_request, { request, response }) => {
        await endCurrent(request);
        cookie.clear(response);
        return { data: null };
      },
    }),
  ];
}
