import { z } from 'zod';
import { type SchemaCollector } from '../../http/openapi/schemas.js';
import type { Paths } from '../../http/openapi/types.js';
/** The specification's notification ("Events"). */
export declare const notification: z.ZodObject<{
    state: z.ZodString;
    label_id: z.ZodString;
    anomalies: z.ZodUnknown;
    evidences: z.ZodArray<z.ZodUnknown>;
    tracking_id: z.ZodString;
    shipper_tracking_id: z.ZodString;
    timestamp: z.ZodInt;
    lat: z.ZodNullable<z.ZodNumber>;
    lng: z.ZodNullable<z.ZodNumber>;
}, z.core.$strip>;
/** What the other webhooks of a shipper are told about one of them. */
export declare const notice: z.ZodObject<{
    state: z.ZodEnum<{
        WEBHOOK_DISABLED: "WEBHOOK_DISABLED";
        WEBHOOK_FAILING: "WEBHOOK_FAILING";
        WEBHOOK_RECOVERED: "WEBHOOK_RECOVERED";
    }>;
    webhook_id: z.ZodUUID;
    target_address: z.ZodString;
    reason: z.ZodNullable<z.ZodEnum<{
        CIRCUIT_OPEN: "CIRCUIT_OPEN";
        FAILING: "FAILING";
        GONE: "GONE";
    }>>;
    timestamp: z.ZodInt;
}, z.core.$strip>;
/** `webhooks` of the document: what receivers get. */
export declare function notificationDocs(schemas: SchemaCollector): Paths;
