import type { Request } from 'express';
import type { Caller } from '../http/route.js';
import { forbidden, unauthorized } from '../platform/errors.js';
import type { Database } from '../platform/postgres.js';
import { sameText, sha256 } from './credentials.js';
import { accountKeyExists } from './store.js';
import type { Tokens } from './tokens.js';

export const accountKeyOf = (request: Request): string | null => {
  const { key } = request.query;
  return typeof key === 'string' && key.length > 0 && key.length <= 255 ? key : null;
};

const bearerOf = (request: Request): string | null =>
  /^Bearer +([\w.~+/=-]{1,4096})$/i.exec(request.get('authorization') ?? '')?.[1] ?? null;

/** Token and account key of one shipper (specification, Authentication 3). 403 where the key is another shipper's. */
export const authenticateShipper =
  (db: Database, tokens: Tokens) =>
  async (request: Request): Promise<Caller> => {
    const accountKey = accountKeyOf(request);
    const token = bearerOf(request);
    const claims = token && (await tokens.verify(token));
    if (!accountKey || !claims) throw unauthorized();
    const keyHash = sha256(accountKey);
    if (keyHash.toString('base64url') !== claims.accountKeyHash) {
      throw (await accountKeyExists(db, keyHash)) ? forbidden() : unauthorized();
    }
    return { shipperId: claims.shipperId, userId: claims.userId };
  };

export const authenticateOperator =
  (operatorToken: string) =>
  (request: Request): Promise<Caller> => {
    const token = bearerOf(request);
    if (!token || !sameText(token, operatorToken)) return Promise.reject(unauthorized());
    return Promise.resolve({ shipperId: '', userId: 'operator' });
  };
