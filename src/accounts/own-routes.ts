import type { Request } from 'express';
import * as z from 'zod';
import { described, idInPath, instant, uuid } from '../http/request/fields.js';
import { pageOf, paging } from '../http/request/paging.js';
import { isoOffset, route, type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { invalidRequest, notFound, unauthorized } from '../platform/errors.js';
import { actorOf, audited, listAudit } from './audit.js';
import { hashing, hashingKinds, hashPassword, sha256 } from './credentials.js';
import { sessionIn, type ShipperCredentials } from './login/authenticate.js';
import { credentials, type LogIn } from './login/routes.js';
import { beginSession, endListedSession, listSessions, type ListedSession } from './login/sessions.js';
import { password } from './password-page.js';
import type { PrincipalCache } from './principal-cache.js';
import { auditList, userList, viewOwnAudit, viewUser } from './responses.js';
import { changePassword, listUsers, signOut } from './users.js';

interface OwnDependencies extends Pick<ShipperCredentials, 'sessions' | 'cookie'> {
  db: Database;
  logIn: LogIn;
  principals: PrincipalCache;
}

const newPassword = z
  .object({ currentPassword: credentials.shape.password, newPassword: password })
  .meta({ id: 'PasswordChange' });

const isSet = z
  .object({})
  .meta({ description: 'The password is set. The session that asked for it goes on, with another cookie.' });

const areEnded = z.object({}).meta({ description: 'All sessions and access tokens of the user have ended.' });

const isEnded = z.object({}).meta({ description: 'The session has ended.' });

const listedSession = z
  .object({
    sessionId: uuid('Identifier of the session.'),
    browser: described(z.string(), 'The browser that logged in, as it says.', 'Chrome on Linux'),
    startedAt: instant('When the user logged in.'),
    lastUsedAt: instant('When it was last used, to some minutes.'),
    isCurrent: described(z.boolean(), 'Whether it is the one that asks.', true),
  })
  .meta({ id: 'ListedSession', description: 'A session of the user in the portal.' });

const viewSession = ({ sessionId, browser, startedAt, lastUsedAt }: ListedSession, currentId?: string) => ({
  sessionId,
  browser,
  startedAt: isoOffset(startedAt),
  lastUsedAt: isoOffset(lastUsedAt),
  isCurrent: sessionId === currentId,
});

const common = { tag: 'Accounts' } as const;

/** The shipper's own account: users, audit log, the caller's password and sessions. */
export function ownAccountRoutes(deps: OwnDependencies): Route[] {
  const { db, logIn, principals, ...access } = deps;
  const keyHashIn = async (request: Request): Promise<Buffer> => {
    const session = await sessionIn(request, access);
    return session ? Buffer.from(session.accountKeyHash, 'base64url') : sha256(request.query.key as string);
  };
  const currentIdIn = async (request: Request) => (await sessionIn(request, access))?.session?.sessionId;
  return [
    route({
      ...common,
      method: 'get',
      path: '/v1/users',
      summary: 'List the users of your account',
      operationId: 'listOwnUsers',
      description: 'The operator registers and removes users.',
      responses: { 200: userList },
      query: z.object(paging),
      handle: async ({ caller: { shipperId }, query }) => {
        const { after, rows, cut } = pageOf(`users of ${shipperId}`, query);
        const { page, nextCursor } = cut(await listUsers(db, shipperId, after, rows), (user) => user.userId);
        return { data: { users: page.map(viewUser), nextCursor } };
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/v1/audit',
      summary: 'Read the audit log of your account, newest first',
      operationId: 'listOwnAudit',
      description:
        'The log says who changed which user, webhook, token or secret of your account, which logins were refused, and when the operator looked at your data. Repeated changes that one actor makes to one thing within a minute are one entry with a count.',
      responses: { 200: auditList },
      query: z.object(paging),
      handle: async ({ caller: { shipperId }, query }) => {
        const { after, rows, cut } = pageOf(`audit of ${shipperId}`, query);
        const found = await listAudit(db, { shipperId }, after, rows);
        const { page, nextCursor } = cut(found, (row) => row.auditId);
        return { data: { entries: page.map(viewOwnAudit), nextCursor } };
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/v1/password',
      summary: 'Change your password',
      operationId: 'changePassword',
      description:
        'Ends all other sessions, access tokens and password links of the user, on every process within 10 seconds. Only a user who has logged in can do it; the limits of login apply.',
      responses: { 200: isSet },
      errors: { 429: 'Too many requests, or too many logins: the limits of login apply.' },
      slowByDesign: true,
      ungated: true,
      body: newPassword,
      handle: async ({ caller, body }, { request, response }) => {
        const { userId } = caller;
        const principal = await principals.get(userId);
        if (!principal) throw unauthorized();
        const keyHash = await keyHashIn(request);
        const given = { keyHash, email: principal.email, password: body.currentPassword };
        const known = await logIn(request, given, actorOf(caller));
        if (!known) throw invalidRequest([{ path: 'currentPassword', message: 'is not your password' }]);
        const passwordHash = await hashing.run(userId, () => hashPassword(body.newPassword), {
          kind: hashingKinds.known,
        });
        const userEpoch = await changePassword(db, actorOf(caller), known.user, passwordHash);
        if (userEpoch === null) throw unauthorized(); // another change has ended the session meanwhile
        principals.clear();
        if (await sessionIn(request, access))
          await beginSession(deps, request, response, { ...known.claims, userEpoch });
        return { data: {} };
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/v1/sessions',
      summary: 'List your sessions in the portal',
      operationId: 'listSessions',
      description:
        'Those of the user who asks, the newest first; at most 50, for one more log-in ends the oldest. Only a user who has logged in can see them.',
      usersOnly: true,
      responses: {
        200: z
          .object({ sessions: z.array(listedSession) })
          .meta({ description: 'Sessions that have not ended.' }),
      },
      handle: async ({ caller: { userId } }, { request }) => {
        const found = userId === '' ? [] : await listSessions(db, userId); // the operator sees none
        const currentId = await currentIdIn(request);
        return { data: { sessions: found.map((one) => viewSession(one, currentId)) } };
      },
    }),
    route({
      ...common,
      method: 'delete',
      path: '/v1/sessions',
      summary: 'Log out everywhere',
      operationId: 'endSessions',
      description:
        'Ends all sessions and access tokens of the user, this one too, on every process within 10 seconds. Tokens of programs stay valid. Only a user who has logged in can do it.',
      responses: { 200: areEnded },
      handle: async ({ caller }, { response }) => {
        await signOut(db, actorOf(caller), caller.userId);
        principals.clear();
        access.cookie.clear(response);
        return { data: {} };
      },
    }),
    route({
      ...common,
      method: 'delete',
      path: '/v1/sessions/:sessionId',
      summary: 'End a session',
      operationId: 'endSession',
      description:
        'Logs the user out in one browser, on every process within 10 seconds. Only a user who has logged in can do it.',
      responses: { 200: isEnded },
      params: z.object({ sessionId: idInPath('The session.') }),
      handle: async ({ caller, params: { sessionId } }, { request, response }) => {
        const { shipperId, userId } = caller;
        const hasEnded = await audited(
          db,
          actorOf(caller),
          (tx) => endListedSession(tx, userId, sessionId),
          (done) => (done ? { action: 'SESSION_ENDED', shipperId, userId } : null),
        );
        if (!hasEnded) throw notFound('This session');
        principals.clear();
        if (sessionId === (await currentIdIn(request))) access.cookie.clear(response);
        return { data: {} };
      },
    }),
  ];
}
