import { invalidRequest, ApiError, describeError } from '../platform/errors.js';
import { clockLeewayMs } from '../engine/engine.js';
import { firstIdOf, timeOfId } from '../platform/ids.js';
import type { Database } from '../platform/database/postgres.js';
import {
  origin,
  type Cursor,
  type Place,
  findBefore,
  findBeforeOfShipment,
  findLatest,
  readPage,
  type FeedRow,
  type FeedRows,
  type Selection,
  findNews,
} from './store.js';
import { readFeedExtent, type FeedExtent } from './extent-store.js';
import type { Logger } from '../platform/telemetry/logger.js';

export interface FeedPage {
  events: FeedRow[];
  next: Cursor;
}

export type Start = { after: Cursor | 'latest' } | { from: Date };

const monthMs = 31 * 86_400_000;
/** The log drops whole days; a reader from its beginning needs time for the first pages. */
const graceMs = 86_400_000;
/** An event's id may precede its position by this much, or come from a clock that is ahead. */
const leewayMs = 60_000;

/**
 * Earlier months are not read. A process only records while its clock is within `clockLeewayMs` of PostgreSQL's. The
 * clock behind the cursor may be further off, and PostgreSQL's may be set back, but neither by a month.
 */
const firstIdAfter = (after: Cursor, readAtMs: number): string =>
  firstIdOf(Math.max(0, Math.min(after.timeMs, readAtMs) - monthMs));

export const beginReading = (
  db: Database,
  selection: Selection,
  start: Start,
  retentionMs: number,
): Promise<FeedPage> =>
  db.transaction(async (tx) => {
    const readAtMs = Date.now();
    const extent = await readFeedExtent(tx);
    const latest = () => findLatestOf(tx, selection, extent, readAtMs);
    if ('from' in start) {
      const fromMs = Math.min(Math.max(start.from.getTime(), readAtMs - retentionMs), readAtMs);
      const found = await readFrom(tx, selection, extent, fromMs);
      return pageOf(extent, found, found.rows.length > 0 ? origin : await latest(), readAtMs);
    }
    if (start.after === 'latest') return pageOf(extent, { rows: [], isEnd: true }, await latest(), readAtMs);
    refuseVoid(start.after, extent, readAtMs - retentionMs - graceMs);
    return readAfter(tx, selection, extent, start.after, readAtMs);
  });

async function readAfter(
  tx: Database,
  selection: Selection,
  extent: FeedExtent,
  after: Cursor,
  readAtMs: number,
): Promise<FeedPage> {
  const range = { after, horizon: extent.horizon, firstId: firstIdAfter(after, readAtMs) };
  const found = await readPage(tx, selection, range);
  return pageOf(extent, found, after, readAtMs);
}

/** Searches the last month first, then all; an event near the month's beginning may not be the latest one. */
async function findLatestOf(
  tx: Database,
  { shipperId }: Selection,
  { horizon }: FeedExtent,
  readAtMs: number,
): Promise<Place> {
  const firstMs = Math.max(0, readAtMs - monthMs);
  const recent = await findLatest(tx, shipperId, horizon, firstIdOf(firstMs));
  if (recent.eventId >= firstIdOf(firstMs + 2 * clockLeewayMs)) return recent;
  return findLatest(tx, shipperId, horizon, origin.eventId);
}

/**
 * Positions follow the order of commit, which is nearly that of ids, so reading begins a little before `fromMs`. If the
 * month before that has no event, reading begins at the origin: there is little to skip. A shipment's events are
 * searched from so long before that no process's clock can be further off.
 */
async function readFrom(
  tx: Database,
  selection: Selection,
  { horizon }: FeedExtent,
  fromMs: number,
): Promise<FeedRows> {
  const firstId = firstIdOf(fromMs);
  const isOfAll = selection.trackingId === null;
  const beginMs = Math.max(0, fromMs - (isOfAll ? leewayMs : 2 * clockLeewayMs));
  const [monthId, beginId] = [Math.max(0, beginMs - monthMs), beginMs].map(firstIdOf) as [string, string];
  const after = isOfAll
    ? await findBefore(tx, selection.shipperId, monthId, beginId)
    : await findBeforeOfShipment(tx, selection, beginId, firstId);
  return readPage(tx, selection, { after, horizon, firstId });
}

const pageOf = (
  { epoch }: FeedExtent,
  { rows, isEnd }: FeedRows,
  ifEmpty: Place,
  readAtMs: number,
): FeedPage => {
  const { position, eventId } = rows.at(-1) ?? ifEmpty;
  const timeMs = isEnd ? readAtMs : timeOfId(eventId);
  return { events: rows, next: { epoch, position, eventId, timeMs } };
};

const beginAgain = 'start again without it, or with from';

/** A cursor that was returned lies before the end of every later extent. */
function refuseVoid({ epoch, position, timeMs }: Cursor, extent: FeedExtent, oldestMs: number): void {
  if (epoch !== extent.epoch || position < 0n || position >= extent.end)
    throw refusal(
      `is not of this database, which may have been restored or replaced by a standby since: ${beginAgain}`,
    );
  if (timeMs < oldestMs) throw refusal(`is older than the log: ${beginAgain}`);
}

const refusal = (message: string) => invalidRequest([{ path: 'after', message }]);

/** The refusal for readers that waited while the database was restored or replaced. */
const databaseReplaced = () =>
  refusal(`belongs to a database that was restored or replaced by a standby since: ${beginAgain}`);

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
