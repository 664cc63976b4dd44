import { behindMs } from '../../outbox/hand-over.js';

/** What of a webhook is due in PostgreSQL, as far as this process knows. Only the functions here change it. */
export interface Backlog {
  /** Something may be. */
  mayBeDue: boolean;
  /** Of that, recorded just now and left there for want of room. */
  leftOutside: number;
  /** A page of it is on its way. */
  pulling: boolean;
  /** Told meanwhile that there is more, due from this moment on (epoch); null if not. */
  againFromMs: number | null;
  /** Where the last page ended (epoch): before it there is nothing but what a late commit brought. */
  sinceMs: number;
}

/** A page that has come, or has not (`failed`). `lastDueMs` (epoch): of what came, when the last became due. */
export interface Page {
  pulled: number;
  lastDueMs: number;
  failed: boolean;
}

export const nothingKnown = (): Backlog => ({
  mayBeDue: false,
  leftOutside: 0,
  pulling: false,
  againFromMs: null,
  sinceMs: -Infinity,
});

/** Something is due from `fromMs` (epoch) on: -Infinity if nobody knows since when, Infinity if it became due just now. */
export function toldOf(backlog: Backlog, fromMs: number): void {
  backlog.mayBeDue = true;
  if (backlog.pulling) backlog.againFromMs = Math.min(backlog.againFromMs ?? Infinity, fromMs);
  else backlog.sinceMs = Math.min(backlog.sinceMs, fromMs);
}

/** One more was recorded just now, and there was no room for it. */
export function leftOutside(backlog: Backlog): void {
  backlog.leftOutside += 1;
}

/** Returns where the page is to begin; null: at the front. */
export function beginPage(backlog: Backlog): Date | null {
  backlog.pulling = true;
  return backlog.sinceMs === -Infinity ? null : new Date(backlog.sinceMs - behindMs);
}

/** `room`: what the page was asked for. One that came back full may have been followed by more. */
export function endPage(backlog: Backlog, room: number, { pulled, lastDueMs, failed }: Page): void {
  const { againFromMs } = backlog;
  backlog.pulling = false;
  backlog.againFromMs = null;
  backlog.mayBeDue = failed || againFromMs !== null || pulled === room;
  backlog.leftOutside = backlog.mayBeDue ? Math.max(0, backlog.leftOutside - pulled) : 0;
  backlog.sinceMs = Math.min(Math.max(backlog.sinceMs, lastDueMs), againFromMs ?? Infinity);
}

/** An older backlog goes before what is recorded from now on; what was left outside just now does not. */
export const goesFirst = (backlog: Backlog) => backlog.mayBeDue && backlog.leftOutside === 0;

/** If it is forgotten, the next page begins at the front, and that is all. */
export const isNothing = ({ mayBeDue, pulling, leftOutside: left }: Backlog) =>
  !mayBeDue && !pulling && left === 0;
