import type { ShipmentPage, Tracking } from '../../../client/api/types.js';
import { isApiError, read, withQuery } from '../../api.js';

interface Found {
  /** 0, 1, or 2 for more. */
  count: number;
  /** That of the only one; null if there is none, or more than one. */
  trackingId: string | null;
  /** The filter of the list that has them. */
  by: 'shipperTrackingId' | 'shipperTrackingIdPrefix';
}

/**
 * Shipments by either number: the shipper's own first, of which there may be many, then the tracking id, then those
 * whose own number begins so.
 */
export async function findShipments(number: string): Promise<Found> {
  const own = await findBy('shipperTrackingId', number);
  if (own.count > 0) return own;
  const trackingId = number.toUpperCase();
  if (trackingIdForm.test(trackingId)) {
    try {
      await read<Tracking>(`/v1/shipment-tracking/${trackingId}`);
      return { ...own, count: 1, trackingId };
    } catch (error) {
      if (!isApiError(error) || error.status !== 404) throw error;
    }
  }
  return number.length > maxPrefix ? own : findBy('shipperTrackingIdPrefix', number);
}

/** Only texts of this form are asked for: each one that does not exist is an error in the browser's console. */
const trackingIdForm = /^PH[A-Z0-9]{18,62}$/;
const maxPrefix = 500;

async function findBy(by: Found['by'], number: string): Promise<Found> {
  const { shipments, nextCursor } = await read<ShipmentPage>(
    withQuery('/v1/shipments', { [by]: number, limit: 2 }),
  );
  // The newest of many that begin so may be further back.
  const count = nextCursor === null ? shipments.length : 2;
  return { count, trackingId: count === 1 ? shipments[0]!.trackingId : null, by };
}
