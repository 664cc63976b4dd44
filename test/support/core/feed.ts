import { readFeedExtent } from '../../../src/feed/extent-store.js';
import { beginReading, type FeedPage, type Start } from '../../../src/feed/read.js';
import { ApiError } from '../../../src/platform/errors.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import type { World } from './world.js';

const retentionMs = 30 * 86_400_000;

const read = (
  { shipperId }: Pick<World, 'shipperId'>,
  db: Database,
  start: Start,
  { limit = 250, trackingId = null as string | null } = {},
): Promise<FeedPage> => beginReading(db, { shipperId, trackingId, limit }, start, retentionMs);

export interface Told {
  eventId: string;
  position: bigint;
  shipment: string;
  sequence: number;
}

const told = ({ events }: FeedPage): Told[] =>
  events.map(({ eventId, position, sequence, body }) => ({
    eventId,
    position,
    sequence,
    shipment: (JSON.parse(body) as { tracking_id: string }).tracking_id,
  }));

/** A page at a time, by its cursor, of all shipments or one; retries after lost connections. */
export function follow(world: World, db: Database, start: Start, trackingId: string | null = null) {
  const seen: Told[] = [];
  let at = start;
  const step = async (limit = 250): Promise<number> => {
    const page = await read(world, db, at, { limit, trackingId }).catch((error: unknown) => {
      if (error instanceof ApiError && error.httpStatus === 503) return null;
      throw error;
    });
    if (!page) return step(limit);
    at = { after: page.next };
    seen.push(...told(page));
    return page.events.length;
  };
  return { seen, step };
}

export async function all(world: World, db: Database): Promise<Told[]> {
  const reader = follow(world, db, { from: new Date(0) });
  while ((await reader.step()) > 0);
  return reader.seen;
}

export const look = (db: Database) => db.transaction(readFeedExtent);
