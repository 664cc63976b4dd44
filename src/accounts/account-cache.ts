import { LRUCache } from 'lru-cache';
import { createBatcher } from '../platform/batch.js';

export type AccountCache<Row> = ReturnType<typeof createAccountCache<Row>>;

interface Entry<Row> {
  row: Row | null;
  /** The time before the query, by performance.now(). */
  readAt: number;
}

const freshMs = 3_000;
/** The ten seconds of docs/api.md, less the longest statement. */
const maxMs = 7_000;
const maxEntries = 10_000;

/**
 * Caches what requests need to know of an account, by key. A request waits only for an entry missing or older than `maxMs`; one
 * older than `freshMs` is reloaded meanwhile. `read` leaves out what does not exist.
 */
export function createAccountCache<Row>(read: (keys: string[]) => Promise<Map<string, Row>>) {
  const entries = new LRUCache<string, Entry<Row>>({ max: maxEntries });
  const loading = new Map<string, Promise<Entry<Row>>>();
  let clearedAt = -Infinity;
  const loads = createBatcher<string, Entry<Row>>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 5_000,
    flush: async (keys) => {
      const readAt = performance.now();
      const found = await read([...new Set(keys)]);
      return keys.map((key) => ({ row: found.get(key) ?? null, readAt }));
    },
  });

  const load = async (key: string): Promise<Entry<Row>> => {
    const loaded = await loads.add(key);
    if (loaded.readAt > clearedAt && loaded.readAt >= (entries.get(key)?.readAt ?? 0))
      entries.set(key, loaded);
    return loaded;
  };
  const loadOnce = (key: string): Promise<Entry<Row>> => {
    const promise = loading.get(key) ?? load(key).finally(() => loading.delete(key));
    loading.set(key, promise);
    return promise;
  };

  return {
    /** The row as of at most eight seconds ago; null without one. Throws ApiError UNAVAILABLE. */
    get: async (key: string) => {
      const entry = entries.get(key);
      const ageMs = entry ? performance.now() - entry.readAt : Infinity;
      if (!entry || ageMs > maxMs) return (await loadOnce(key)).row;
      if (ageMs > freshMs) loadOnce(key).catch(() => undefined); // the next request that has to wait gets the error
      return entry.row;
    },
    /** The row as of now, with all changes by this process. Throws ApiError UNAVAILABLE. */
    getFresh: async (key: string) => {
      let loaded = await load(key);
      while (loaded.readAt <= clearedAt) loaded = await load(key);
      return loaded.row;
    },
    /** Call it after each change of an account by this process. */
    clear: () => {
      clearedAt = performance.now();
      entries.clear();
      loading.clear();
    },
  };
}
