import { z } from 'zod';
/** The body of order integration (specification, "Order"; optional fields and bounds: contract, section 3). */
export declare const orderSchema: z.ZodObject<{
    recipientLocation: z.ZodObject<{
        street: z.ZodString;
        number: z.ZodString;
        administrativeArea: z.ZodString;
        subAdministrativeArea: z.ZodString;
        country: z.ZodString;
        neighborhood: z.ZodString;
        postalCode: z.ZodString;
        notes: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        reference: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        intNumber: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        lat: z.ZodOptional<z.ZodNullable<z.ZodNumber>>;
        lng: z.ZodOptional<z.ZodNullable<z.ZodNumber>>;
    }, z.core.$strip>;
    shipperTrackingId: z.ZodString;
    shipperDropoffDate: z.ZodString;
    expectedDeliveryDate: z.ZodString;
    lotId: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    recipientInformation: z.ZodObject<{
        fullName: z.ZodString;
        phone: z.ZodString;
        email: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    }, z.core.$strip>;
    package: z.ZodObject<{
        packageType: z.ZodString;
        description: z.ZodString;
        contentValue: z.ZodNumber;
        valueCurrency: z.ZodString;
        weight: z.ZodNumber;
        weightUnit: z.ZodString;
        length: z.ZodNumber;
        width: z.ZodNumber;
        height: z.ZodNumber;
        dimensionsUnit: z.ZodString;
        items: z.ZodOptional<z.ZodUnknown>;
    }, z.core.$strip>;
}, z.core.$strip>;
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
export declare function orderResult(accepted: {
    order: Order;
    dropoffLocation: DropoffLocation;
    trackingId: string;
    shipmentId: string;
}): {
    recipientLocation: {
        street: string;
        number: string;
        administrativeArea: string;
        subAdministrativeArea: string;
        country: string;
        neighborhood: string;
        postalCode: string;
        notes: string | null;
        reference: string | null;
        intNumber: string | null;
        lat: number | null;
        lng: number | null;
    };
    shipperTrackingId: string;
    shipperDropoffDate: string | null;
    expectedDeliveryDate: string | null;
    lotId: string | null;
    recipientInformation: {
        fullName: string;
        phone: string;
        email: string | null;
    };
    package: {
        packageType: string;
        description: string;
        contentValue: number;
        valueCurrency: string;
        weight: number;
        weightUnit: string;
        length: number;
        width: number;
        height: number;
        dimensionsUnit: string;
        items: {} | null;
    };
    dropoffLocation: {
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
    };
    trackingId: string;
    shipmentId: string;
};
