import { z } from 'zod';
import { isoOffset } from '../http/envelope.js';

const maxLength = 1_000;
const text = z
  .string()
  .trim()
  .max(maxLength, `must have at most ${maxLength} characters`)
  .min(1, 'must not be empty');
const optionalText = z.string().trim().max(maxLength, `must have at most ${maxLength} characters`).nullish();
const amount = z.number('must be a finite number').min(0, 'must be at least 0');
const size = z.number('must be a finite number').gt(0, 'must be greater than 0');
const isoUtc = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})$/;

/** A real instant: `2026-02-30T00:00:00Z` is refused, not moved to March. */
const instant = z
  .string()
  .refine(isRealInstant, 'must be a real instant in ISO 8601 UTC, such as 2026-11-21T12:00:00Z');

function isRealInstant(value: string): boolean {
  const match = isoUtc.exec(value);
  if (!match || Number.isNaN(Date.parse(value))) return false;
  const [year, month, day, hour] = match.slice(1, 5).map(Number) as [number, number, number, number];
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= new Date(Date.UTC(year, month, 0)).getUTCDate() &&
    hour < 24
  );
}

/** The body of order integration (specification, "Order"; optional fields and bounds: contract, section 3). */
export const orderSchema = z.object({
  recipientLocation: z.object({
    street: text,
    number: text,
    administrativeArea: text,
    subAdministrativeArea: text,
    country: z
      .string()
      .trim()
      .regex(/^[A-Za-z]{2}$/, 'must be a country code of two letters, such as MX'),
    neighborhood: text,
    postalCode: text,
    notes: optionalText,
    reference: optionalText,
    intNumber: optionalText,
    lat: z.number().min(-90).max(90).nullish(),
    lng: z.number().min(-180).max(180).nullish(),
  }),
  shipperTrackingId: text,
  shipperDropoffDate: instant,
  expectedDeliveryDate: instant,
  lotId: optionalText,
  recipientInformation: z.object({
    fullName: text,
    phone: z
      .string()
      .trim()
      .regex(/^\d{5,20}$/, 'must be 5 to 20 digits'),
    email: optionalText,
  }),
  package: z.object({
    packageType: text,
    description: text,
    contentValue: amount,
    valueCurrency: text,
    weight: size,
    weightUnit: text,
    length: size,
    width: size,
    height: size,
    dimensionsUnit: text,
    items: z.json().optional(),
  }),
});

export type Order = z.output<typeof orderSchema>;

export interface DropoffLocation {
  street: string;
  administrativeArea: string;
  subAdministrativeArea: string;
  country: string;
  neighborhood: string;
  neighborhoodType: string;
  zipCode: string;
  lat: number;
  lng: number;
  number: string;
  intNumber: string | null;
  reference: string;
  observations: string;
}

/** `data` of the answer to order integration: exactly the specification's fields, in its order. */
export function orderResult(accepted: {
  order: Order;
  dropoffLocation: DropoffLocation;
  trackingId: string;
  shipmentId: string;
}) {
  const {
    recipientLocation: to,
    recipientInformation: recipient,
    package: parcel,
    ...order
  } = accepted.order;
  const from = accepted.dropoffLocation;
  return {
    recipientLocation: {
      street: to.street,
      number: to.number,
      administrativeArea: to.administrativeArea,
      subAdministrativeArea: to.subAdministrativeArea,
      country: to.country,
      neighborhood: to.neighborhood,
      postalCode: to.postalCode,
      notes: to.notes ?? null,
      reference: to.reference ?? null,
      intNumber: to.intNumber ?? null,
      lat: to.lat ?? null,
      lng: to.lng ?? null,
    },
    shipperTrackingId: order.shipperTrackingId,
    shipperDropoffDate: isoOffset(new Date(order.shipperDropoffDate)),
    expectedDeliveryDate: isoOffset(new Date(order.expectedDeliveryDate)),
    lotId: order.lotId ?? null,
    recipientInformation: {
      fullName: recipient.fullName,
      phone: recipient.phone,
      email: recipient.email ?? null,
    },
    package: {
      packageType: parcel.packageType,
      description: parcel.description,
      contentValue: Math.trunc(parcel.contentValue),
      valueCurrency: parcel.valueCurrency,
      weight: parcel.weight,
      weightUnit: parcel.weightUnit,
      length: parcel.length,
      width: parcel.width,
      height: parcel.height,
      dimensionsUnit: parcel.dimensionsUnit,
      items: parcel.items ?? null,
    },
    dropoffLocation: {
      street: from.street,
      administrativeArea: from.administrativeArea,
      subAdministrativeArea: from.subAdministrativeArea,
      country: from.country,
      neighborhood: from.neighborhood,
      neighborhoodType: from.neighborhoodType,
      zipCode: from.zipCode,
      lat: from.lat,
      lng: from.lng,
      number: from.number,
      intNumber: from.intNumber,
      reference: from.reference,
      observations: from.observations,
    },
    trackingId: accepted.trackingId,
    shipmentId: accepted.shipmentId,
  };
}
