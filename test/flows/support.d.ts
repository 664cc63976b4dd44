import { type Account } from '../client.js';
import { type Service } from '../harness.js';
import type { Received } from '../receiver.js';
/** What a process of a deployment on some other database needs. */
export declare const deployment: (databaseUrl: string, env?: Record<string, string>) => Record<string, string>;
export interface Folder {
    path: string;
    remove(): void;
}
export declare function newFolder(): Folder;
/** Resolves with the milliseconds it took until `condition` held; rejects after `timeoutMs`. */
export declare function until(what: string, condition: () => boolean | Promise<boolean>, timeoutMs?: number): Promise<number>;
/** Places orders, a few at a time; their tracking ids. */
export declare function placeOrders(account: Account, count: number): Promise<string[]>;
export interface Load {
    /** Tracking ids of the orders answered 201. */
    accepted: string[];
    /** One entry per order: what it was answered (0: the connection broke) and how long that took. */
    answers: {
        httpStatus: number;
        durationMs: number;
        retryAfter: string | null;
    }[];
    stop(): Promise<void>;
}
/** Places an order every `everyMs` without waiting for the one before. `accounts` tells whom to ask next. */
export declare function startLoad(nextAccount: () => Account, everyMs: number): Load;
/** The account as served by another process of the same deployment. */
export declare const accountAt: (account: Account, { url }: {
    url: string;
}) => Account;
export declare const percentile: (values: number[], p: number) => number;
export declare const trackingIdOf: (request: Received) => string;
/** How many of these shipments the receiver has heard of. */
export declare function heardOf(received: Received[], trackingIds: string[]): number;
/** Requests beyond the first of each notification. */
export declare const repeated: (received: Received[]) => number;
/** Throws where a signature does not verify, as a receiver's own code would. */
export declare function verifyAll(received: Received[], secret: string): void;
/** All deliveries in one: what is owed, with its status in the outbox, and what is finished. */
export declare const allDeliveries = "(\n  select delivery_id, webhook_id, status, attempt_count from outbox\n  union all\n  select delivery_id, webhook_id, status, attempt_count from deliveries) as all_deliveries";
/** Statuses of a webhook's deliveries and how many have each. */
export declare function countByStatus(service: Service, webhookId: string): Promise<Record<string, number>>;
/** Resolves when every delivery of the webhook has this status and is recorded. */
export declare const untilAllAre: (service: Service, webhookId: string, status: string, count: number, timeoutMs?: number) => Promise<number>;
/** Traces of what must never happen in a process's output. */
export declare const crashTraces: (output: string) => string[];
