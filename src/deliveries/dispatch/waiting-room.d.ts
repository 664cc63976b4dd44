import type { Claim } from '../outbox/types.js';
import type { Lane } from './lanes.js';
/** Claims that wait in their lanes for a place. */
export interface WaitingRoom {
    /** `issuedAt`: of performance.now(), before the statement that claimed it was sent; `isNew`: it recorded it too. */
    enter(lane: Lane, claim: Claim, issuedAt: number, isNew: boolean): void;
    /** Takes the first that waits in this lane. */
    leave(lane: Lane): {
        claim: Claim;
        issuedAt: number;
    };
    /** One more was recorded just now for this lane, and left in PostgreSQL. */
    leftOutside(lane: Lane): void;
    size(): number;
    /** What was recorded just now beyond what its lane begins at once; slow lanes are not counted. */
    pressure(): number;
}
export declare function createWaitingRoom(): WaitingRoom;
