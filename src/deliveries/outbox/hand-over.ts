import type { DueClaim } from './types.js';

/**
 * A webhook that PostgreSQL holds something due for, and from which moment on (epoch); null: nobody knows since when.
 */
export interface Due {
  webhookId: string;
  dueFromMs: number | null;
}

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

export const noRoom: Room = { byWebhook: {}, ofOthers: 0, total: 0 };

/** How what was recorded gets to the process that sends it. */
export interface HandOver {
  /** Makes room for what is about to be recorded: one entry for each event, its shipper. */
  reserve(shipperIds: string[]): Room;
  /**
   * Called once after each `reserve`, whatever became of the statement, with the claims it made and each other
   * delivery that is due. `asOfMs` of performance.now(), before the statement was sent.
   */
  recorded(room: Room, claims: DueClaim[], left: Due[], asOfMs: number): void;
  /** These webhooks have something due. */
  notify(due: Due[]): void;
}

/** Each webhook once, with the earliest of its moments. */
export function distinctDue(due: Due[]): Due[] {
  const byWebhook = new Map<string, number | null>();
  for (const { webhookId, dueFromMs } of due) {
    const known = byWebhook.get(webhookId);
    const earliest = known === null || dueFromMs === null ? null : Math.min(known ?? Infinity, dueFromMs);
    byWebhook.set(webhookId, earliest);
  }
  return [...byWebhook].map(([webhookId, dueFromMs]) => ({ webhookId, dueFromMs }));
}

/** Of webhooks of which something may have been due for long. */
export const dueSinceUnknown = (webhookIds: Iterable<string>): Due[] =>
  [...new Set(webhookIds)].map((webhookId) => ({ webhookId, dueFromMs: null }));
