import { z } from 'zod';
export declare const shipperStatuses: readonly ['ACTIVE', 'SUSPENDED', 'REMOVED'];
export declare const listedShipper: z.ZodObject<{
    shipperId: z.ZodUUID;
    name: z.ZodString;
    status: z.ZodEnum<{
        ACTIVE: "ACTIVE";
        REMOVED: "REMOVED";
        SUSPENDED: "SUSPENDED";
    }>;
    createdAt: z.ZodISODateTime;
    previousKeyValidUntil: z.ZodNullable<z.ZodISODateTime>;
}, z.core.$strip>;
export declare const shipperList: z.ZodObject<{
    shippers: z.ZodArray<z.ZodObject<{
        shipperId: z.ZodUUID;
        name: z.ZodString;
        status: z.ZodEnum<{
            ACTIVE: "ACTIVE";
            REMOVED: "REMOVED";
            SUSPENDED: "SUSPENDED";
        }>;
        createdAt: z.ZodISODateTime;
        previousKeyValidUntil: z.ZodNullable<z.ZodISODateTime>;
    }, z.core.$strip>>;
    nextCursor: z.ZodNullable<z.ZodString>;
}, z.core.$strip>;
export declare const removedShipper: z.ZodObject<{
    shipperId: z.ZodUUID;
}, z.core.$strip>;
export declare const rotatedKey: z.ZodObject<{
    accountKey: z.ZodString;
    previousKeyValidUntil: z.ZodISODateTime;
}, z.core.$strip>;
export declare const userList: z.ZodObject<{
    users: z.ZodArray<z.ZodObject<{
        userId: z.ZodUUID;
        email: z.ZodString;
        hasPassword: z.ZodBoolean;
        createdAt: z.ZodISODateTime;
    }, z.core.$strip>>;
    nextCursor: z.ZodNullable<z.ZodString>;
}, z.core.$strip>;
export declare const endedUser: z.ZodObject<{
    userId: z.ZodUUID;
}, z.core.$strip>;
export declare const auditList: z.ZodObject<{
    entries: z.ZodArray<z.ZodObject<{
        auditId: z.ZodUUID;
        at: z.ZodISODateTime;
        action: z.ZodEnum<{
            ACCOUNT_KEY_ROTATED: "ACCOUNT_KEY_ROTATED";
            LOGIN_REFUSED: "LOGIN_REFUSED";
            OPERATOR_REFUSED: "OPERATOR_REFUSED";
            PASSWORD_LINK_CREATED: "PASSWORD_LINK_CREATED";
            PASSWORD_SET: "PASSWORD_SET";
            REPLAY_CANCELLED: "REPLAY_CANCELLED";
            SECRETS_RESEALED: "SECRETS_RESEALED";
            SHIPPER_CREATED: "SHIPPER_CREATED";
            SHIPPER_REMOVED: "SHIPPER_REMOVED";
            SHIPPER_RENAMED: "SHIPPER_RENAMED";
            SHIPPER_RESUMED: "SHIPPER_RESUMED";
            SHIPPER_SUSPENDED: "SHIPPER_SUSPENDED";
            USER_CREATED: "USER_CREATED";
            USER_REMOVED: "USER_REMOVED";
            USER_SIGNED_OUT: "USER_SIGNED_OUT";
            WEBHOOK_CREATED: "WEBHOOK_CREATED";
            WEBHOOK_DELETED: "WEBHOOK_DELETED";
            WEBHOOK_SECRET_ROTATED: "WEBHOOK_SECRET_ROTATED";
            WEBHOOK_UPDATED: "WEBHOOK_UPDATED";
        }>;
        outcome: z.ZodEnum<{
            DONE: "DONE";
            REFUSED: "REFUSED";
        }>;
        actor: z.ZodObject<{
            kind: z.ZodEnum<{
                OPERATOR: "OPERATOR";
                SERVICE: "SERVICE";
                UNKNOWN: "UNKNOWN";
                USER: "USER";
            }>;
            name: z.ZodNullable<z.ZodString>;
            address: z.ZodNullable<z.ZodString>;
        }, z.core.$strip>;
        shipperId: z.ZodNullable<z.ZodUUID>;
        userId: z.ZodNullable<z.ZodUUID>;
        webhookId: z.ZodNullable<z.ZodUUID>;
        fields: z.ZodArray<z.ZodString>;
        count: z.ZodInt;
    }, z.core.$strip>>;
    nextCursor: z.ZodNullable<z.ZodString>;
}, z.core.$strip>;
