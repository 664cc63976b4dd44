import type { Database } from '../../platform/database/postgres.js';
import { type Standing } from './standing-store.js';
import type { TokenClaims } from './tokens.js';
export interface Standings {
    /** What is known of a user, at most eight seconds old; null where there is none. Throws ApiError UNAVAILABLE. */
    of(userId: string): Promise<Standing | null>;
    /** The same, as it is now. */
    now(userId: string): Promise<Standing | null>;
    /** Something has changed through this process. */
    forget(): void;
}
/**
 * Who may still call. A request waits for PostgreSQL only where nothing is known of its user, or for too long; in
 * between, what is known is read again behind its back, once in three seconds for each user who calls.
 */
export declare function createStandings(db: Database): Standings;
export type Verdict = 'GOOD' | 'ENDED' | 'SUSPENDED' | 'OTHER_KEY';
/**
 * What a genuine token and an account key are worth, by what is known of their user. An epoch only counts up, and a
 * user or shipper that is gone does not come back; so `ENDED` for one of these is certain, whatever the age of what is
 * known. `null`: what is known does not say, and may be too old to.
 */
export declare function judge(claims: TokenClaims, keyHash: string, standing: Standing | null): Verdict | null;
/** The verdict by what is known now, where `judge` did not say. */
export declare const judgeNow: (claims: TokenClaims, keyHash: string, standing: Standing | null) => Verdict;
