import { createSecretKey } from 'node:crypto';
import { SignJWT, jwtVerify } from 'jose';

export interface TokenClaims {
  userId: string;
  shipperId: string;
  /** Hash of the account key, so that the key of a request is checked without asking the database. */
  accountKeyHash: string;
}

export interface Tokens {
  issue(claims: TokenClaims): Promise<string>;
  /** The claims, or null where the token is forged, malformed or expired. */
  verify(token: string): Promise<TokenClaims | null>;
  lifetimeSeconds: number;
}

/** Short-lived access tokens: JWT with HS256 (RFC 7519). */
export function createTokens(secret: string, lifetimeMs: number): Tokens {
  const key = createSecretKey(Buffer.from(secret));
  const lifetimeSeconds = Math.max(1, Math.round(lifetimeMs / 1000));
  return {
    lifetimeSeconds,
    issue: ({ userId, shipperId, accountKeyHash }) =>
      new SignJWT({ shipper: shipperId, key: accountKeyHash })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(userId)
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + lifetimeSeconds)
        .sign(key),
    verify: async (token) => {
      const verified = await jwtVerify(token, key, { algorithms: ['HS256'], requiredClaims: ['exp'] }).catch(
        () => null,
      );
      if (!verified) return null;
      const { sub, shipper, key: accountKeyHash } = verified.payload as Record<string, string>;
      return sub && shipper && accountKeyHash ? { userId: sub, shipperId: shipper, accountKeyHash } : null;
    },
  };
}
