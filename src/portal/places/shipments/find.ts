import type { DeliveryDetails, DeliveryPage, ShipmentPage, Tracking } from '../../../client/api/types.js';
import { isUuid } from '../../list/Filters.js';
import { isApiError, read, withQuery } from '../../api.js';
import { navigate } from '../../router.js';

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
    if (await exists<Tracking>(`/v1/shipment-tracking/${trackingId}`))
      return { ...own, count: 1, trackingId };
  }
  return number.length > maxPrefix ? own : findBy('shipperTrackingIdPrefix', number);
}

/** Only texts of this form are asked for: each one that does not exist is an error in the browser's console. */
const trackingIdForm = /^PH[A-Z0-9]{18,62}$/;
const maxPrefix = 500;

async function exists<Found>(address: string): Promise<boolean> {
  try {
    await read<Found>(address);
    return true;
  } catch (error) {
    if (!isApiError(error) || error.status !== 404) throw error;
    return false;
  }
}

/** Opens the delivery of this id, or lists those of this `webhook-id`. Returns false if there are none. */
export async function openInLog(id: string): Promise<boolean> {
  if (!eventIdForm.test(id)) return false;
  const { deliveries } = await read<DeliveryPage>(withQuery('/v1/deliveries', { eventId: id, limit: 1 }));
  if (deliveries.length > 0) navigate(withQuery('/deliveries', { eventId: id }));
  else if (isUuid(id) && (await exists<DeliveryDetails>(`/v1/deliveries/${id}`)))
    navigate(`/deliveries/${id}`);
  else return false;
  return true;
}

const eventIdForm = /^[\x21-\x7e]{1,255}$/;

async function findBy(by: Found['by'], number: string): Promise<Found> {
  const { shipments, nextCursor } = await read<ShipmentPage>(
    withQuery('/v1/shipments', { [by]: number, limit: 2 }),
  );
  // The newest of many that begin so may be further back.
  const count = nextCursor === null ? shipments.length : 2;
  return { count, trackingId: count === 1 ? shipments[0]!.trackingId : null, by };
}
