import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
export interface ReplayDependencies {
    db: Database;
    logger: Logger;
    retentionMs: number;
    orderHoldMs: number;
    /** How often a webhook's backlog is topped up. */
    replayEveryMs: number;
    /** These webhooks have something due. */
    look(webhookIds: string[]): void;
}
/**
 * Works replays off, each piece by piece: as fast as the receiver takes them, for a webhook gets no more while enough is
 * due already. A piece and its progress are one commit, so a replay goes on where it was after any stop. Returns whether
 * replays are under way.
 */
export declare function advanceReplays(deps: ReplayDependencies): Promise<boolean>;
