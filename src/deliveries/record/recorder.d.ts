import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import { type Database } from '../../platform/database/postgres.js';
import { type TransitionDependencies } from '../circuit/transitions.js';
import type { Times } from '../outbox/times.js';
import type { Claim } from '../outbox/types.js';
import type { SendOutcome } from '../send/sender.js';
export interface RecorderOptions extends TransitionDependencies {
    db: Database;
    logger: Logger;
    metrics: Metrics;
    times: Times;
    retryScheduleMs: readonly number[];
    orderHoldMs: number;
    /** Never superseded. */
    terminalStates: string[];
    /** As `look`, where it is known that it became due just now. */
    lookAhead(webhookIds: string[]): void;
    /** A retry of the webhook is due after this time. */
    wakeAt(delayMs: number, webhookId: string): void;
    /** There is time to record outcomes together. */
    leisure(): boolean;
}
/** Records outcomes, and sees to what follows from them. */
export interface Recorder {
    /** Resolves when the outcome is recorded, or was refused as stale. Kept for a minute while PostgreSQL is away. */
    record(claim: Claim, storedAddress: string, outcome: SendOutcome): Promise<void>;
    /** From now on an outcome is kept for a few seconds only. */
    hurry(): void;
    /** Resolves when what was recorded so far has been counted for the circuits. */
    flushed(): Promise<void>;
}
export declare function createRecorder(options: RecorderOptions): Recorder;
