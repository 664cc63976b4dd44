import { isFaultOfPiece } from './database/postgres.js';

/** A failed page is retried smaller; an item that fails alone is skipped, so nothing is retried for ever. */
export interface Place<Key> {
  /** The next page begins after this key; null for the first page. */
  after: Key | null;
  size: number;
}

export const walkStart = <Key>(size: number): Place<Key> => ({ after: null, size });

const shrinkBy = 8;

export const afterPage = <Key>({ size }: Place<Key>, last: Key | null, maxSize: number): Place<Key> => ({
  after: last,
  size: Math.min(2 * size, maxSize),
});

/** The next page begins at the same key and is much smaller; an item that failed alone (`first`) is skipped. */
export const afterFailure = <Key>(
  { after, size }: Place<Key>,
  first: Key | null,
): { place: Place<Key>; skipped: Key | null } =>
  size > 1
    ? { place: { after, size: Math.ceil(size / shrinkBy) }, skipped: null }
    : { place: { after: first, size: 1 }, skipped: first };

export function createWalk<Key>(
  maxSize: number,
  findFirst: (after: Key | null) => Promise<Key | null>,
  stepOver: (item: Key, error: unknown) => void,
) {
  let place: Place<Key> = walkStart(maxSize);
  return {
    /**
     * Rejects if `work` does. If the page is at fault, the next one is smaller, or begins after the item that failed
     * alone. `work` resolves with the page's last key, or null at the end.
     */
    page: async <Done extends { next: Key | null }>(
      work: (after: Key | null, size: number) => Promise<Done>,
    ): Promise<Done> => {
      try {
        const done = await work(place.after, place.size);
        place = afterPage(place, done.next, maxSize);
        return done;
      } catch (error) {
        if (!isFaultOfPiece(error)) throw error;
        const { place: next, skipped } = afterFailure(
          place,
          place.size > 1 ? null : await findFirst(place.after),
        );
        place = next;
        if (skipped !== null) stepOver(skipped, error);
        throw error;
      }
    },
  };
}

/**
 * `maxSize` at a time. A failed piece is split, and `stepOver` is called for an item that fails alone. Rejects if the
 * items are not at fault, for example when PostgreSQL is unavailable.
 */
export async function inPieces<Item>(
  items: readonly Item[],
  maxSize: number,
  work: (some: Item[]) => Promise<unknown>,
  stepOver: (item: Item, error: unknown) => void,
): Promise<void> {
  let place: Place<number> = walkStart(Math.min(maxSize, items.length));
  for (let from = 0; from < items.length; from = place.after ?? 0) {
    const some = items.slice(from, from + place.size);
    try {
      await work(some);
      place = afterPage(place, from + some.length, maxSize);
    } catch (error) {
      if (!isFaultOfPiece(error)) throw error;
      const { place: next, skipped } = afterFailure({ ...place, size: some.length }, from + 1);
      if (skipped !== null) stepOver(items[from]!, error);
      place = next;
    }
  }
}
