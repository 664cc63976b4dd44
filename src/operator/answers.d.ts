import { z } from 'zod';
export declare const shipper: z.ZodObject<{
    shipperId: z.ZodUUID;
    accountKey: z.ZodString;
}, z.core.$strip>;
export declare const user: z.ZodObject<{
    userId: z.ZodUUID;
    setPasswordUrl: z.ZodString;
}, z.core.$strip>;
export declare const passwordLink: z.ZodObject<{
    setPasswordUrl: z.ZodString;
}, z.core.$strip>;
export declare const recorded: z.ZodObject<{
    eventId: z.ZodString;
}, z.core.$strip>;
export declare const recordedMany: z.ZodObject<{
    results: z.ZodArray<z.ZodUnion<readonly [z.ZodObject<{
        eventId: z.ZodString;
    }, z.core.$strip>, z.ZodObject<{
        error: z.ZodObject<{
            status: z.ZodString;
            message: z.ZodString;
            details: z.ZodOptional<z.ZodArray<z.ZodObject<{
                path: z.ZodString;
                message: z.ZodString;
            }, z.core.$strip>>>;
        }, z.core.$strip>;
    }, z.core.$strip>]>>;
}, z.core.$strip>;
export declare const cancelledReplay: z.ZodObject<{
    replayId: z.ZodUUID;
    webhookId: z.ZodUUID;
    total: z.ZodInt;
    done: z.ZodInt;
    status: z.ZodLiteral<"CANCELLED">;
}, z.core.$strip>;
export declare const resealed: z.ZodObject<{
    resealed: z.ZodInt;
    unreadable: z.ZodInt;
}, z.core.$strip>;
export declare const status: z.ZodObject<{
    queues: z.ZodRecord<z.ZodString, z.ZodUnion<readonly [z.ZodRecord<z.ZodString, z.ZodInt>, z.ZodObject<{
        error: z.ZodString;
    }, z.core.$strip>]>>;
    lag: z.ZodObject<{
        ordersToCreate: z.ZodInt;
        deliveriesDue: z.ZodInt;
        oldestDueSeconds: z.ZodInt;
    }, z.core.$strip>;
    openCircuits: z.ZodInt;
    replays: z.ZodArray<z.ZodObject<{
        replayId: z.ZodUUID;
        webhookId: z.ZodUUID;
        total: z.ZodInt;
        done: z.ZodInt;
        status: z.ZodEnum<{
            CANCELLED: "CANCELLED";
            DONE: "DONE";
            RUNNING: "RUNNING";
        }>;
    }, z.core.$strip>>;
    versions: z.ZodObject<{
        parcelhook: z.ZodString;
        node: z.ZodString;
        postgres: z.ZodString;
        queueEngine: z.ZodEnum<{
            postgres: "postgres";
            redis: "redis";
        }>;
    }, z.core.$strip>;
}, z.core.$strip>;
