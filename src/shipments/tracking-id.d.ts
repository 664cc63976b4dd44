/** `PH`, the time in milliseconds (9 characters) and 45 random bits (9): unique, unguessable, ordered by time. */
export declare function newTrackingId(nowMs?: number): string;
