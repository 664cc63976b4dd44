/**
 * How a walk over something of any length goes on, page by page. The caller reads the pages and reports what became of
 * them; this module decides how large the next one is and where it begins.
 */
export interface Place<Key> {
  /** The next page comes after this; null: it is the first. */
  after: Key | null;
  /** How much the next page holds at most. */
  size: number;
}

export const atTheBeginning = <Key>(size: number): Place<Key> => ({ after: null, size });

/** Factor by which a page shrinks when it exceeded the statement timeout. */
const shrinkBy = 8;

/** A page was handled, up to `last` (null: that was the end): the next one may be larger again, up to `maxSize`. */
export const afterPage = <Key>({ size }: Place<Key>, last: Key | null, maxSize: number): Place<Key> => ({
  after: last,
  size: Math.min(2 * size, maxSize),
});

/**
 * A page took too long: the next one begins at the same place and is far smaller. If the page held a single item,
 * `first`, that item is stepped over until the next walk.
 */
export const afterTooSlow = <Key>(
  { after, size }: Place<Key>,
  first: Key | null,
): { place: Place<Key>; skipped: Key | null } =>
  size > 1
    ? { place: { after, size: Math.ceil(size / shrinkBy) }, skipped: null }
    : { place: { after: first, size: 1 }, skipped: first };
