import type { DueClaim } from '../outbox/types.js';
import type { InFlight, Lane } from './lanes.js';

/**
 * An array in which the last entry takes a removed one's place. Not a Map: in Node 20 an outgrown table of a Map refers to
 * the next, so once one is old, all entries since live until a full collection.
 */
export class Claims {
  readonly all: InFlight[] = [];

  add(claim: DueClaim, lane: Lane, asOfMs: number): InFlight {
    const entry: InFlight = {
      claim,
      lane,
      at: this.all.length,
      asOfMs,
      dueMs: claim.dueAt.getTime(),
      startedAtMs: null,
      pool: null,
      sinceMs: asOfMs,
      sentAtMs: null,
      answeredAtMs: null,
      isHanging: false,
    };
    this.all.push(entry);
    return entry;
  }

  /** The room for redeliveries of each webhook that has claims of them. */
  roomForRedeliveries(): Record<string, number> {
    const room: Record<string, number> = {};
    for (const { claim, lane } of this.all)
      if (claim.trigger === 'MANUAL')
        room[lane.webhookId] = Math.max(0, (room[lane.webhookId] ?? lane.limit) - 1);
    return room;
  }

  /** False if it is no longer there. */
  remove(entry: InFlight): boolean {
    if (this.all[entry.at] !== entry) return false;
    const last = this.all.pop()!;
    if (last === entry) return true;
    this.all[entry.at] = last;
    last.at = entry.at;
    return true;
  }
}
