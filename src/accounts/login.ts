import type { Request } from 'express';
import { z } from 'zod';
import { described } from '../http/described.js';
import { route, type Route } from '../http/route.js';
import { unauthorized } from '../platform/errors.js';
import type { Database } from '../platform/postgres.js';
import { accountKeyOf } from './authenticate.js';
import { sha256, verifyPassword } from './credentials.js';
import type { LoginLimits } from './login-limits.js';
import { findUserByLogin } from './store.js';
import type { Tokens } from './tokens.js';

/** E-mail and password of a Basic header (RFC 7617): the password may hold colons, the e-mail may not. */
function basicCredentials(request: Request): { email: string; password: string } | null {
  const encoded = /^Basic +([A-Za-z0-9+/_=-]{1,4096})$/i.exec(request.get('authorization') ?? '')?.[1];
  const decoded = encoded ? Buffer.from(encoded, 'base64').toString('utf8') : '';
  const colon = decoded.indexOf(':');
  if (colon < 1 || decoded.includes('\0')) return null;
  return { email: decoded.slice(0, colon).trim().toLowerCase(), password: decoded.slice(colon + 1) };
}

const accessToken = z
  .object({
    token: described(
      z.string(),
      'Access token: send it as `Authorization: Bearer`.',
      'eyJhbGciOiJIUzI1NiJ9.e30.c2ln',
    ),
    expiresIn: described(z.string().regex(/^\d+$/), 'Lifetime of the token in seconds.', '3600'),
  })
  .meta({ id: 'AccessToken', description: 'A token and how long it is good for.' });

/**
 * GET /v1/login: the specification's way to an access token. A body is ignored. Whatever is wrong, exactly one hash
 * is verified, so that the time tells nothing.
 */
export function loginRoute(db: Database, tokens: Tokens, limits: LoginLimits): Route {
  return route({
    method: 'get',
    path: '/v1/login',
    summary: 'Request an access token',
    operationId: 'login',
    tag: 'Accounts',
    description: 'Takes e-mail address and password as Basic credentials. A body is accepted and ignored.',
    answers: { 200: accessToken },
    auth: 'login',
    handle: async (_request, { request }) => {
      const credentials = basicCredentials(request);
      const accountKey = accountKeyOf(request);
      if (!credentials || !accountKey) throw unauthorized('Basic');
      const keyHash = sha256(accountKey);
      const { email, password } = credentials;
      const user = await limits.attempt({ accountKey, email, ip: request.ip ?? '' }, async (spend) => {
        const found = await findUserByLogin(db, keyHash, email);
        await spend(); // not before: an outage of PostgreSQL costs nobody his logins
        const matches = await verifyPassword(found?.passwordHash ?? null, password);
        return matches ? found : null;
      });
      if (!user) throw unauthorized('Basic');
      const token = await tokens.issue({
        userId: user.userId,
        shipperId: user.shipperId,
        accountKeyHash: keyHash.toString('base64url'),
      });
      return { data: { token, expiresIn: String(tokens.lifetimeSeconds) } };
    },
  });
}
