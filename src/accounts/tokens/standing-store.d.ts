import type { Database } from '../../platform/database/postgres.js';
/** What decides whether a user's token still counts. */
export interface Standing {
    userId: string;
    userEpoch: number;
    shipperId: string;
    shipperEpoch: number;
    shipperStatus: 'ACTIVE' | 'SUSPENDED' | 'REMOVED';
    /** Of the account keys that are good, in base64url: one, or two after a rotation. */
    keyHashes: string[];
}
/** Of the users that there are. */
export declare function loadStandings(db: Database, userIds: string[]): Promise<Standing[]>;
