export interface BatchOptions<Item, Result> {
    /** Most items in one flush. */
    maxItems: number;
    /** Flushes under way at once. */
    concurrency: number;
    /** Most items waiting; one more is refused as UNAVAILABLE. */
    maxWaiting: number;
    /** How long the first of a batch waits for company while no flush is under way; not at all without it. */
    lingerMs?: () => number;
    /** Told the size of every batch. */
    onFlush?: ((items: number) => void) | undefined;
    /** Handles a batch; answers one result per item, in order. */
    flush(items: Item[]): Promise<Result[]>;
}
export interface Batcher<Item, Result> {
    /** Resolves with this item's own result, or rejects with its own error. */
    add(item: Item): Promise<Result>;
}
/**
 * Group commit: while a flush is under way, callers collect; the next flush takes them all. An idle batcher
 * flushes at once (or after `lingerMs`), so batching costs no latency where there is no load. If a batch is refused
 * for what is in it (not because the database is away), its items are tried one by one, so that each gets its own
 * answer. If the database is away, nobody waits for one flush after the other to find that out again.
 */
export declare function createBatcher<Item, Result>(options: BatchOptions<Item, Result>): Batcher<Item, Result>;
