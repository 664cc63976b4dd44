import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Times } from '../outbox/times.js';
/**
 * Resolves when no attempt of a stopped webhook can start any more (faults, I5); call it after the commit that
 * stopped it. A statement that began before may still commit claims that nobody can see; but what is claimed starts
 * within `longestStartMs` of the issue of its statement or not at all. So that time is waited out.
 */
export declare const untilNoSendCanStart: ({ longestStartMs }: Times) => Promise<void>;
/** Deletion: cancels at once what a request may take on; the sweeper does the rest, and all of it if this fails. */
export declare function cancelBacklog({ db, logger }: {
    db: Database;
    logger: Logger;
}, webhookId: string): Promise<void>;
