import { createSecretKey } from 'node:crypto';
import { SignJWT, jwtVerify } from 'jose';
import * as z from 'zod';
import { newId } from '../platform/ids.js';

export interface TokenClaims {
  userId: string;
  shipperId: string;
  accountKeyHash: string;
  /** Epochs at the login: the token ends when one of them advances. */
  userEpoch: number;
  shipperEpoch: number;
}

export interface VerifiedClaims extends TokenClaims {
  /** A portal session can be ended without the user's other tokens; null for an API token. */
  sessionId: string | null;
  expiresAtMs: number;
}

export type Tokens = ReturnType<typeof createTokens>;

export interface TokenOptions {
  secret: string;
  /** Only verifies, while the secret is being rotated. */
  previousSecret?: string | undefined;
  lifetimeMs: number;
  /** `portal`: for the portal's cookie, with a session id. Neither is accepted as the other. */
  audience: 'api' | 'portal';
}

const maxCachedTokens = 1_000;
const issuer = 'parcelhook';

const epoch = z.int().min(0);
const payload = z.object({
  sub: z.uuid(),
  shipper: z.uuid(),
  key: z.string().regex(/^[\w-]{43}$/),
  user_epoch: epoch,
  shipper_epoch: epoch,
  exp: z.number(),
  jti: z.uuid().optional(),
});

export function createTokens({ secret, previousSecret, lifetimeMs, ...options }: TokenOptions) {
  const isOfSession = options.audience === 'portal';
  const audience = `parcelhook-${options.audience}`;
  const key = createSecretKey(Buffer.from(secret));
  const keys = [key, ...(previousSecret === undefined ? [] : [createSecretKey(Buffer.from(previousSecret))])];
  const lifetimeSeconds = Math.max(1, Math.round(lifetimeMs / 1000));
  /** Tokens whose signature is verified: only the expiry is checked again. */
  const genuine = new Map<string, VerifiedClaims>();

  const payloadOf = async (token: string): Promise<unknown> => {
    for (const each of keys) {
      const verified = await jwtVerify(token, each, { algorithms: ['HS256'], issuer, audience }).catch(
        () => null,
      );
      if (verified) return verified.payload;
    }
    return null;
  };

  const check = async (token: string): Promise<VerifiedClaims | null> => {
    const { data } = payload.safeParse(await payloadOf(token));
    if (!data || isOfSession !== (data.jti !== undefined)) return null;
    const claims = {
      userId: data.sub,
      shipperId: data.shipper,
      accountKeyHash: data.key,
      userEpoch: data.user_epoch,
      shipperEpoch: data.shipper_epoch,
      sessionId: data.jti ?? null,
      expiresAtMs: data.exp * 1_000,
    };
    if (genuine.size >= maxCachedTokens) genuine.clear();
    genuine.set(token, claims);
    return claims;
  };

  return {
    lifetimeSeconds,
    issue: ({ userId, shipperId, accountKeyHash, userEpoch, shipperEpoch }: TokenClaims) =>
      new SignJWT({
        shipper: shipperId,
        key: accountKeyHash,
        user_epoch: userEpoch,
        shipper_epoch: shipperEpoch,
        ...(isOfSession && { jti: newId() }),
      })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(userId)
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + lifetimeSeconds)
        .sign(key),
    /** Null if the token is forged, malformed, expired or for another audience. */
    verify: async (token: string) => {
      const known = genuine.get(token);
      if (!known) return check(token);
      if (Date.now() < known.expiresAtMs) return known;
      genuine.delete(token);
      return null;
    },
  };
}
