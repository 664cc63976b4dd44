export interface TimeRange {
    from: Date;
    /** Excluded. */
    before: Date;
}
/**
 * The pieces in which a page of the log is looked for, newest first, without gaps: `from` (or 1970) to `to` (excluded,
 * or now), no later than the delivery `beforeId`. Nearly always the newest day fills the page.
 */
export declare function rangesOf({ from, to }: {
    from?: Date | undefined;
    to?: Date | undefined;
}, beforeId: string | undefined): TimeRange[];
/**
 * The days (UTC) of a range, if they are few, as bounds of ids. Written into a statement instead of passed, they have
 * it planned for a few partitions instead of all: 5 ms instead of 50 whenever statistics have changed.
 */
export declare function daysOf(range: TimeRange): {
    firstId: string;
    endId: string;
    today: boolean;
} | null;
