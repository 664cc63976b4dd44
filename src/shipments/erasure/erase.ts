import { audit, type Actor } from '../../accounts/audit/audit.js';
import { cancelOnce, untilNothingIsOwed, type ErasedShipment } from '../../deliveries/erasure/cancel.js';
import type { Times } from '../../deliveries/times.js';
import { recordNothing } from '../../events/feed/look-store.js';
import { eraseEvents, markErased, type MarkedShipment } from '../../events/erasure-store.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Order } from '../order.js';
import { eraseOrder } from './order.js';
import { findOrders, saveErasedOrders } from './store.js';
import { forgetUnderWay, noteUnderWay } from './under-way-store.js';

export interface ErasureDependencies {
  db: Database;
  times: Times;
  metrics: Pick<Metrics, 'shipmentsErased'>;
}

/**
 * Erases the personal data of shipments that have a state. When it resolves, nothing of what was recorded before is sent
 * or owed, and nothing that comes later brings personal data back: neither an attempt that ends, nor an event. May be
 * repeated; if it rejects after its commit, a worker finishes it. `by` is the operator who asked for it.
 */
export async function eraseShipments(
  deps: ErasureDependencies,
  shipmentIds: string[],
  by: Actor,
): Promise<MarkedShipment[]> {
  const marked = await beginErasures(deps, shipmentIds, by, null);
  if (marked.length > 0) await finishErasures(deps, marked);
  return marked;
}

/**
 * As `eraseShipments` up to its commit; `finishErasures` has to follow. With `quietMs` of those only that came to no state
 * in that time; `by` is null where it is the retention.
 */
export async function beginErasures(
  deps: ErasureDependencies,
  shipmentIds: string[],
  by: Actor | null,
  quietMs: number | null,
): Promise<MarkedShipment[]> {
  const marked = await deps.db.transaction(async (tx) => {
    await recordNothing(tx);
    const shipments = await markErased(tx, shipmentIds, quietMs);
    if (shipments.length === 0) return [];
    const ids = shipments.map(({ shipmentId }) => shipmentId);
    await eraseEvents(tx, ids);
    await eraseOrders(tx, ids);
    await cancelOnce(tx, shipments, deps.times.leaseMs);
    await noteUnderWay(tx, shipments);
    if (by) await tell(tx, by, shipments);
    return shipments;
  });
  if (marked.length > 0)
    deps.metrics.shipmentsErased.inc({ cause: by ? 'operator' : 'retention' }, marked.length);
  return marked;
}

/** Does what is left to be done after the commit of erasures. */
export async function finishErasures(
  deps: Pick<ErasureDependencies, 'db' | 'times'>,
  shipments: ErasedShipment[],
): Promise<void> {
  await untilNothingIsOwed(deps, shipments);
  await forgetUnderWay(deps.db, shipments);
}

async function tell(tx: Database, by: Actor, shipments: MarkedShipment[]): Promise<void> {
  for (const { shipperId, shipmentId, isFirst } of shipments)
    if (isFirst) await audit(tx, by, { action: 'SHIPMENT_ERASED', shipperId, shipmentId });
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
