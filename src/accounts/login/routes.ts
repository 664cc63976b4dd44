import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { described, instant, uuid } from '../../http/request/fields.js';
import { route, type Route, isoOffset } from '../../http/route.js';
import { unauthorized, suspended } from '../../platform/errors.js';
import type { Tokens, VerifiedClaims, TokenClaims } from '../tokens.js';
import {
  keyAndCredentials,
  malformed,
  slide,
  supportTokenIn,
  type ShipperCredentials,
} from './authenticate.js';
import type { Request } from 'express';
import { csrfHeader, addressOf } from '../../http/origin.js';
import type { Database } from '../../platform/database/postgres.js';
import { judgeBy, type PrincipalCache } from '../principal-cache.js';
import { endSupportSession, lastSupportOf, type SupportSession } from '../support/store.js';
import { endSession, findUserByLogin, rememberOrigin, type User } from '../users.js';
import type { Actor, Refusals } from '../audit.js';
import { sha256, verifyPassword } from '../credentials.js';
import type { LoginLimits } from './limits.js';
import { beginSession } from './sessions.js';

interface Credentials {
  /** The hash of the account key. */
  keyHash: Buffer;
  email: string;
  password: string;
}

interface LoggedIn {
  user: User;
  claims: TokenClaims;
}

/**
 * Returns null if a credential is wrong, and logs the refusal under `actor`. Throws 403 if the shipper is suspended, 429
 * beyond the limits.
 */
export type LogIn = (request: Request, credentials: Credentials, actor?: Actor) => Promise<LoggedIn | null>;

const wrong = 'The key, the e-mail address or the password is wrong.';

/**
 * Specification, Authentication. With a known key exactly one hash is verified, whatever is wrong, so that the time
 * reveals nothing; with an unknown key none. Only right credentials reveal that a shipper is suspended.
 */
export const createLogIn =
  (db: Database, limits: LoginLimits, refusals: Pick<Refusals, 'note'>): LogIn =>
  async (request, { keyHash, email, password }, actor) => {
    const accountKeyHash = keyHash.toString('base64url');
    let known: User | null = null;
    const user = await limits.attempt(
      { keyHash: accountKeyHash, email, ip: request.ip ?? '' },
      {
        find: async (origin) => {
          const found = await findUserByLogin(db, keyHash, email, origin);
          known = found?.user ?? null;
          return found;
        },
        verify: (found: User | null) => verifyPassword(found?.passwordHash ?? null, password),
        remember: ({ userId }, origin) => rememberOrigin(db, userId, origin),
      },
    );
    if (!user) {
      const { shipperId = null, userId = null } = (known as User | null) ?? {};
      const stranger: Actor = { kind: 'UNKNOWN', name: null, address: addressOf(request) };
      refusals.note(actor ?? stranger, { action: 'LOGIN_REFUSED', shipperId, userId });
      return null;
    }
    if (user.shipperStatus === 'SUSPENDED') throw suspended();
    const { userId, shipperId, userEpoch, shipperEpoch } = user;
    return { user, claims: { userId, shipperId, accountKeyHash, userEpoch, shipperEpoch } };
  };

const toStoredEmail = (email: string): string => email.trim().toLowerCase();

/** RFC 7617: the password may have colons, the e-mail may not. Clients that ignore our `charset` send Latin-1. */
function parseCredentials(encoded: string): { email: string; password: string } {
  const bytes = Buffer.from(encoded, 'base64');
  const decoded = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  const colon = decoded.indexOf(':');
  if (colon < 1 || decoded.includes('\0')) throw unauthorized('Basic', malformed('Basic'));
  return { email: toStoredEmail(decoded.slice(0, colon)), password: decoded.slice(colon + 1) };
}

const accessToken = z
  .object({
    token: described(
      z.string(),
      'Access token. Send it as `Authorization: Bearer <token>`.',
      'eyJhbGciOiJIUzI1NiJ9.e30.c2ln',
    ),
    expiresIn: described(z.string().regex(/^\d+$/), 'Lifetime of the token in seconds.', '3600'),
  })
  .meta({ id: 'AccessToken', description: 'A token and its lifetime.' });

export function loginRoute(logIn: LogIn, tokens: Tokens): Route {
  return route({
    method: 'get',
    path: '/v1/login',
    summary: 'Get an access token',
    operationId: 'login',
    tag: 'Accounts',
    description: 'Takes the e-mail address and password as Basic credentials. A body is ignored.',
    responses: { 200: accessToken },
    auth: 'login',
    slowByDesign: true,
    handle: async (_request, { request }) => {
      const { accountKey, credentials } = keyAndCredentials(request, 'Basic');
      const given = { keyHash: sha256(accountKey), ...parseCredentials(credentials) };
      const loggedIn = await logIn(request, given);
      if (!loggedIn) throw unauthorized('Basic', wrong);
      const token = await tokens.issue(loggedIn.claims);
      return { data: { token, expiresIn: String(tokens.lifetimeSeconds) } };
    },
  });
}

interface SessionDependencies extends Omit<ShipperCredentials, 'tokens'> {
  db: Database;
  logIn: LogIn;
  principals: PrincipalCache;
  features: { simulate: boolean; email: boolean };
}

