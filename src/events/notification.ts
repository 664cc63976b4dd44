import type { ShipmentHead } from './store.js';

/** What happened to a shipment, as it is reported to the service. */
export interface StateEvent {
  state: string;
  /** Makes the event idempotent: the same id again changes nothing. */
  externalId?: string | undefined;
  timestampMs?: number | undefined;
  lat?: number | null | undefined;
  lng?: number | null | undefined;
  anomalies?: unknown;
  evidences?: unknown[] | undefined;
}

/** The specification's notification payload ("Events"), rendered once: every attempt sends these bytes. */
export const renderNotification = (
  shipment: Pick<ShipmentHead, 'trackingId' | 'shipperTrackingId'>,
  event: StateEvent,
  timestampMs: number,
): string =>
  JSON.stringify({
    state: event.state,
    label_id: shipment.shipperTrackingId,
    anomalies: event.anomalies ?? null,
    evidences: event.evidences ?? [],
    tracking_id: shipment.trackingId,
    shipper_tracking_id: shipment.shipperTrackingId,
    timestamp: timestampMs,
    lat: event.lat ?? null,
    lng: event.lng ?? null,
  });

const nothingPersonal = { anomalies: null, evidences: [], lat: null, lng: null };

/** Of an event of a shipment whose personal data is erased, what may be told: the state and when. */
export const withoutPersonalData = (event: StateEvent): StateEvent => ({ ...event, ...nothingPersonal });

/** A notification that was rendered before its shipment's personal data was erased, as it is kept after. */
export const eraseNotification = (body: string): string =>
  JSON.stringify({ ...(JSON.parse(body) as object), ...nothingPersonal });
