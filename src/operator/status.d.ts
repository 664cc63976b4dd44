import type { Database } from '../platform/database/postgres.js';
import type { Producer } from '../platform/queue/engine.js';
/** `GET /operator/v1/status`: queues, lag, open circuits, replays, versions. A part that is away says so. */
export declare function readStatus(deps: {
    db: Database;
    engineKind: string;
    producers: Map<string, Producer>;
}): Promise<object>;
