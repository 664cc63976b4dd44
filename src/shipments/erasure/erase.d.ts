import type { Times } from '../../deliveries/outbox/times.js';
import { type MarkedShipment } from '../../events/erasure-store.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
export interface ErasureDependencies {
    db: Database;
    times: Times;
    metrics: Pick<Metrics, 'shipmentsErased'>;
}
/**
 * Erases the personal data of shipments that have a state, with `quietMs` of those only that came to none in that
 * time. When it resolves, nothing of what was recorded before is sent or owed, and nothing that comes later brings
 * personal data back: neither an attempt that ends, nor an event. May be repeated; if it rejects, it must be.
 */
export declare function eraseShipments(deps: ErasureDependencies, shipmentIds: string[], cause: 'operator' | 'retention', quietMs?: number | null): Promise<MarkedShipment[]>;
