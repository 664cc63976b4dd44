import { z } from 'zod';
/**
 * Every environment variable: its form, its default as it would be written in the environment, and what it is for
 * (contract, section 7). What a description says after `Unset:` stands in the README's table as the default; the table
 * is made of this by `npm run config-table`.
 */
export declare const variables: z.ZodObject<{
    PORT: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    HOST: z.ZodOptional<z.ZodString>;
    MAX_CONNECTIONS: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    PUBLIC_URL: z.ZodOptional<z.ZodString>;
    DATA_DIR: z.ZodPrefault<z.ZodString>;
    DATABASE_URL: z.ZodOptional<z.ZodString>;
    MIGRATION_DATABASE_URL: z.ZodOptional<z.ZodString>;
    REDIS_URL: z.ZodOptional<z.ZodString>;
    QUEUE_PREFIX: z.ZodPrefault<z.ZodString>;
    TOKEN_SECRET: z.ZodOptional<z.ZodString>;
    TOKEN_SECRET_PREVIOUS: z.ZodOptional<z.ZodString>;
    SECRETS_KEY: z.ZodOptional<z.ZodString>;
    SECRETS_KEY_PREVIOUS: z.ZodOptional<z.ZodString>;
    OPERATOR_TOKEN: z.ZodOptional<z.ZodString>;
    OPERATOR_TOKENS: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<{
        name: string;
        scope: import("./http/route.js").OperatorScope;
        token: string;
    }[], string>>>;
    TOKEN_TTL: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    ALLOW_PRIVATE_TARGETS: z.ZodOptional<z.ZodPipe<z.ZodEnum<{
        false: "false";
        true: "true";
    }>, z.ZodTransform<boolean, "false" | "true">>>;
    ALLOW_HTTP_TARGETS: z.ZodOptional<z.ZodPipe<z.ZodEnum<{
        false: "false";
        true: "true";
    }>, z.ZodTransform<boolean, "false" | "true">>>;
    ALLOWED_PORTS: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number[], string>>>;
    DENIED_NETWORKS: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<string[], string>>>;
    DNS_SERVERS: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<string[], string>>>;
    EGRESS_PROXY: z.ZodOptional<z.ZodString>;
    EGRESS_ADDRESSES: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<string[], string>>>;
    WEBHOOKS_PER_SHIPPER: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    WEBHOOK_CREATION_LIMIT: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    BY_HAND_LIMIT: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    RETRY_SCHEDULE: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number[], string>>>;
    DELIVERY_TIMEOUT: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    DELIVERY_CONCURRENCY: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    DELIVERY_SHARDS: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    ORDER_HOLD: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    LOG_RETENTION: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    SHIPMENT_RETENTION: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    API_RATE_LIMIT: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    LOGIN_LIMIT_ACCOUNT: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    LOGIN_LIMIT_IP: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    TRUST_PROXY: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<number | string[], string>>>;
    STATES_FILE: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<import("./shipments/states.js").StateCatalogue, string>>>;
    DROPOFF_FILE: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<import("./shipments/order.js").DropoffLocation[], string>>>;
    LOG_LEVEL: z.ZodPrefault<z.ZodEnum<{
        debug: "debug";
        error: "error";
        fatal: "fatal";
        info: "info";
        silent: "silent";
        trace: "trace";
        warn: "warn";
    }>>;
    METRICS_PORT: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    METRICS_TOKEN: z.ZodOptional<z.ZodString>;
    SHUTDOWN_TIMEOUT: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
    TIME_SCALE: z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
}, z.core.$strip>;
export type Variables = z.output<typeof variables>;
