import { cancelOnce, untilNothingIsOwed } from '../../deliveries/erasure/cancel.js';
import type { Times } from '../../deliveries/outbox/times.js';
import { eraseEvents, markErased, type MarkedShipment } from '../../events/erasure-store.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Order } from '../order.js';
import { eraseOrder } from './order.js';
import { findOrders, saveErasedOrders } from './store.js';

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
export async function eraseShipments(
  deps: ErasureDependencies,
  shipmentIds: string[],
  cause: 'operator' | 'retention',
  quietMs: number | null = null,
): Promise<MarkedShipment[]> {
  const marked = await deps.db.transaction(async (tx) => {
    const shipments = await markErased(tx, shipmentIds, quietMs);
    if (shipments.length === 0) return [];
    const ids = shipments.map(({ shipmentId }) => shipmentId);
    await eraseEvents(tx, ids);
    await eraseOrders(tx, ids);
    await cancelOnce(tx, shipments, deps.times.leaseMs);
    return shipments;
  });
  if (marked.length === 0) return [];
  await untilNothingIsOwed(deps, marked);
  deps.metrics.shipmentsErased.inc({ cause }, marked.length);
  return marked;
}

async function eraseOrders(tx: Database, shipmentIds: string[]): Promise<void> {
  const orders = await findOrders(tx, shipmentIds);
  await saveErasedOrders(
    tx,
    orders.map(({ shipmentId, order }) => ({
      shipmentId,
      order: JSON.stringify(eraseOrder(JSON.parse(order) as Order)),
    })),
  );
}
