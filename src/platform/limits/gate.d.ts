export interface TurnOptions {
    /** Waits in a lane of its own, which has every second turn. */
    favoured?: boolean;
    /** Told when it is refused for the crowd under its key. */
    onCrowded?(): void;
}
export interface Gate {
    /**
     * Runs `work` when its turn comes. Where too many wait, it is the newest of the longest queue that is refused: with
     * ApiError TOO_MANY_REQUESTS, or UNAVAILABLE where each key has one waiting only; and so is who waits too long.
     */
    run<T>(key: string, work: () => Promise<T>, options?: TurnOptions): Promise<T>;
    /** How many wait under this key. */
    waiting(key: string): number;
}
export interface GateOptions {
    concurrency: number;
    maxWaiting: number;
    maxWaitMs: number;
}
/** A bound on expensive work. Keys take turns, so that many waiting under one do not delay another. */
export declare function createGate(options: GateOptions): Gate;
