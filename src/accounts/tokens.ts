import { createSecretKey } from 'node:crypto';
import { SignJWT, jwtVerify } from 'jose';
import * as z from 'zod';

export interface TokenClaims {
  userId: string;
  shipperId: string;
  accountKeyHash: string;
  /** Epochs at the login: the token ends when one of them advances. */
  userEpoch: number;
  shipperEpoch: number;
}

export interface Tokens {
  issue(claims: TokenClaims): Promise<string>;
  /** Null if the token is forged, malformed, expired or for another audience. */
  verify(token: string): Promise<TokenClaims | null>;
  lifetimeSeconds: number;
}

export interface TokenOptions {
  secret: string;
  /** Only verifies, while the secret is being rotated. */
  previousSecret?: string | undefined;
  lifetimeMs: number;
}

const maxCachedTokens = 1_000;
const issuer = 'parcelhook';
const audience = 'parcelhook-api';

const epoch = z.int().min(0);
const payload = z.object({
  sub: z.uuid(),
  shipper: z.uuid(),
  key: z.string().regex(/^[\w-]{43}$/),
  user_epoch: epoch,
  shipper_epoch: epoch,
  exp: z.number(),
});

/** JWT with HS256 (RFC 7519), short-lived. */
export function createTokens({ secret, previousSecret, lifetimeMs }: TokenOptions): Tokens {
  const key = createSecretKey(Buffer.from(secret));
  const keys = [key, ...(previousSecret === undefined ? [] : [createSecretKey(Buffer.from(previousSecret))])];
  const lifetimeSeconds = Math.max(1, Math.round(lifetimeMs / 1000));
  /** Their signature is verified: only the expiry is checked again. */
  const genuine = new Map<string, { claims: TokenClaims; expiresAtMs: number }>();

  const payloadOf = async (token: string): Promise<unknown> => {
    for (const each of keys) {
      const verified = await jwtVerify(token, each, { algorithms: ['HS256'], issuer, audience }).catch(
        () => null,
      );
      if (verified) return verified.payload;
    }
    return null;
  };

  const check = async (token: string): Promise<TokenClaims | null> => {
    const { data } = payload.safeParse(await payloadOf(token));
    if (!data) return null;
    const claims = {
      userId: data.sub,
      shipperId: data.shipper,
      accountKeyHash: data.key,
      userEpoch: data.user_epoch,
      shipperEpoch: data.shipper_epoch,
    };
    if (genuine.size >= maxCachedTokens) genuine.clear();
    genuine.set(token, { claims, expiresAtMs: data.exp * 1_000 });
    return claims;
  };

  return {
    lifetimeSeconds,
    issue: ({ userId, shipperId, accountKeyHash, userEpoch, shipperEpoch }) =>
      new SignJWT({
        shipper: shipperId,
        key: accountKeyHash,
        user_epoch: userEpoch,
        shipper_epoch: shipperEpoch,
      })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(issuer)
        .setAudience(audience)
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
