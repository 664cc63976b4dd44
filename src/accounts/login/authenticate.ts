import type { Request } from 'express';
import { addressOf } from '../../http/request/address.js';
import type { Caller } from '../../http/route.js';
import { forbidden, suspended, unauthorized } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { sameText, sha256 } from '../passwords/credentials.js';
import { keyAndProof, tokenOf } from './proof-form.js';
import { judge, judgeNow, type Standings } from '../tokens/standing.js';
import { accountKeyExists } from '../store.js';
import type { Tokens } from '../tokens/tokens.js';

/**
 * Token and account key of one shipper (specification, Authentication 3). 403 where the key is another shipper's or the
 * shipper is suspended, 503 where nobody can say whether the token still counts.
 */
export const authenticateShipper =
  (db: Database, tokens: Tokens, standings: Standings) =>
  async (request: Request): Promise<Caller> => {
    const { accountKey, proof } = keyAndProof(request, 'Bearer');
    const claims = await tokens.verify(proof);
    if (!claims) throw unauthorized();
    const { shipperId, userId } = claims;
    const hash = sha256(accountKey);
    const keyHash = hash.toString('base64url');
    const verdict =
      judge(claims, keyHash, await standings.of(userId)) ??
      judgeNow(claims, keyHash, await standings.now(userId));
    if (verdict === 'SUSPENDED') throw suspended();
    if (verdict === 'OTHER_KEY' && (await accountKeyExists(db, hash))) throw forbidden();
    if (verdict !== 'GOOD') throw unauthorized();
    return { shipperId, userId, operator: null, address: addressOf(request) };
  };

/** Whether a request bears this very token; throws 401 where it bears none. */
export const bears =
  (expected: string) =>
  (request: Request): boolean =>
    sameText(tokenOf(request), expected);
