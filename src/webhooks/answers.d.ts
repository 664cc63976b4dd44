import { z } from 'zod';
export declare const webhook: z.ZodObject<{
    webhookId: z.ZodUUID;
    interests: z.ZodArray<z.ZodString>;
    targetAddress: z.ZodString;
    status: z.ZodEnum<{
        ACTIVE: "ACTIVE";
        DISABLED: "DISABLED";
        PAUSED: "PAUSED";
    }>;
    disabledReason: z.ZodNullable<z.ZodEnum<{
        BY_SHIPPER: "BY_SHIPPER";
        FAILING: "FAILING";
        GONE: "GONE";
    }>>;
    ordering: z.ZodEnum<{
        NONE: "NONE";
        SHIPMENT: "SHIPMENT";
    }>;
    supersede: z.ZodBoolean;
    headers: z.ZodRecord<z.ZodString, z.ZodLiteral<"••••">>;
    description: z.ZodString;
    createdAt: z.ZodISODateTime;
    updatedAt: z.ZodISODateTime;
    unknownInterests: z.ZodArray<z.ZodString>;
}, z.core.$strip>;
export declare const newWebhook: z.ZodObject<{
    webhookId: z.ZodUUID;
    interests: z.ZodArray<z.ZodString>;
    targetAddress: z.ZodString;
    status: z.ZodEnum<{
        ACTIVE: "ACTIVE";
        DISABLED: "DISABLED";
        PAUSED: "PAUSED";
    }>;
    disabledReason: z.ZodNullable<z.ZodEnum<{
        BY_SHIPPER: "BY_SHIPPER";
        FAILING: "FAILING";
        GONE: "GONE";
    }>>;
    ordering: z.ZodEnum<{
        NONE: "NONE";
        SHIPMENT: "SHIPMENT";
    }>;
    supersede: z.ZodBoolean;
    headers: z.ZodRecord<z.ZodString, z.ZodLiteral<"••••">>;
    description: z.ZodString;
    createdAt: z.ZodISODateTime;
    updatedAt: z.ZodISODateTime;
    unknownInterests: z.ZodArray<z.ZodString>;
    secret: z.ZodString;
}, z.core.$strip>;
export declare const webhookWithHealth: z.ZodObject<{
    webhookId: z.ZodUUID;
    interests: z.ZodArray<z.ZodString>;
    targetAddress: z.ZodString;
    status: z.ZodEnum<{
        ACTIVE: "ACTIVE";
        DISABLED: "DISABLED";
        PAUSED: "PAUSED";
    }>;
    disabledReason: z.ZodNullable<z.ZodEnum<{
        BY_SHIPPER: "BY_SHIPPER";
        FAILING: "FAILING";
        GONE: "GONE";
    }>>;
    ordering: z.ZodEnum<{
        NONE: "NONE";
        SHIPMENT: "SHIPMENT";
    }>;
    supersede: z.ZodBoolean;
    headers: z.ZodRecord<z.ZodString, z.ZodLiteral<"••••">>;
    description: z.ZodString;
    createdAt: z.ZodISODateTime;
    updatedAt: z.ZodISODateTime;
    unknownInterests: z.ZodArray<z.ZodString>;
    health: z.ZodObject<{
        circuit: z.ZodEnum<{
            CLOSED: "CLOSED";
            OPEN: "OPEN";
        }>;
        nextProbeAt: z.ZodNullable<z.ZodISODateTime>;
        lastSuccessAt: z.ZodNullable<z.ZodISODateTime>;
        failureRate: z.ZodNullable<z.ZodNumber>;
        pendingCount: z.ZodInt;
    }, z.core.$strip>;
}, z.core.$strip>;
export declare const webhookList: z.ZodObject<{
    webhooks: z.ZodArray<z.ZodObject<{
        webhookId: z.ZodUUID;
        interests: z.ZodArray<z.ZodString>;
        targetAddress: z.ZodString;
        status: z.ZodEnum<{
            ACTIVE: "ACTIVE";
            DISABLED: "DISABLED";
            PAUSED: "PAUSED";
        }>;
        disabledReason: z.ZodNullable<z.ZodEnum<{
            BY_SHIPPER: "BY_SHIPPER";
            FAILING: "FAILING";
            GONE: "GONE";
        }>>;
        ordering: z.ZodEnum<{
            NONE: "NONE";
            SHIPMENT: "SHIPMENT";
        }>;
        supersede: z.ZodBoolean;
        headers: z.ZodRecord<z.ZodString, z.ZodLiteral<"••••">>;
        description: z.ZodString;
        createdAt: z.ZodISODateTime;
        updatedAt: z.ZodISODateTime;
        unknownInterests: z.ZodArray<z.ZodString>;
    }, z.core.$strip>>;
    nextCursor: z.ZodNullable<z.ZodString>;
}, z.core.$strip>;
export declare const deletedWebhook: z.ZodObject<{
    webhookId: z.ZodUUID;
}, z.core.$strip>;
export declare const rotatedSecret: z.ZodObject<{
    webhookId: z.ZodUUID;
    secret: z.ZodString;
    previousSecretValidUntil: z.ZodISODateTime;
}, z.core.$strip>;
