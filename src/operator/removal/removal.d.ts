import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
export interface RemovalDependencies {
    db: Database;
    logger: Logger;
    metrics: Pick<Metrics, 'removalRows'>;
    /** How long nothing of a shipper may turn up before the last of it goes. */
    quietMs: number;
}
/**
 * Deletes removed shippers with all that is theirs, a piece a turn, by one worker at a time. A shipper is walked over
 * until nothing is found; once more after `quietMs`, for what was under way when it was removed; then its row goes.
 * Returns the turn, which resolves with the milliseconds until the next one while there may be more to do: most of the
 * time is left to others.
 */
export declare function createRemoval(deps: RemovalDependencies): () => Promise<number | undefined>;
