import * as z from 'zod';
import { described } from '../http/described.js';
import { anyJson, milliseconds, moment, trackingId, uuid } from '../http/request/fields.js';
import { orderSchema } from './order.js';

const { recipientLocation, recipientInformation, package: parcel } = orderSchema.shape;
const place = recipientLocation.shape;
const nowhere = described(z.number().nullable(), 'Null where it was not reported.', null);

const dropoffLocation = z
  .object({
    street: described(z.string(), 'Street.', 'Calle Norte 45'),
    administrativeArea: place.administrativeArea,
    subAdministrativeArea: place.subAdministrativeArea,
    country: place.country,
    neighborhood: place.neighborhood,
    neighborhoodType: described(z.string(), 'Kind of neighbourhood.', 'Suburb'),
    zipCode: place.postalCode,
    lat: described(z.number(), 'Latitude in degrees.', 20.6621),
    lng: described(z.number(), 'Longitude in degrees.', -103.3412),
    number: described(z.string(), 'Number of the house.', '12'),
    intNumber: described(z.string().nullable(), 'Number of the office.', null),
    reference: described(z.string(), 'A landmark.', 'Beside the market'),
    observations: described(z.string(), 'For who hands in a parcel.', 'Loading bay 4'),
  })
  .meta({ id: 'DropoffLocation', description: 'Where you hand the parcel in: chosen by the service.' });

/** `data` of order integration: the order with every field, and what the service adds. */
export const orderResult = z
  .object({
    recipientLocation: recipientLocation.required(),
    shipperTrackingId: orderSchema.shape.shipperTrackingId,
    shipperDropoffDate: moment('When you hand the parcel in.'),
    expectedDeliveryDate: moment('When it should arrive.'),
    lotId: z.nonoptional(orderSchema.shape.lotId),
    recipientInformation: recipientInformation.required(),
    package: parcel
      .required()
      .extend({ contentValue: described(z.number().min(0), 'Value without its fraction.', 349) }),
    dropoffLocation,
    trackingId,
    shipmentId: uuid('Identifier of the shipment.'),
  })
  .meta({
    id: 'OrderResult',
    description: 'The accepted order. The shipment itself is created shortly after.',
  });

export const tracking = z
  .object({
    trackingId,
    shipmentId: uuid('Identifier of the shipment.'),
    shipperTrackingId: orderSchema.shape.shipperTrackingId,
    state: described(z.string().nullable(), 'State now; null until the shipment is created.', 'CREATED'),
    history: described(
      z.array(
        z.object({
          state: described(z.string(), 'State it came to.', 'CREATED'),
          timestamp: milliseconds('When it came to it, in milliseconds since 1970.'),
          lat: nowhere,
          lng: nowhere,
          anomalies: anyJson('What was reported with the state; null if nothing was.', null),
          evidences: described(z.array(z.unknown()), 'What was reported as evidence.', []),
        }),
      ),
      'The states that it reached, oldest first: the latest 1,000, and of those as many as fit in 4 MiB. The feed (`GET /v1/events`) has every one.',
    ),
  })
  .meta({ id: 'Tracking', description: 'The shipment and how it came to where it is.' });
