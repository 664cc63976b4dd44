import * as z from 'zod';
import { addressOf } from '../../http/addresses.js';
import { described } from '../../http/request/fields.js';
import { route, type Route } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import { suspended, unauthorized } from '../../platform/errors.js';
import type { Refusals } from '../audit/refusals.js';
import { sha256, verifyPassword } from '../credentials.js';
import type { Tokens } from '../tokens.js';
import { findUserByLogin, rememberOrigin, type User } from '../user-store.js';
import { keyAndCredentials, malformed } from './authenticate.js';
import type { LoginLimits } from './limits.js';

/** RFC 7617: the password may hold colons, the e-mail may not. */
function parseCredentials(encoded: string): { email: string; password: string } {
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 1 || decoded.includes('\0')) throw unauthorized('Basic', malformed('Basic'));
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
  .meta({ id: 'AccessToken', description: 'A token and its lifetime.' });

/**
 * Specification, Authentication. With a known key exactly one hash is verified, whatever is wrong, so that the time
 * reveals nothing; with an unknown key none. Only right credentials reveal that a shipper is suspended.
 */
export function loginRoute(
  db: Database,
  tokens: Tokens,
  limits: LoginLimits,
  refusals: Pick<Refusals, 'note'>,
): Route {
  return route({
    method: 'get',
    path: '/v1/login',
    summary: 'Request an access token',
    operationId: 'login',
    tag: 'Accounts',
    description: 'Takes e-mail address and password as Basic credentials. A body is accepted and ignored.',
    responses: { 200: accessToken },
    auth: 'login',
    slowByDesign: true,
    handle: async (_request, { request }) => {
      const { accountKey, credentials } = keyAndCredentials(request, 'Basic');
      const { email, password } = parseCredentials(credentials);
      const keyHash = sha256(accountKey);
      let known: User | null = null;
      const user = await limits.attempt(
        { accountKey, email, ip: request.ip ?? '' },
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
        const address = addressOf(request);
        refusals.note(
          { kind: 'UNKNOWN', name: null, address },
          { action: 'LOGIN_REFUSED', shipperId, userId },
        );
        throw unauthorized('Basic');
      }
      if (user.shipperStatus === 'SUSPENDED') throw suspended();
      const token = await tokens.issue({
        userId: user.userId,
        shipperId: user.shipperId,
        accountKeyHash: keyHash.toString('base64url'),
        userEpoch: user.userEpoch,
        shipperEpoch: user.shipperEpoch,
      });
      return { data: { token, expiresIn: String(tokens.lifetimeSeconds) } };
    },
  });
}
