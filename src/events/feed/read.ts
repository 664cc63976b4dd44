import { invalidRequest } from '../../platform/errors.js';
import { clockLeewayMs } from '../store.js';
import { firstIdOf, timeOfId } from '../../platform/ids.js';
import type { Database } from '../../platform/database/postgres.js';
import { origin, type Cursor, type Place } from './cursor.js';
import { lookAtFeed, type Look } from './look-store.js';
import { findBefore, findLatest, readPage, type FeedRow, type FeedRows, type Selection } from './store.js';

export interface FeedPage {
  events: FeedRow[];
  next: Cursor;
}

/** Where a reader begins. */
export type Start = { after: Cursor | 'latest' } | { from: Date };

const monthMs = 31 * 86_400_000;
/** As the log, whose days go as a whole; a reader from the beginning must have time for its first pages. */
const graceMs = 86_400_000;
/** An event's id may be made this much before its position, or by a clock that is ahead. */
const leewayMs = 60_000;

/**
 * Returns the lowest id that an event after a cursor may have; earlier months are not read. A process only records
 * while its clock is within `clockLeewayMs` of PostgreSQL's. The clock behind the cursor may be further off, and
 * PostgreSQL's may be set back, but neither by a month.
 */
export const firstIdAfter = (after: Cursor, readAtMs: number): string =>
  firstIdOf(Math.max(0, Math.min(after.timeMs, readAtMs) - monthMs));

/** The first page of a reader; throws ApiError INVALID_REQUEST for a cursor that leads nowhere any more. */
export const beginReading = (
  db: Database,
  selection: Selection,
  start: Start,
  retentionMs: number,
): Promise<FeedPage> =>
  db.transaction(async (tx) => {
    const readAtMs = Date.now();
    const look = await lookAtFeed(tx);
    const latest = () => findLatestOf(tx, selection, look, readAtMs);
    if ('from' in start) {
      const fromMs = Math.min(Math.max(start.from.getTime(), readAtMs - retentionMs), readAtMs);
      const found = await readFrom(tx, selection, look, fromMs);
      return pageOf(look, found, found.rows.length > 0 ? origin : await latest(), readAtMs);
    }
    if (start.after === 'latest') return pageOf(look, { rows: [], isEnd: true }, await latest(), readAtMs);
    refuseVoid(start.after, look, readAtMs - retentionMs - graceMs);
    return readAfter(tx, selection, look, start.after, readAtMs);
  });

/** What is decided after a place. */
export async function readAfter(
  tx: Database,
  selection: Selection,
  look: Look,
  after: Cursor,
  readAtMs: number,
): Promise<FeedPage> {
  const range = { after, horizon: look.horizon, firstId: firstIdAfter(after, readAtMs) };
  const found = await readPage(tx, selection, range);
  return pageOf(look, found, after, readAtMs);
}

/** Nearly always finds it in the months read first; an event near their beginning may not be the latest one. */
async function findLatestOf(
  tx: Database,
  { shipperId }: Selection,
  { horizon }: Look,
  readAtMs: number,
): Promise<Place> {
  const firstMs = Math.max(0, readAtMs - monthMs);
  const recent = await findLatest(tx, shipperId, horizon, firstIdOf(firstMs));
  if (recent.eventId >= firstIdOf(firstMs + 2 * clockLeewayMs)) return recent;
  return findLatest(tx, shipperId, horizon, origin.eventId);
}

/**
 * Positions are in the order of commit, which is nearly that of ids, so reading begins a little earlier than `fromMs`.
 * If the month before that has no event, reading begins at the origin, because there is little to skip.
 */
async function readFrom(tx: Database, selection: Selection, look: Look, fromMs: number): Promise<FeedRows> {
  const beginMs = Math.max(0, fromMs - leewayMs);
  const [first, end] = [Math.max(0, beginMs - monthMs), beginMs].map(firstIdOf) as [string, string];
  const after =
    selection.trackingId === null ? await findBefore(tx, selection.shipperId, first, end) : origin;
  return readPage(tx, selection, { after, horizon: look.horizon, firstId: firstIdOf(fromMs) });
}

const pageOf = ({ epoch }: Look, { rows, isEnd }: FeedRows, otherwise: Place, readAtMs: number): FeedPage => {
  const { position, eventId } = rows.at(-1) ?? otherwise;
  const timeMs = isEnd ? readAtMs : timeOfId(eventId);
  return { events: rows, next: { epoch, position, eventId, timeMs } };
};

const beginAgain = 'begin again without it, or with from';

/** A cursor that was given out is in the past of every later look. */
function refuseVoid({ epoch, position, timeMs }: Cursor, look: Look, oldestMs: number): void {
  if (epoch !== look.epoch || position < 0n || position >= look.end)
    throw refusal(
      `is not of this database, which may have been restored or replaced by a standby since: ${beginAgain}`,
    );
  if (timeMs < oldestMs) throw refusal(`is older than the log: ${beginAgain}`);
}

/** Of the cursor that a reader goes on with. */
const refusal = (message: string) => invalidRequest([{ path: 'after', message }]);

/** For readers that wait while the database is restored or replaced. */
export const restored = () =>
  refusal(`is of a database that was restored or replaced by a standby since: ${beginAgain}`);
