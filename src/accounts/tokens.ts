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

const rememberedTokens = 1_000;

/** Short-lived access tokens: JWT with HS256 (RFC 7519). */
export function createTokens(secret: string, lifetimeMs: number): Tokens {
  const key = createSecretKey(Buffer.from(secret));
  const lifetimeSeconds = Math.max(1, Math.round(lifetimeMs / 1000));
  /** Tokens found genuine: a signature does not change, so only their end is looked at again. */
  const genuine = new Map<string, { claims: TokenClaims; expiresAtMs: number }>();

  const check = async (token: string): Promise<TokenClaims | null> => {
    const verified = await jwtVerify(token, key, { algorithms: ['HS256'], requiredClaims: ['exp'] }).catch(
      () => null,
    );
    if (!verified) return null;
    const { sub, shipper, key: accountKeyHash } = verified.payload as Record<string, string>;
    if (!sub || !shipper || !accountKeyHash) return null;
    const claims = { userId: sub, shipperId: shipper, accountKeyHash };
    if (genuine.size >= rememberedTokens) genuine.clear();
    genuine.set(token, { claims, expiresAtMs: verified.payload.exp! * 1_000 });
    return claims;
  };

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
      const known = genuine.get(token);
      if (!known) return check(token);
      if (Date.now() < known.expiresAtMs) return known.claims;
      genuine.delete(token);
      return null;
    },
  };
}
