import type { Request } from 'express';
import { addressOf } from '../../http/addresses.js';
import type { Database } from '../../platform/database/postgres.js';
import { suspended, unauthorized } from '../../platform/errors.js';
import type { Refusals } from '../audit/refusals.js';
import { sha256, verifyPassword } from '../credentials.js';
import type { TokenClaims } from '../tokens.js';
import { findUserByLogin, rememberOrigin, type User } from '../user-store.js';
import type { LoginLimits } from './limits.js';

export interface Credentials {
  accountKey: string;
  email: string;
  password: string;
}

export interface LoggedIn {
  user: User;
  claims: TokenClaims;
}

/** Throws 401 with this challenge; 403 if the shipper is suspended; 429 beyond the limits. */
export type LogIn = (
  request: Request,
  credentials: Credentials,
  challenge: 'Basic' | 'Bearer',
) => Promise<LoggedIn>;

/**
 * Specification, Authentication. With a known key exactly one hash is verified, whatever is wrong, so that the time
 * reveals nothing; with an unknown key none. Only right credentials reveal that a shipper is suspended.
 */
export const createLogIn =
  (db: Database, limits: LoginLimits, refusals: Pick<Refusals, 'note'>): LogIn =>
  async (request, { accountKey, email, password }, challenge) => {
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
      refusals.note({ kind: 'UNKNOWN', name: null, address }, { action: 'LOGIN_REFUSED', shipperId, userId });
      throw unauthorized(challenge, 'The key, the e-mail address or the password is wrong.');
    }
    if (user.shipperStatus === 'SUSPENDED') throw suspended();
    const { userId, shipperId, userEpoch, shipperEpoch } = user;
    const accountKeyHash = keyHash.toString('base64url');
    return { user, claims: { userId, shipperId, accountKeyHash, userEpoch, shipperEpoch } };
  };

/** E-mail addresses are stored like this. */
export const toStoredEmail = (email: string): string => email.trim().toLowerCase();
