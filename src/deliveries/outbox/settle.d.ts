import type { Database } from '../../platform/database/postgres.js';
import type { Settlement } from './types.js';
/**
 * Records many outcomes in one statement. What is finished leaves the outbox and enters the log with its last attempt;
 * what is tried again stays, and the attempt is kept beside it. Refused is a result whose claim was taken away
 * meanwhile (fencing). Returns the numbers of the attempts settled, by deliveryId.
 */
export declare function settle(db: Database, settlements: Settlement[]): Promise<Map<string, number>>;
/** As `settle`, where a delivery turned out to be in the log already: that one leaves the outbox, and no more. */
export declare function settleOnceMore(db: Database, settlements: Settlement[]): Promise<Map<string, number>>;
/** Of outcomes that were refused: the deliveries of which this very attempt is recorded already. */
export declare function findRecorded(db: Database, refused: Settlement[]): Promise<string[]>;
