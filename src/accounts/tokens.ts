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
  session: { sessionId: string; startedAtMs: number; lastsUntilMs: number } | null;
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
/** A session that is used lasts up to this long from its log-in, or as long as a token if that is longer. */
const maxSessionMs = 24 * 3_600_000;
/** The clock of the process that issued a token may be ahead. */
const clockSlackSeconds = 60;
const issuer = 'parcelhook';

const epoch = z.int().min(0);
const payload = z.object({
  sub: z.uuid(),
  shipper: z.uuid(),
  key: z.string().regex(/^[\w-]{43}$/),
  user_epoch: epoch,
  shipper_epoch: epoch,
  exp: z.number(),
  iat: z.number(),
  jti: z.uuid().optional(),
  auth_time: z.number().optional(),
});

export function createTokens({ secret, previousSecret, lifetimeMs, ...options }: TokenOptions) {
  const isOfSession = options.audience === 'portal';
  const audience = `parcelhook-${options.audience}`;
  const key = createSecretKey(Buffer.from(secret));
  const keys = [key, ...(previousSecret === undefined ? [] : [createSecretKey(Buffer.from(previousSecret))])];
  const lifetimeSeconds = Math.max(1, Math.round(lifetimeMs / 1000));
  /** Tokens whose signature is verified: only the expiry is checked again. */
  const genuine = new Map<string, VerifiedClaims>();

  const seconds = () => Math.floor(Date.now() / 1_000);
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
    if (!data) return null;
    const { jti, iat, auth_time: startedAt = iat } = data; // sessions from before they could slide have no auth_time
    if (startedAt > seconds() + clockSlackSeconds) return null; // it would slide for ever
    const claims = {
      userId: data.sub,
      shipperId: data.shipper,
      accountKeyHash: data.key,
      userEpoch: data.user_epoch,
      shipperEpoch: data.shipper_epoch,
      session: jti === undefined ? null : sessionOf(jti, startedAt * 1_000),
      expiresAtMs: data.exp * 1_000,
    };
    if (isOfSession !== (claims.session !== null)) return null;
    if (genuine.size >= maxCachedTokens) genuine.clear();
    genuine.set(token, claims);
    return claims;
  };

  const sessionOf = (sessionId: string, startedAtMs: number) => ({
    sessionId,
    startedAtMs,
    lastsUntilMs: startedAtMs + Math.max(lifetimeSeconds * 1_000, maxSessionMs),
  });

  const sign = (claims: TokenClaims, session: VerifiedClaims['session'], expiresAt: number) =>
    new SignJWT({
      shipper: claims.shipperId,
      key: claims.accountKeyHash,
      user_epoch: claims.userEpoch,
      shipper_epoch: claims.shipperEpoch,
      ...(session && { jti: session.sessionId, auth_time: session.startedAtMs / 1_000 }),
    })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(claims.userId)
      .setIssuedAt()
      .setExpirationTime(expiresAt)
      .sign(key);

  return {
    lifetimeSeconds,
    issue: (claims: TokenClaims) =>
      sign(claims, isOfSession ? sessionOf(newId(), seconds() * 1_000) : null, seconds() + lifetimeSeconds),
    /**
     * Returns the same session in a token that expires later; null while more than half of its time is left, and when it
     * may last no longer.
     */
    renew: async (claims: VerifiedClaims) => {
      const { session, expiresAtMs } = claims;
      if (!session || expiresAtMs - Date.now() > lifetimeSeconds * 500) return null;
      const at = seconds();
      const laterAt = Math.min(at + lifetimeSeconds, session.lastsUntilMs / 1_000);
      if (laterAt * 1_000 <= expiresAtMs) return null;
      return {
        token: await sign(claims, session, laterAt),
        expiresAtMs: laterAt * 1_000,
        lifetimeSeconds: laterAt - at,
      };
    },
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
