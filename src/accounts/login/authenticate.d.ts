import type { Request } from 'express';
import type { Caller } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import { type Standings } from '../tokens/standing.js';
import type { Tokens } from '../tokens/tokens.js';
/**
 * Token and account key of one shipper (specification, Authentication 3). 403 where the key is another shipper's or the
 * shipper is suspended, 503 where nobody can say whether the token still counts.
 */
export declare const authenticateShipper: (db: Database, tokens: Tokens, standings: Standings) => (request: Request) => Promise<Caller>;
/** Whether a request bears this very token; throws 401 where it bears none. */
export declare const bears: (expected: string) => (request: Request) => boolean;
