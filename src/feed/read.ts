import { invalidRequest } from '../platform/errors.js';
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
} from './store.js';
import { readFeedExtent, type FeedExtent } from './extent-store.js';

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
export const firstIdAfter = (after: Cursor, readAtMs: number): string =>
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

export async function readAfter(
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
export const databaseReplaced = () =>
  refusal(`belongs to a database that was restored or replaced by a standby since: ${beginAgain}`);
