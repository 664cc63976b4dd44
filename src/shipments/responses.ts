import * as z from 'zod';
import {
  anomalies,
  described,
  instant,
  instantOrNull,
  milliseconds,
  nextCursor,
  trackingId,
  uuid,
} from '../http/request/fields.js';
import { orderSchemaOf } from './order.js';

/** Orders that were accepted with other checks are shown as they are. */
const orderSchema = orderSchemaOf('lenient', 256 * 1024);
const { recipientLocation, recipientInformation, package: parcel } = orderSchema.shape;
const place = recipientLocation.shape;
const coordinate = described(z.number().nullable(), 'Null if not reported.', null);

export const dropoffLocation = z
  .object({
    street: described(z.string(), 'Street.', 'Avenida Insurgentes Sur'),
    administrativeArea: place.administrativeArea,
    subAdministrativeArea: described(z.string(), 'Municipality or county.', 'Benito Juárez'),
    country: place.country,
    neighborhood: described(z.string(), 'Neighbourhood.', 'Crédito Constructor'),
    neighborhoodType: described(z.string(), 'Kind of neighbourhood.', 'Suburb'),
    zipCode: described(z.string(), 'Postal code.', '03940'),
    lat: described(z.number(), 'Latitude in degrees.', 19.3629),
    lng: described(z.number(), 'Longitude in degrees.', -99.1832),
    number: described(z.string(), 'House number.', '1602'),
    intNumber: described(z.string().nullable(), 'Office number.', null),
    reference: described(z.string(), 'A landmark.', 'Next to the underground car park'),
    observations: described(
      z.string(),
      'Notes for the person who hands in a parcel.',
      'Monday to Saturday, 09:00 to 19:00',
    ),
  })
  .meta({ id: 'DropoffLocation', description: 'Where you hand in the parcel, chosen by the service.' });

export type DropoffLocation = z.output<typeof dropoffLocation>;

export const orderResult = z
  .object({
    recipientLocation: recipientLocation.required(),
    shipperTrackingId: orderSchema.shape.shipperTrackingId,
    shipperDropoffDate: instant('When you hand in the parcel.', '2030-01-15T10:00:00+00:00'),
    expectedDeliveryDate: instant('When the parcel should arrive.', '2030-01-17T18:00:00+00:00'),
    lotId: z.nonoptional(orderSchema.shape.lotId),
    recipientInformation: recipientInformation.required(),
    package: parcel
      .required()
      .extend({ contentValue: described(z.number().min(0), 'Value, without its fraction.', 349) }),
    dropoffLocation,
    trackingId,
    shipmentId: uuid('Identifier of the shipment.'),
  })
  .meta({
    id: 'OrderResult',
    description: 'The accepted order. The shipment is created shortly after.',
  });

export const placedOrder = orderResult
  .extend({
    package: parcel.required(),
    acceptedAt: instant('When the order was accepted.'),
    erasedAt: instantOrNull(
      "When the recipient's data and the contents were erased: in their place is `ERASED` or null. Null if they were not.",
    ),
  })
  .meta({ id: 'PlacedOrder', description: 'The order as it was placed.' });

export const tracking = z
  .object({
    trackingId,
    shipmentId: uuid('Identifier of the shipment.'),
    shipperTrackingId: orderSchema.shape.shipperTrackingId,
    state: described(z.string().nullable(), 'State now; null until the shipment is created.', 'CREATED'),
    history: described(
      z.array(
        z.object({
          state: described(z.string(), 'The new state.', 'CREATED'),
          timestamp: milliseconds('When it changed, in milliseconds since 1970.'),
          lat: coordinate,
          lng: coordinate,
          anomalies,
          evidences: described(z.array(z.unknown()), 'Evidence reported with the state.', []),
        }),
      ),
      'Its states, oldest first: the latest 1,000, or as many of them as fit in 1 MiB. The feed (`GET /v1/events`) has all of them.',
    ),
  })
  .meta({ id: 'Tracking', description: 'A shipment and its history.' });

const shipment = z
  .object({
    trackingId,
    shipmentId: uuid('Identifier of the shipment.'),
    shipperTrackingId: orderSchema.shape.shipperTrackingId,
    state: described(z.string().nullable(), 'State now; null until the shipment is created.', 'CREATED'),
    acceptedAt: instant('When the order was accepted.'),
    updatedAt: instant('When its state last changed; until it is created, when the order was accepted.'),
  })
  .meta({ id: 'ListedShipment', description: 'A shipment, without its recipient.' });

export const shipmentList = z
  .object({ shipments: z.array(shipment), nextCursor })
  .meta({ description: 'Shipments, newest first.' });

export const stateList = z
  .object({
    states: described(
      z.array(
        z
          .object({
            state: described(z.string(), 'Name of the state.', 'CREATED'),
            terminal: described(z.boolean(), 'Whether no state follows.', false),
            next: described(z.array(z.string()), 'The states that may follow.', [
              'PICKED_UP',
              'CANCELLED',
              'LOST',
            ]),
          })
          .meta({ id: 'State', description: 'A state and those that may follow.' }),
      ),
      'Every state a shipment can be in; the first is that of a new shipment.',
    ),
  })
  .meta({ description: 'The catalogue of states.' });

export const recordedEvent = z
  .object({
    eventId: described(
      z.string(),
      "The event: your own `eventId`, or the service's. It is the `webhook-id` of its notifications.",
      'scan-20261121-0001',
    ),
  })
  .meta({ id: 'RecordedEvent', description: 'The event is recorded, and its deliveries are owed.' });
