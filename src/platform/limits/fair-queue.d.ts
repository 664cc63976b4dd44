/** Items wait under keys; the keys take turns, so that many waiting under one do not delay another. */
export interface FairQueue<Item> {
    /**
     * Where the queue is full, takes out and returns the newest item of the key that has most of them, which may be this
     * one, and whether others of its key are left.
     */
    add(key: string, item: Item): {
        dropped: Item;
        crowd: boolean;
    } | null;
    /** The first item of the key whose turn it is; that key goes to the end. */
    take(): Item | undefined;
    /** How many wait under this key. */
    waiting(key: string): number;
}
export declare function createFairQueue<Item>(maxWaiting: number): FairQueue<Item>;
