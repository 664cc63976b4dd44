import type { ShipmentPage, Tracking } from '../../../client/api/types.js';
import { isApiError, read, withQuery } from '../../api.js';

/**
 * A shipment by either number: the shipper's own first, of which there may be many, then the tracking id. `count` is 0,
 * 1, or 2 for more; `trackingId` is that of the only one.
 */
export async function findShipments(number: string): Promise<{ count: number; trackingId: string | null }> {
  const address = withQuery('/v1/shipments', { shipperTrackingId: number, limit: 2 });
  const { shipments } = await read<ShipmentPage>(address);
  if (shipments.length > 0)
    return { count: shipments.length, trackingId: shipments.length === 1 ? shipments[0]!.trackingId : null };
  const trackingId = number.toUpperCase();
  if (!/^[A-Z0-9]{1,64}$/.test(trackingId)) return { count: 0, trackingId: null };
  try {
    await read<Tracking>(`/v1/shipment-tracking/${trackingId}`);
    return { count: 1, trackingId };
  } catch (error) {
    if (isApiError(error) && error.status === 404) return { count: 0, trackingId: null };
    throw error;
  }
}
