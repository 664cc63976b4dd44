import { ApiError, describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Cursor } from './cursor.js';
import { lookAtFeed } from './look-store.js';
import { firstIdAfter, readAfter, restored, type FeedPage } from './read.js';
import { findNews, type Selection } from './store.js';

export interface Watcher {
  /** `found` resolves with the next page that is not empty; with null after `leave`, and when the watcher stops. */
  wait(selection: Selection, after: Cursor): { found: Promise<FeedPage | null>; leave(): void };
  /** This process has recorded events of these shippers. */
  nudge(shipperIds: Iterable<string>): void;
  /** Nobody waits any more, then or later. */
  stop(): void;
}

interface Waiter {
  resolve(page: FeedPage | null): void;
  reject(error: unknown): void;
}

/** Who waits for the same is told the same. */
interface Group {
  selection: Selection;
  after: Cursor;
  waiters: Set<Waiter>;
}

const times = {
  /** Between looks: who waits has what another process recorded so much later at most. */
  everyMs: 200,
  /** After a nudge at the earliest. */
  nudgedMs: 15,
};

/**
 * One for all who wait in this process: while there are any, it looks in short intervals which of them have something
 * to read, on one connection, which is given back in between. Two looks in a row that fail are the answer of all who
 * wait.
 */
export function createWatcher(db: Database, logger: Logger): Watcher {
  const groups = new Map<string, Group>();
  const ofShipper = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let soon = false;
  let lookedAt = -Infinity;
  let failures = 0;
  let stopped = false;

  const remove = (key: string, group: Group) => {
    if (groups.get(key) !== group) return;
    groups.delete(key);
    const { shipperId } = group.selection;
    const left = ofShipper.get(shipperId)! - 1;
    if (left > 0) ofShipper.set(shipperId, left);
    else ofShipper.delete(shipperId);
  };
  const settle = (key: string, group: Group, tell: (waiter: Waiter) => void) => {
    remove(key, group);
    for (const waiter of group.waiters) tell(waiter);
  };
  const settleAll = (tell: (waiter: Waiter) => void) => {
    for (const [key, group] of [...groups]) settle(key, group, tell);
  };

  const look = (wasNudged: boolean) =>
    db.transaction(async (tx) => {
      const waiting = [...groups];
      const readAtMs = Date.now();
      const seen = await lookAtFeed(tx);
      soon ||= wasNudged && seen.uncertain;
      for (const [key, group] of waiting)
        if (group.after.epoch !== seen.epoch) settle(key, group, ({ reject }) => reject(restored()));
      const asked = waiting.map(([, group]) => group);
      for (const index of await findNews(
        tx,
        asked.map(({ selection, after }) => ({ selection, after, firstId: firstIdAfter(after, readAtMs) })),
        seen.horizon,
      )) {
        const [key, group] = waiting[index]!;
        if (groups.get(key) !== group) continue;
        const page = await readAfter(tx, group.selection, seen, group.after, readAtMs);
        if (page.events.length > 0) settle(key, group, ({ resolve }) => resolve(page));
      }
    });

  const turn = async () => {
    looking = true;
    const wasNudged = soon;
    soon = false;
    try {
      await look(wasNudged);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!(error instanceof ApiError)) logger.error({ error: describeError(error) }, 'feed not looked at');
      if (failures > 1) settleAll(({ reject }) => reject(error));
    }
    looking = false;
    lookedAt = performance.now();
    plan();
  };
  const plan = () => {
    clearTimeout(timer);
    if (looking || groups.size === 0) return;
    const dueAt = lookedAt + (soon ? times.nudgedMs : times.everyMs);
    timer = setTimeout(() => void turn(), Math.max(0, dueAt - performance.now()));
  };

  return {
    wait: (selection, after) => {
      if (stopped) return { found: Promise.resolve(null), leave: () => undefined };
      const { shipperId, trackingId, limit } = selection;
      const key = [shipperId, trackingId, limit, after.epoch, after.position, after.eventId].join();
      const group = groups.get(key) ?? { selection, after, waiters: new Set() };
      if (!groups.has(key)) {
        groups.set(key, group);
        ofShipper.set(shipperId, (ofShipper.get(shipperId) ?? 0) + 1);
        if (groups.size === 1) plan();
      }
      let leave = (): void => undefined;
      const found = new Promise<FeedPage | null>((resolve, reject) => {
        const waiter = { resolve, reject };
        group.waiters.add(waiter);
        leave = () => {
          group.waiters.delete(waiter);
          if (group.waiters.size === 0) remove(key, group);
          resolve(null);
        };
      });
      return { found, leave };
    },
    nudge: (shipperIds) => {
      if (ofShipper.size === 0) return;
      for (const shipperId of shipperIds) {
        if (!ofShipper.has(shipperId)) continue;
        soon = true;
        return plan();
      }
    },
    stop: () => {
      stopped = true;
      settleAll(({ resolve }) => resolve(null));
    },
  };
}
