import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { type Actor, type AuditEntry } from './audit.js';
export interface Refusals {
    /** Counts a refusal for the audit log. Never waits, never throws. */
    note(actor: Actor, entry: AuditEntry): void;
    /** Writes what is counted. */
    stop(): Promise<void>;
}
/**
 * Refusals come as often as anybody likes, so they are counted and written once a minute: a line for each of the first
 * ten callers, and one for all others. The first after a quiet minute is written a second later. What cannot be
 * written is kept for the next minute.
 */
export declare function createRefusals(db: Database, logger: Logger): Refusals;
