import { isOfThePiece } from './database/postgres.js';

/**
 * Where a walk over any number of items continues, and how large its next page is. A page that fails is retried
 * smaller, and an item that fails by itself is skipped: nothing is tried for ever.
 */
export interface Place<Key> {
  /** The next page begins after this key; null: it is the first page. */
  after: Key | null;
  /** How many items the next page has at most. */
  size: number;
}

export const atTheBeginning = <Key>(size: number): Place<Key> => ({ after: null, size });

/** The factor by which a page shrinks after a failure. */
const shrinkBy = 8;

/** A page up to `last` was handled (null: it was the last one): the next one may be larger again, up to `maxSize`. */
export const afterPage = <Key>({ size }: Place<Key>, last: Key | null, maxSize: number): Place<Key> => ({
  after: last,
  size: Math.min(2 * size, maxSize),
});

/**
 * A page failed: the next one begins at the same key and is much smaller. If the page had a single item, `first`, that
 * item is skipped until the next walk.
 */
export const afterFailure = <Key>(
  { after, size }: Place<Key>,
  first: Key | null,
): { place: Place<Key>; skipped: Key | null } =>
  size > 1
    ? { place: { after, size: Math.ceil(size / shrinkBy) }, skipped: null }
    : { place: { after: first, size: 1 }, skipped: first };

export interface Walk<Key> {
  /**
   * Does `work` for the next page, and rejects if it does. If the page is to blame, the next one is smaller or begins
   * after the item that failed by itself. `work` resolves with the page's last key, or null at the end.
   */
  page<Done extends { next: Key | null }>(
    work: (after: Key | null, size: number) => Promise<Done>,
  ): Promise<Done>;
}

/**
 * `findFirst` returns the item that a page after `after` begins with; `stepOver` is called for an item that failed by
 * itself.
 */
export function createWalk<Key>(
  maxSize: number,
  findFirst: (after: Key | null) => Promise<Key | null>,
  stepOver: (item: Key, error: unknown) => void,
): Walk<Key> {
  let place: Place<Key> = atTheBeginning(maxSize);
  return {
    page: async (work) => {
      try {
        const done = await work(place.after, place.size);
        place = afterPage(place, done.next, maxSize);
        return done;
      } catch (error) {
        if (!isOfThePiece(error)) throw error;
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
 * Does `work` for all items, `maxSize` at once. A piece that fails is split, and `stepOver` is called for an item that
 * fails by itself. Rejects if the items are not to blame, for example when PostgreSQL is out of reach.
 */
export async function inPieces<Item>(
  items: readonly Item[],
  maxSize: number,
  work: (some: Item[]) => Promise<unknown>,
  stepOver: (item: Item, error: unknown) => void,
): Promise<void> {
  let place: Place<number> = atTheBeginning(Math.min(maxSize, items.length));
  for (let from = 0; from < items.length; from = place.after ?? 0) {
    const some = items.slice(from, from + place.size);
    try {
      await work(some);
      place = afterPage(place, from + some.length, maxSize);
    } catch (error) {
      if (!isOfThePiece(error)) throw error;
      const { place: next, skipped } = afterFailure({ ...place, size: some.length }, from + 1);
      if (skipped !== null) stepOver(items[from]!, error);
      place = next;
    }
  }
}
