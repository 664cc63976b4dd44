import { z } from 'zod';
import type { Database } from '../../platform/database/postgres.js';
export interface Attempt {
    number: number;
    trigger: string;
    startedAt: Date;
    durationMs: number | null;
    statusCode: number | null;
    errorCode: string | null;
    responseBody: string | null;
}
/** Stands for the number of the last attempt of the page before. */
export declare const attemptsCursor: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
/** Cuts a page from attempts read with one more than it has; the newest come first. */
export declare function cutAttempts<Row extends {
    number: number;
}>(rows: Row[]): {
    attempts: Row[];
    nextAttemptsCursor: string | null;
};
/**
 * Attempts of delivery $2 of shipper $1 that are over, the newest first, one more than a page: those before the last,
 * and the last one of what is finished. `before` is a parameter with the number they are below, or null.
 */
export declare const attemptsText: (before: string) => string;
/** The newest attempts that are over. */
export declare const listAttempts: (db: Database, shipperId: string, deliveryId: string) => Promise<Attempt[]>;
