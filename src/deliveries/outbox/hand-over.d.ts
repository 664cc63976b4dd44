import type { Claim } from './types.js';
/**
 * What a statement that records may insert as claimed by this process: so many of each webhook, so many in all. What is
 * beyond that is READY, for whoever comes.
 */
export interface Room {
    byWebhook: Record<string, number>;
    /** Of a webhook that is not named. */
    ofOthers: number;
    total: number;
}
export declare const noRoom: Room;
/** How what was recorded gets to who sends it. */
export interface HandOver {
    /** Makes room for what is about to be recorded: one entry for each event, its shipper. */
    reserve(shipperIds: string[]): Room;
    /**
     * Told once after each `reserve`, whatever became of the statement: what is claimed, and the webhooks of what
     * else is due, each as often as that is so. `issuedAt` of performance.now(), before the statement was sent.
     */
    owed(room: Room, claims: Claim[], dueWebhooks: string[], issuedAt: number): void;
    /** These webhooks have something due. */
    look(webhookIds: string[]): void;
}
