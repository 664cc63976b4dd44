import * as z from 'zod';
import { described } from '../../http/request/fields.js';
import { route, type Route } from '../../http/route.js';
import { unauthorized } from '../../platform/errors.js';
import type { Tokens } from '../tokens.js';
import { keyAndCredentials, malformed } from './authenticate.js';
import { toStoredEmail, type LogIn } from './log-in.js';

/** RFC 7617: the password may have colons, the e-mail may not. */
function parseCredentials(encoded: string): { email: string; password: string } {
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
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

/** Specification, Authentication. */
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
      const { claims } = await logIn(request, { accountKey, ...parseCredentials(credentials) }, 'Basic');
      const token = await tokens.issue(claims);
      return { data: { token, expiresIn: String(tokens.lifetimeSeconds) } };
    },
  });
}
