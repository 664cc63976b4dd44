import { LRUCache } from 'lru-cache';
import { createBatcher } from '../../platform/batch.js';
import type { Database } from '../../platform/database/postgres.js';
import type { LargeBody } from '../outbox/types.js';

/** The bodies that claims do not have. */
export interface Bodies {
  /** Throws if the event is gone. */
  of(large: LargeBody): Promise<string>;
}

const maxChars = 8 * 1024 * 1024;
const perStatement = 8;

/** Attempts of one event that start about the same time share one text. */
export function createBodies(db: Database): Bodies {
  const known = new LRUCache<string, string>({ maxSize: maxChars, sizeCalculation: ({ length }) => length });
  const loads = createBatcher<string, string | undefined>({
    maxItems: perStatement,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (eventIds) => {
      const unread = [...new Set(eventIds)].filter((eventId) => !known.has(eventId));
      const read = new Map(unread.length > 0 ? await loadBodies(db, unread) : []);
      for (const [eventId, body] of read) known.set(eventId, body);
      return eventIds.map((eventId) => read.get(eventId) ?? known.get(eventId));
    },
  });
  return {
    of: async ({ eventId }) => {
      const body = known.get(eventId) ?? (await loads.add(eventId));
      if (body === undefined) throw new Error('The event is gone');
      return body;
    },
  };
}

async function loadBodies(db: Database, eventIds: string[]): Promise<[eventId: string, body: string][]> {
  const rows = await db.query<{ event_id: string; body: string }>(
    'load-bodies',
    `select e.event_id, e.body from unnest($1::uuid[]) as t (event_id)
      cross join lateral (select event_id, body from events where event_id = t.event_id limit 1) e`,
    [eventIds],
  );
  return rows.map(({ event_id, body }) => [event_id, body]);
}