const session = z
  .object({
    user: z
      .object({
        userId: uuid('Identifier of the user.'),
        email: described(z.string(), "The user's e-mail address.", 'you@example.com'),
      })
      .nullable()
      .describe("The user who is logged in; null in the operator's session."),
    shipper: z.object({
      shipperId: uuid('Identifier of the shipper.'),
      name: described(z.string(), 'Name of the shipper.', 'Acme'),
    }),
    startedAt: instant('When the user logged in, or the operator opened the portal.'),
    expiresAt: instant('When the session ends unless it is used.', '2026-11-21T13:00:00+00:00'),
    lastsUntil: instant('When it ends at the latest, used or not.', '2026-11-22T12:00:00+00:00'),
    features: z.object({
      simulate: described(z.boolean(), 'Whether journeys of shipments can be simulated.', true),
      email: described(z.boolean(), 'Whether the service sends e-mails.', false),
    }),
    readOnly: described(
      z.boolean(),
      "True if the session is the operator's, opened by a link: `user` is null, and every change is 403. Absent otherwise.",
      false,
    ).optional(),
    supportOpenedAt: instant(
      'When the operator last opened this portal, read-only. Absent if that was not in the last 30 days.',
    ).optional(),
  })
  .meta({ id: 'Session', description: 'The user who is logged in to the portal.' });

const ended = z.object({}).meta({ description: 'The session has ended, or there was none.' });

const text = (maxLength: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(maxLength, `must have at most ${maxLength.toLocaleString('en')} characters`);
export const credentials = z
  .object({
    key: described(text(255), 'Account key.', 'ak_AAECAwQFBgcICQoLDA0ODxAREhM'),
    email: described(text(1_000), "The user's e-mail address.", 'you@example.com'),
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
  'Proves that a page of this service sends the request: other sites cannot set this header.',
  '1',
);
const reading = z.object({ 'Sec-Fetch-Site': site });
const writing = z.object({ 'Sec-Fetch-Site': site, [csrfHeader]: csrf });

const common = { path: '/v1/session', tag: 'Accounts', auth: 'session' } as const;

export function sessionRoutes(deps: SessionDependencies): Route[] {
  const { db, sessions, cookie, supports, logIn, principals, features } = deps;
  const describe = (
    { userId, shipperId, session, expiresAtMs }: VerifiedClaims,
    email: string,
    name: string,
  ) => ({
    user: { userId, email },
    shipper: { shipperId, name },
    startedAt: isoOffset(new Date(session!.startedAtMs)),
    expiresAt: isoOffset(new Date(expiresAtMs)),
    lastsUntil: isoOffset(new Date(session!.lastsUntilMs)),
    features,
  });
  const describeSupport = (found: SupportSession | null) =>
    found?.shipperStatus === 'ACTIVE'
      ? {
          user: null,
          shipper: { shipperId: found.shipperId, name: found.shipperName },
          startedAt: isoOffset(found.openedAt),
          expiresAt: isoOffset(found.endsAt),
          lastsUntil: isoOffset(found.endsAt),
          features,
          readOnly: true,
        }
      : null;
  const current = async (request: Request) => {
    const claims = await sessions.verify(cookie.read(request) ?? '');
    if (!claims) return null;
    const { verdict, principal } = await judgeBy(principals, claims, claims.accountKeyHash);
    return verdict === 'ENDED' ? null : { claims, principal: principal!, isGood: verdict === 'GOOD' };
  };
  const endCurrent = async (request: Request) => {
    const support = supportTokenIn(request, cookie);
    if (support !== null) {
      await endSupportSession(db, sha256(support));
      return supports.clear();
    }
    const found = await current(request);
    if (!found) return;
    const { userId, session } = found.claims;
    const { sessionId, lastsUntilMs } = session!; // a renewed copy of the cookie may expire as late as that
    await endSession(db, { userId, sessionId, expiresAt: new Date(lastsUntilMs) });
    principals.clear();
  };

  return [
    route({
      ...common,
      method: 'get',
      summary: 'Show who is logged in to the portal',
      operationId: 'getSession',
      description:
        '`data` is null if there is no session, if it has expired or ended, and while its shipper is suspended.',
      responses: { 200: session },
      orNull: true,
      headers: reading,
      handle: async (_request, { request, response }) => {
        const support = supportTokenIn(request, cookie);
        if (support !== null) return { data: describeSupport(await supports.find(support)) };
        const found = await current(request);
        if (!found?.isGood) return { data: null };
        const { claims, principal } = found;
        const openedAt = await lastSupportOf(db, claims.shipperId);
        const expiresAtMs = await slide(deps, principals, response, claims);
        return {
          data: {
            ...describe({ ...claims, expiresAtMs }, principal.email, principal.shipperName),
            ...(openedAt && { supportOpenedAt: isoOffset(openedAt) }),
          },
        };
      },
    }),
    route({
      ...common,
      method: 'post',
      summary: 'Log in to the portal',
      operationId: 'createSession',
      description:
        'For the pages of the portal. Sets a cookie that lasts as long as an access token; while it is used, successful responses renew it, up to a day from the log-in. Ends the session of the cookie that it replaces. The limits of login apply.',
      responses: { 201: session },
      slowByDesign: true,
      headers: writing,
      body: credentials,
      handle: async ({ body }, { request, response }) => {
        const { key, password } = body;
        const email = toStoredEmail(body.email);
        const loggedIn = await logIn(request, { keyHash: sha256(key), email, password });
        if (!loggedIn) throw unauthorized('Bearer', wrong); // with Basic, a browser would ask for a password itself
        const { user, claims } = loggedIn;
        await endCurrent(request); // its cookie is replaced, so nobody could log it out any more
        const verified = await beginSession(deps, request, response, claims);
        return { httpStatus: 201, data: describe(verified, email, user.shipperName) };
      },
    }),
    route({
      ...common,
      method: 'delete',
      summary: 'Log out of the portal',
      operationId: 'deleteSession',
      description:
        'Ends this session on every process within 10 seconds; copies of its cookie become invalid, too. Other sessions and tokens stay valid. Without a session nothing happens.',
      responses: { 200: ended },
      headers: writing,
      handle: async (_request, { request, response }) => {
        await endCurrent(request);
        cookie.clear(response);
        return { data: {} };
      },
    }),
  ];
}
