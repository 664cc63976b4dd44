export interface StateEvent {
  state: string;
  /** A repeated id changes nothing. */
  externalId?: string | undefined;
  timestampMs?: number | undefined;
  lat?: number | null | undefined;
  lng?: number | null | undefined;
  anomalies?: unknown;
  evidences?: unknown[] | undefined;
}

/** The specification's notification ("Events"), rendered once: every attempt sends these bytes. */
export const renderNotification = (
  shipment: { trackingId: string; shipperTrackingId: string },
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

/** Only the state and time of an erased shipment's event may be reported. */
export const withoutPersonalData = (event: StateEvent): StateEvent => ({ ...event, ...nothingPersonal });

export const eraseNotification = (body: string): string =>
  JSON.stringify({ ...(JSON.parse(body) as object), ...nothingPersonal });
