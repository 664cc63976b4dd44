import { z } from 'zod';
import { type DestinationPolicy } from './destination/destination.js';
/** Of requests and answers alike. */
export declare const fields: {
    interests: z.ZodArray<z.ZodString>;
    status: z.ZodEnum<{
        ACTIVE: "ACTIVE";
        DISABLED: "DISABLED";
        PAUSED: "PAUSED";
    }>;
    ordering: z.ZodEnum<{
        NONE: "NONE";
        SHIPMENT: "SHIPMENT";
    }>;
    supersede: z.ZodBoolean;
    description: z.ZodString;
};
/** The bodies of create and update. `policy` decides which addresses a webhook may point to. */
export declare function webhookSchemas(policy: DestinationPolicy): {
    create: z.ZodObject<{
        interests: z.ZodPipe<z.ZodArray<z.ZodString>, z.ZodTransform<string[], string[]>>;
        targetAddress: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;
        status: z.ZodOptional<z.ZodEnum<{
            ACTIVE: "ACTIVE";
            DISABLED: "DISABLED";
            PAUSED: "PAUSED";
        }>>;
        ordering: z.ZodOptional<z.ZodEnum<{
            NONE: "NONE";
            SHIPMENT: "SHIPMENT";
        }>>;
        supersede: z.ZodOptional<z.ZodBoolean>;
        headers: z.ZodOptional<z.ZodType<Record<string, string>, unknown, z.core.$ZodTypeInternals<Record<string, string>, unknown>>>;
        description: z.ZodOptional<z.ZodString>;
    }, z.core.$strip>;
    update: z.ZodObject<{
        interests: z.ZodOptional<z.ZodPipe<z.ZodArray<z.ZodString>, z.ZodTransform<string[], string[]>>>;
        targetAddress: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>>;
        status: z.ZodOptional<z.ZodOptional<z.ZodEnum<{
            ACTIVE: "ACTIVE";
            DISABLED: "DISABLED";
            PAUSED: "PAUSED";
        }>>>;
        ordering: z.ZodOptional<z.ZodOptional<z.ZodEnum<{
            NONE: "NONE";
            SHIPMENT: "SHIPMENT";
        }>>>;
        supersede: z.ZodOptional<z.ZodOptional<z.ZodBoolean>>;
        description: z.ZodOptional<z.ZodOptional<z.ZodString>>;
        headers: z.ZodOptional<z.ZodType<Record<string, string>, unknown, z.core.$ZodTypeInternals<Record<string, string>, unknown>>>;
    }, z.core.$strip>;
};
export type WebhookInput = z.output<ReturnType<typeof webhookSchemas>['create']>;
export type WebhookChanges = z.output<ReturnType<typeof webhookSchemas>['update']>;
