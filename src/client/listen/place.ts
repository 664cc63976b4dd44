import type { FeedEvent } from '../api/types.js';

/** More than is recorded in the time that it goes back. */
const mostIds = 10_000;
/** Events come in the order of commit, which is only nearly that of `recordedAt`. */
const backMs = 60_000;

/** What came from the feed, to go on where the service does not know the cursor any more. */
export function createPlace() {
  const ids = new Set<string>();
  let [firstMs, lastMs] = [Infinity, -Infinity];
  return {
    /** Whether it came before, as far as that is remembered. */
    wasThere: ({ eventId }: FeedEvent) => ids.has(eventId),
    add({ eventId, recordedAt }: FeedEvent) {
      ids.add(eventId);
      if (ids.size > mostIds) ids.delete(ids.values().next().value!);
      lastMs = Date.parse(recordedAt);
      firstMs = Math.min(firstMs, lastMs);
    },
    /** From when to read again, so that nothing is left out; null where nothing came. */
    from: (): string | null =>
      ids.size === 0 ? null : new Date(Math.max(firstMs, lastMs - backMs)).toISOString(),
  };
}
