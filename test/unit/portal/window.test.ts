import { describe, expect, test } from '@jest/globals';
import {
  rereadingOf,
  rowsOf,
  windowOf,
  withNewest,
  withOlder,
  withRows,
  type Page,
} from '../../../src/portal/list/window.js';

interface Row {
  id: string;
  status?: string;
}
const idOf = ({ id }: Row) => id;
const rows = (from: number, to: number): Row[] =>
  Array.from({ length: from - to + 1 }, (_, index) => ({ id: String(from - index).padStart(4, '0') }));
const page = (from: number, to: number, cursor: string | null = null): Page<Row> => ({
  cursor,
  rows: rows(from, to),
  nextCursor: String(to),
});
const ids = (shown: Parameters<typeof rowsOf<Row>>[0]) => rowsOf(shown).map(idOf);

describe('a live list', () => {
  const shown = windowOf('', page(100, 51), idOf);

  test('keeps its rows where they are while new ones wait', () => {
    const next = withNewest(shown, page(103, 54), idOf);
    expect(ids(next)).toEqual(ids(shown));
    expect([next.newCount, next.isNewCapped]).toEqual([3, false]);
  });

  test('says that there may be more than a page of new rows', () => {
    const next = withNewest(shown, page(180, 131), idOf);
    expect([next.newCount, next.isNewCapped]).toEqual([50, true]);
  });

  test('counts nothing as new after the newest are shown', () => {
    expect(withNewest(shown, page(100, 51), idOf).newCount).toBe(0);
  });

  test('counts a row that came in between, but not one that is older than it goes', () => {
    const between = { ...page(100, 51), rows: [...rows(100, 70), { id: '0069x' }, ...rows(69, 53)] };
    expect(withNewest(shown, between, idOf).newCount).toBe(1);
    // Rows left the newest page, and older ones moved up.
    expect(withNewest(shown, page(95, 46), idOf).newCount).toBe(0);
  });

  test('shows at once what comes into an empty list', () => {
    const empty = windowOf<Row>('', { cursor: null, rows: [], nextCursor: null }, idOf);
    const next = withNewest(empty, page(3, 1), idOf);
    expect([ids(next).length, next.newCount]).toEqual([3, 0]);
  });

  test('refreshes rows in their place', () => {
    const next = withRows(shown, [{ id: '0070', status: 'SUCCEEDED' }, { id: '9999' }], idOf);
    expect(ids(next)).toEqual(ids(shown));
    expect(rowsOf(next).filter(({ status }) => status)).toEqual([{ id: '0070', status: 'SUCCEEDED' }]);
  });

  test('has at most 300 rows, however far back one goes, and counts only what is newer than it ever had', () => {
    let far = windowOf('', page(1_000, 951), idOf);
    for (let to = 901; to >= 501; to -= 50) far = withOlder(far, page(to + 49, to, String(to + 50)));
    expect(ids(far)).toHaveLength(300);
    expect([ids(far)[0], ids(far).at(-1)]).toEqual(['0800', '0501']);
    expect(far.isTrimmed).toBe(true);
    expect(withNewest(far, page(1_000, 951), idOf).newCount).toBe(0);
    expect(withNewest(far, page(1_002, 953), idOf).newCount).toBe(2);
  });

  test('reads again the pages with changing rows on the screen, and rows of the moving first page by themselves', () => {
    const two = withOlder(shown, page(50, 1, '51'));
    const { pages, ids } = rereadingOf(two, ['0098', '0040', '0039'], idOf);
    expect(pages.map(({ cursor }) => cursor)).toEqual(['51']);
    expect(ids).toEqual(['0098']);
    const many = rereadingOf(shown, rows(100, 60).map(idOf), idOf);
    expect(many.pages).toEqual([]);
    expect(many.ids).toHaveLength(5);
  });
});
