import type { Database } from '../../platform/database/postgres.js';
import { attemptOf, attemptsText, type Attempt, type AttemptRow } from './attempts.js';
import { detailsOf, readPage, type LogFilter, type LogRow } from './page-store.js';
import { rangesOf } from './range.js';
import { findNamed, namesShipments } from './shipments.js';
import { findHolds, holdOf, type Holds } from './holds.js';

export interface Delivery extends Omit<LogRow, 'waitsTurn'> {
  heldBy: string | null;
  /** When an open circuit lets the next probe through. */
  nextProbeAt: Date | null;
}

/** A page of the shipper's log, newest first: the newer pieces of its time before the older ones, until it is full. */
export async function listDeliveries(
  db: Database,
  shipperId: string,
  filter: LogFilter,
  beforeId: string | undefined,
  limit: number,
): Promise<Delivery[]> {
  const found: LogRow[] = [];
  const named = namesShipments(filter) ? await findNamed(db, shipperId, filter) : undefined;
  if (named === null) return [];
  const times = named ? { from: named.from, to: named.before } : filter;
  const shipmentIds = named?.shipmentIds;
  const holds = await findHolds(db, shipperId);
  for (const range of rangesOf(times, beforeId)) {
    const query = { shipperId, filter, shipmentIds, range, beforeId, limit: limit - found.length, holds };
    found.push(...(await readPage(db, query)));
    if (found.length === limit) break;
  }
  return found.map((row) => withHold(row, holds));
}

const withHold = ({ waitsTurn, ...row }: LogRow, holds: Holds): Delivery => ({
  ...row,
  ...(row.status === 'HELD' ? holdOf(holds, row.webhookId, waitsTurn) : { heldBy: null, nextProbeAt: null }),
});

/** The delivery with a page of its attempts, the newest first: one statement, so that the two fit together. */
export async function findDelivery(
  db: Database,
  shipperId: string,
  deliveryId: string,
  beforeAttempt?: number,
): Promise<(Delivery & { payload: string; attempts: Attempt[] }) | null> {
  const holds = await findHolds(db, shipperId);
  const attempts = `(select coalesce(json_agg(a), '[]') from (${attemptsText('$4')}) a)`;
  const rows = await db.query<
    LogRow & { payload: string; sequence: number; isErased: boolean; attempts: AttemptRow[] }
  >(
    'find-delivery',
    detailsOf(
      '$1',
      '$2',
      '$3',
      `, e.body as payload, e.sequence, e.erasure is not distinct from 'DONE' as "isErased", ${attempts} as attempts`,
    ),
    [shipperId, deliveryId, [...holds.keys()], beforeAttempt ?? null],
  );
  const [row] = rows;
  if (!row) return null;
  const { payload, sequence, isErased, attempts: attemptRows, ...delivery } = row;
  const event = { eventId: row.eventId, sequence, body: payload, isErased };
  return {
    ...withHold(delivery, holds),
    payload,
    attempts: attemptRows.map((attempt) => attemptOf(attempt, event)),
  };
}
