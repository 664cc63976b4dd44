import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/database/postgres.js';
import type { Producer } from '../platform/queue/engine.js';
export interface GaugeDependencies {
    db: Database;
    producers: Map<string, Producer>;
    metrics: Metrics;
}
/**
 * Reads the gauges that tell of the whole deployment; every worker does, and they agree. Rejects if a part of it
 * could not be read; then the old figures stay, and `metrics_refreshed_timestamp_seconds` tells their age.
 */
export declare function refreshGauges(deps: GaugeDependencies): Promise<void>;
