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
export declare const renderNotification: (shipment: Pick<ShipmentHead, 'trackingId' | 'shipperTrackingId'>, event: StateEvent, timestampMs: number) => string;
/** Of an event of a shipment whose personal data is erased, what may be told: the state and when. */
export declare const withoutPersonalData: (event: StateEvent) => StateEvent;
/** A notification that was rendered before its shipment's personal data was erased, as it is kept after. */
export declare const eraseNotification: (body: string) => string;
