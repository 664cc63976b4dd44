/**
 * How a walk over something of any length goes on, page by page. Whoever reads the pages tells what became of them; here
 * is decided how large the next one is and where it begins.
 */
export interface Place<Key> {
  /** What the next page comes after; null: at the beginning. */
  after: Key | null;
  /** How much it holds at most. */
  size: number;
}

export const atTheBeginning = <Key>(size: number): Place<Key> => ({ after: null, size });

/** Of its size, when a page took longer than a statement may. */
const shrinkBy = 8;

/** A page was handled, up to `last` (null: that was the end): the next one may be larger again, up to `maxSize`. */
export const afterPage = <Key>({ size }: Place<Key>, last: Key | null, maxSize: number): Place<Key> => ({
  after: last,
  size: Math.min(2 * size, maxSize),
});

/**
 * A page took too long: the next one begins at the same place and is far smaller. One that held a single item, `first`, is
 * stepped over: the next walk comes by it again.
 */
export const afterTooSlow = <Key>(
  { after, size }: Place<Key>,
  first: Key | null,
): { place: Place<Key>; skipped: Key | null } =>
  size > 1
    ? { place: { after, size: Math.ceil(size / shrinkBy) }, skipped: null }
    : { place: { after: first, size: 1 }, skipped: first };
