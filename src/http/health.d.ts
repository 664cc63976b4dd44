import { Router } from 'express';
import type { Logger } from '../platform/logger.js';
/** Checks by name. Each rejects with the reason why it fails. */
export type HealthChecks = Record<string, () => Promise<void>>;
export interface Health {
    /** `/healthz` tells that the process lives; `/readyz` runs the checks. */
    page: Router;
    /**
     * Ready while the `needed` pass; before the first call the process is starting. What only `informs` is shown but
     * does not make the role unready (contract, section 8: the API stays ready while Redis is away, and says so).
     */
    use(needed: HealthChecks, informs?: HealthChecks): void;
    stop(): Promise<void>;
}
/**
 * Checks when asked and every two seconds. A check that begins to fail, or fails for another reason than before, is
 * logged once, and once when it passes again. `onReady` hears every result.
 */
export declare function createHealth(logger: Logger, onReady: (ready: boolean) => void): Health;
