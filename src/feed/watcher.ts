import { ApiError, describeError } from '../platform/errors.js';
import type { Logger } from '../platform/telemetry/logger.js';
import type { Database } from '../platform/database/postgres.js';
import { type Cursor, findNews, type Selection } from './store.js';
import { readFeedExtent } from './extent-store.js';
import { firstIdAfter, readAfter, databaseReplaced, type FeedPage } from './read.js';

export type Watcher = ReturnType<typeof createWatcher>;

interface Waiter {
  resolve(page: FeedPage | null): void;
  reject(error: unknown): void;
}

interface Group {
  selection: Selection;
  after: Cursor;
  waiters: Set<Waiter>;
}

/** The pause between checks, and so the maximum delay of events recorded by another process. */
const checkEveryMs = 200;
/** The shortest pause from one check to the next, which a nudge asks for. */
const checkAfterNudgeMs = 15;

/** One connection checks for all, only while requests wait. After two failed checks in a row, all waits fail. */
export function createWatcher(db: Database, logger: Logger) {
  const groups = new Map<string, Group>();
  const ofShipper = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let checking = false;
  let soon = false;
  let checkedAt = -Infinity;
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
  const finish = (key: string, group: Group, notify: (waiter: Waiter) => void) => {
    remove(key, group);
    for (const waiter of group.waiters) notify(waiter);
  };
  const finishAll = (notify: (waiter: Waiter) => void) => {
    for (const [key, group] of [...groups]) finish(key, group, notify);
  };

  const check = (wasNudged: boolean) =>
    db.transaction(async (tx) => {
      const waiting = [...groups];
      const readAtMs = Date.now();
      const extent = await readFeedExtent(tx);
      soon ||= wasNudged && extent.uncertain;
      for (const [key, group] of waiting)
        if (group.after.epoch !== extent.epoch)
          finish(key, group, ({ reject }) => reject(databaseReplaced()));
      const asked = waiting.map(([, group]) => group);
      for (const index of await findNews(
        tx,
        asked.map(({ selection, after }) => ({ selection, after, firstId: firstIdAfter(after, readAtMs) })),
        extent.horizon,
      )) {
        const [key, group] = waiting[index]!;
        if (groups.get(key) !== group) continue;
        const page = await readAfter(tx, group.selection, extent, group.after, readAtMs);
        if (page.events.length > 0) finish(key, group, ({ resolve }) => resolve(page));
      }
    });

  const run = async () => {
    checking = true;
    const wasNudged = soon;
    soon = false;
    try {
      await check(wasNudged);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!(error instanceof ApiError))
        logger.error({ error: describeError(error) }, 'feed check failed; trying again');
      if (failures > 1) finishAll(({ reject }) => reject(error));
    }
    checking = false;
    checkedAt = performance.now();
    plan();
  };
  const plan = () => {
    clearTimeout(timer);
    if (checking || groups.size === 0) return;
    const dueAt = checkedAt + (soon ? checkAfterNudgeMs : checkEveryMs);
    timer = setTimeout(() => void run(), Math.max(0, dueAt - performance.now()));
  };

  return {
    /** `found` resolves with the next page that is not empty; with null after `leave` and when the watcher stops. */
    wait: (selection: Selection, after: Cursor) => {
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
    nudge: (shipperIds: Iterable<string>) => {
      if (ofShipper.size === 0) return;
      for (const shipperId of shipperIds) {
        if (!ofShipper.has(shipperId)) continue;
        soon = true;
        return plan();
      }
    },
    stop: () => {
      stopped = true;
      finishAll(({ resolve }) => resolve(null));
    },
  };
}
