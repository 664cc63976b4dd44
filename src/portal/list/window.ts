/**
 * The part of a long list that is in the page: a few pages, newest first. Rows are refreshed where they stand; what is
 * new waits, so nothing moves under the reader. Pure.
 */

export interface Page<Row> {
  /**
   * The cursor at which the page begins; null for the newest. A page that begins at a cursor has the same rows at every
   * reading.
   */
  cursor: string | null;
  rows: Row[];
  nextCursor: string | null;
}

export interface Window<Row> {
  /** The filters that the list belongs to. */
  key: string;
  pages: Page<Row>[];
  /** The newest rows are no longer in the page. */
  isTrimmed: boolean;
  /** The id of the newest row that was ever in the page; ids grow with time. */
  newestId: string;
  /** Rows that came since. */
  newCount: number;
  /** There may be more than `newCount`. */
  isNewCapped: boolean;
}

/** 300 rows of 50. */
const maxPages = 6;

type IdOf<Row> = (row: Row) => string;

export const windowOf = <Row>(key: string, page: Page<Row>, idOf: IdOf<Row>): Window<Row> => ({
  key,
  pages: [page],
  isTrimmed: false,
  newestId: page.rows.length > 0 ? idOf(page.rows[0]!) : '',
  newCount: 0,
  isNewCapped: false,
});

export const rowsOf = <Row>({ pages }: Window<Row>): Row[] => pages.flatMap(({ rows }) => rows);

/**
 * Adds the next page. Drops the newest pages if there are too many, and empty ones before the first row. A page that
 * does not follow the shown rows changes nothing.
 */
export function withOlder<Row>(shown: Window<Row>, page: Page<Row>, idOf: IdOf<Row>): Window<Row> {
  if (rowsOf(shown).length === 0) return windowOf(shown.key, page, idOf);
  if (page.cursor !== shown.pages.at(-1)!.nextCursor) return shown;
  const pages = [...shown.pages, page];
  return { ...shown, pages: pages.slice(-maxPages), isTrimmed: shown.isTrimmed || pages.length > maxPages };
}

/** Replaces rows that are shown by their present content; other rows are ignored. A page without such a row stays the same. */
export function withRows<Row>(shown: Window<Row>, fresh: Row[], idOf: IdOf<Row>): Window<Row> {
  const byId = new Map(fresh.map((row) => [idOf(row), row]));
  const pages = shown.pages.map((page) =>
    page.rows.some((row) => byId.has(idOf(row)))
      ? { ...page, rows: page.rows.map((row) => byId.get(idOf(row)) ?? row) }
      : page,
  );
  return { ...shown, pages };
}

/**
 * The rows after a reading of the newest page. If neither a search nor that page has a row, the search goes on from where
 * it is. A row that a filter lets in late stands between others; it waits as well, unless it is older than the page goes.
 */
export function withNewest<Row>(shown: Window<Row>, newest: Page<Row>, idOf: IdOf<Row>): Window<Row> {
  const rows = rowsOf(shown);
  const isFurtherBack = shown.pages[0]!.cursor !== null;
  if (rows.length === 0)
    return isFurtherBack && newest.rows.length === 0 ? shown : windowOf(shown.key, newest, idOf); // nothing moves
  const known = new Set(rows.map(idOf));
  const oldestId = idOf(rows.at(-1)!);
  const isNew = (id: string) => !known.has(id) && id > (shown.isTrimmed ? shown.newestId : oldestId);
  const newCount = newest.rows.filter((row) => isNew(idOf(row))).length;
  return {
    ...withRows(shown, newest.rows, idOf),
    newCount,
    isNewCapped: newest.nextCursor !== null && newCount === newest.rows.length,
  };
}

export interface Rereading<Row> {
  /** Pages to read again by their cursor. */
  pages: Page<Row>[];
  /** Rows to read one by one. */
  ids: string[];
}

const maxPagesReread = 2;
const maxRowsReread = 5;

/** Names the readings that make `staleIds` fresh: the pages they are on, the few others by themselves. */
export function rereadingOf<Row>(shown: Window<Row>, staleIds: string[], idOf: IdOf<Row>): Rereading<Row> {
  const stale = new Set(staleIds);
  const pages = shown.pages
    .filter(({ cursor, rows }) => cursor !== null && rows.some((row) => stale.has(idOf(row))))
    .slice(0, maxPagesReread);
  const covered = new Set(pages.flatMap(({ rows }) => rows.map(idOf)));
  return { pages, ids: staleIds.filter((id) => !covered.has(id)).slice(0, maxRowsReread) };
}
