import * as z from 'zod';
import { actorOf, type Actor } from '../accounts/audit/audit.js';
import { loadShipments, type MarkedShipment } from '../engine/record/store.js';
import { isoOffset } from '../http/envelope.js';
import { instant, trackingId, uuid } from '../http/request/fields.js';
import { route, type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { notFound } from '../platform/errors.js';

export interface ErasureRouteDependencies {
  db: Database;
  /** Unless it is created already. */
  create(shipmentId: string): Promise<unknown>;
  erase(shipmentId: string, by: Actor): Promise<MarkedShipment[]>;
}

const erased = z
  .object({
    trackingId,
    shipmentId: uuid('Identifier of the shipment.'),
    erasedAt: instant('When its personal data was first erased.'),
  })
  .meta({ id: 'ErasedShipment', description: 'The shipment, without personal data.' });

export function erasureRoutes(deps: ErasureRouteDependencies): Route[] {
  return [
    route({
      method: 'post',
      path: '/operator/v1/shipments/:trackingId/erase',
      summary: 'Erase the personal data of a shipment',
      operationId: 'eraseShipment',
      tag: 'Operator',
      description:
        "Replaces the recipient, the address and the parcel's contents in the order, and what was reported with its states (evidences, anomalies, places) in its events and notifications; deletes the receivers' responses from the log. This cannot be undone. Deliveries still owed for the shipment become `CANCELLED` (`ERASED`); none is sent after the response. Identifiers, states and times stay. Later states are recorded and sent without such data. The request may be repeated.",
      responses: { 200: erased },
      auth: 'operator',
      params: z.object({ trackingId }),
      handle: async ({ caller, params: { trackingId } }) => {
        const [shipment] = trackingId.includes('\0') ? [] : await loadShipments(deps.db, [], [trackingId]);
        if (!shipment) throw notFound('This shipment');
        // The mark of the erasure is stored with the state, so the shipment needs one.
        if (shipment.state === null) await deps.create(shipment.shipmentId);
        const [done] = await deps.erase(shipment.shipmentId, actorOf(caller));
        if (!done) throw notFound('This shipment');
        const { shipmentId, erasedAt } = done;
        return { data: { trackingId, shipmentId, erasedAt: isoOffset(erasedAt) } };
      },
    }),
  ];
}
