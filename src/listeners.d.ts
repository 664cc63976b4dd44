import type { RequestHandler } from 'express';
import type { CompleteConfig } from './config.js';
import type { Health } from './http/health.js';
import { type Listener } from './http/connections/listener.js';
import type { Logger } from './platform/logger.js';
import type { Metrics } from './platform/metrics.js';
import type { createReleasers } from './platform/releasers.js';
import type { Role } from './resources.js';
export interface Listeners {
    /** Of the API, or of what a worker tells of its health. */
    main: Listener;
    /** As seen from this machine. */
    url: string;
    metricsPort: number | undefined;
    /** Health, and metrics where they have no listener of their own. */
    pages: RequestHandler[];
}
export interface ListenerDependencies {
    config: CompleteConfig;
    role: Role;
    logger: Logger;
    metrics: Metrics;
    health: Health;
    releasers: ReturnType<typeof createReleasers>;
}
/** Listens from the start: health, metrics, and 503 for the rest until `main.use` has another app answer. */
export declare function openListeners(dependencies: ListenerDependencies): Promise<Listeners>;
