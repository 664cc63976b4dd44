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

/**
 * A page starts this long before where the previous one ended. What a slower statement made due may lie earlier still:
 * other rows became due and were pulled before it was committed.
 */
export const behindMs = 500;

/** `issuedAt` of performance.now(), before the statement was sent. */
export const mayLieBehind = (issuedAt: number) => performance.now() - issuedAt >= behindMs;

export const noRoom: Room = { byWebhook: {}, ofOthers: 0, total: 0 };

/** How what was recorded gets to who sends it. */
export interface HandOver {
  /** Makes room for what is about to be recorded: one entry for each event, its shipper. */
  reserve(shipperIds: string[]): Room;
  /**
   * Told once after each `reserve`, whatever became of the statement: what is claimed, and the webhook of each other
   * delivery that is due. `issuedAt` of performance.now(), before the statement was sent.
   */
  owed(room: Room, claims: Claim[], dueWebhooks: string[], issuedAt: number): void;
  /** These webhooks have something due. */
  look(webhookIds: string[]): void;
}
