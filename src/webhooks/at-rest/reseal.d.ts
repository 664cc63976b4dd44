import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import type { AtRest } from './at-rest.js';
interface Dependencies {
    db: Database;
    sealed: AtRest;
    logger: Logger;
}
/**
 * Seals anew what webhooks keep in plain text, or sealed but not with this prefix. Can be broken off and begun again
 * at any time. Answers how many webhooks were resealed, and how many hold what neither key opens; those stay as they
 * are.
 */
export declare function resealWebhooks(deps: Dependencies, prefix: string): Promise<{
    resealed: number;
    unreadable: number;
}>;
export {};
