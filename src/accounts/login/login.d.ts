import { type Route } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import type { LoginLimits } from './login-limits.js';
import type { Refusals } from '../audit/refusals.js';
import type { Tokens } from '../tokens/tokens.js';
/**
 * GET /v1/login: the specification's way to an access token. A body is ignored. Under a key that is known exactly one
 * hash is verified, whatever is wrong, so that the time tells nothing; under one that is not, none. That a shipper is
 * suspended is told only to who has right credentials.
 */
export declare function loginRoute(db: Database, tokens: Tokens, limits: LoginLimits, refusals: Pick<Refusals, 'note'>): Route;
