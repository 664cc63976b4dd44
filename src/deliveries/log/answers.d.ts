import { z } from 'zod';
export declare const deliveryList: z.ZodObject<{
    deliveries: z.ZodArray<z.ZodObject<{
        deliveryId: z.ZodUUID;
        webhookId: z.ZodUUID;
        targetAddress: z.ZodString;
        eventId: z.ZodString;
        trackingId: z.ZodNullable<z.ZodString>;
        shipperTrackingId: z.ZodNullable<z.ZodString>;
        state: z.ZodString;
        status: z.ZodEnum<{
            CANCELLED: "CANCELLED";
            FAILED: "FAILED";
            HELD: "HELD";
            PENDING: "PENDING";
            SENDING: "SENDING";
            SUCCEEDED: "SUCCEEDED";
        }>;
        heldBy: z.ZodNullable<z.ZodEnum<{
            CIRCUIT: "CIRCUIT";
            DISABLED: "DISABLED";
            PAUSED: "PAUSED";
            SUSPENDED: "SUSPENDED";
            TURN: "TURN";
        }>>;
        nextProbeAt: z.ZodNullable<z.ZodISODateTime>;
        reason: z.ZodNullable<z.ZodEnum<{
            ERASED: "ERASED";
            EXPIRED: "EXPIRED";
            SUPERSEDED: "SUPERSEDED";
            WEBHOOK_DELETED: "WEBHOOK_DELETED";
        }>>;
        attemptCount: z.ZodInt;
        lastAttempt: z.ZodNullable<z.ZodObject<{
            startedAt: z.ZodISODateTime;
            durationMs: z.ZodNullable<z.ZodInt>;
            statusCode: z.ZodNullable<z.ZodInt>;
            errorCode: z.ZodNullable<z.ZodEnum<{
                ADDRESS_DENIED: "ADDRESS_DENIED";
                CONNECT: "CONNECT";
                DNS: "DNS";
                HTTP_STATUS: "HTTP_STATUS";
                PROTOCOL: "PROTOCOL";
                RESET: "RESET";
                TIMEOUT: "TIMEOUT";
                TLS: "TLS";
            }>>;
        }, z.core.$strip>>;
        nextAttemptAt: z.ZodNullable<z.ZodISODateTime>;
        createdAt: z.ZodISODateTime;
        completedAt: z.ZodNullable<z.ZodISODateTime>;
    }, z.core.$strip>>;
    nextCursor: z.ZodNullable<z.ZodString>;
}, z.core.$strip>;
export declare const deliveryDetails: z.ZodObject<{
    deliveryId: z.ZodUUID;
    webhookId: z.ZodUUID;
    targetAddress: z.ZodString;
    eventId: z.ZodString;
    trackingId: z.ZodNullable<z.ZodString>;
    shipperTrackingId: z.ZodNullable<z.ZodString>;
    state: z.ZodString;
    status: z.ZodEnum<{
        CANCELLED: "CANCELLED";
        FAILED: "FAILED";
        HELD: "HELD";
        PENDING: "PENDING";
        SENDING: "SENDING";
        SUCCEEDED: "SUCCEEDED";
    }>;
    heldBy: z.ZodNullable<z.ZodEnum<{
        CIRCUIT: "CIRCUIT";
        DISABLED: "DISABLED";
        PAUSED: "PAUSED";
        SUSPENDED: "SUSPENDED";
        TURN: "TURN";
    }>>;
    nextProbeAt: z.ZodNullable<z.ZodISODateTime>;
    reason: z.ZodNullable<z.ZodEnum<{
        ERASED: "ERASED";
        EXPIRED: "EXPIRED";
        SUPERSEDED: "SUPERSEDED";
        WEBHOOK_DELETED: "WEBHOOK_DELETED";
    }>>;
    attemptCount: z.ZodInt;
    lastAttempt: z.ZodNullable<z.ZodObject<{
        startedAt: z.ZodISODateTime;
        durationMs: z.ZodNullable<z.ZodInt>;
        statusCode: z.ZodNullable<z.ZodInt>;
        errorCode: z.ZodNullable<z.ZodEnum<{
            ADDRESS_DENIED: "ADDRESS_DENIED";
            CONNECT: "CONNECT";
            DNS: "DNS";
            HTTP_STATUS: "HTTP_STATUS";
            PROTOCOL: "PROTOCOL";
            RESET: "RESET";
            TIMEOUT: "TIMEOUT";
            TLS: "TLS";
        }>>;
    }, z.core.$strip>>;
    nextAttemptAt: z.ZodNullable<z.ZodISODateTime>;
    createdAt: z.ZodISODateTime;
    completedAt: z.ZodNullable<z.ZodISODateTime>;
    payload: z.ZodUnion<readonly [z.ZodObject<{
        state: z.ZodString;
        label_id: z.ZodString;
        anomalies: z.ZodUnknown;
        evidences: z.ZodArray<z.ZodUnknown>;
        tracking_id: z.ZodString;
        shipper_tracking_id: z.ZodString;
        timestamp: z.ZodInt;
        lat: z.ZodNullable<z.ZodNumber>;
        lng: z.ZodNullable<z.ZodNumber>;
    }, z.core.$strip>, z.ZodObject<{
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
    }, z.core.$strip>]>;
    attempts: z.ZodArray<z.ZodObject<{
        number: z.ZodInt;
        trigger: z.ZodEnum<{
            MANUAL: "MANUAL";
            REPLAY: "REPLAY";
            SCHEDULED: "SCHEDULED";
            TEST: "TEST";
        }>;
        startedAt: z.ZodISODateTime;
        durationMs: z.ZodNullable<z.ZodInt>;
        statusCode: z.ZodNullable<z.ZodInt>;
        errorCode: z.ZodNullable<z.ZodEnum<{
            ADDRESS_DENIED: "ADDRESS_DENIED";
            CONNECT: "CONNECT";
            DNS: "DNS";
            HTTP_STATUS: "HTTP_STATUS";
            PROTOCOL: "PROTOCOL";
            RESET: "RESET";
            TIMEOUT: "TIMEOUT";
            TLS: "TLS";
        }>>;
        responseBody: z.ZodNullable<z.ZodString>;
    }, z.core.$strip>>;
    nextAttemptsCursor: z.ZodNullable<z.ZodString>;
}, z.core.$strip>;
export declare const testResult: z.ZodObject<{
    number: z.ZodInt;
    startedAt: z.ZodISODateTime;
    durationMs: z.ZodNullable<z.ZodInt>;
    statusCode: z.ZodNullable<z.ZodInt>;
    errorCode: z.ZodNullable<z.ZodEnum<{
        ADDRESS_DENIED: "ADDRESS_DENIED";
        CONNECT: "CONNECT";
        DNS: "DNS";
        HTTP_STATUS: "HTTP_STATUS";
        PROTOCOL: "PROTOCOL";
        RESET: "RESET";
        TIMEOUT: "TIMEOUT";
        TLS: "TLS";
    }>>;
    responseBody: z.ZodNullable<z.ZodString>;
    deliveryId: z.ZodUUID;
    eventId: z.ZodString;
    trigger: z.ZodLiteral<"TEST">;
}, z.core.$strip>;
export declare const redelivery: z.ZodObject<{
    deliveryId: z.ZodUUID;
}, z.core.$strip>;
export declare const replay: z.ZodObject<{
    queued: z.ZodInt;
    replayId: z.ZodUUID;
}, z.core.$strip>;
