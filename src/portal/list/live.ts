import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api.js';
import { announce } from '../parts/Toast.js';
import { useResource } from '../poll.js';
import {
  rereadingOf,
  rowsOf,
  windowOf,
  withNewest,
  withOlder,
  withRows,
  type Page,
  type Window,
} from './window.js';

interface Source<Row> {
  /** The filters as text: another text begins another list. */
  key: string;
  read(cursor: string | null, signal: AbortSignal): Promise<{ rows: Row[]; nextCursor: string | null }>;
  readOne(row: Row, signal: AbortSignal): Promise<Row>;
  idOf(row: Row): string;
  /** Whether to read a row again while it is on the screen. */
  isChanging(row: Row): boolean;
  /** "2 new deliveries", said to a screen reader. */
  newText(count: number): string;
}

export interface LiveList<Row> {
  /** Null until the first response. */
  shown: Window<Row> | null;
  error: ApiError | null;
  isLoading: boolean;
  hasOlder: boolean;
  loadOlder(): Promise<void>;
  /** `loadOlder` is likely next: its page is read ahead. */
  expectOlder(): void;
  /** Begins again with the newest page. */
  showNewest(): Promise<void>;
  /** Replaces a row by what another part of the page has read. */
  put(row: Row): void;
  /** The ref of the element around the list; a row has `data-row` with its id. */
  list: { current: HTMLDivElement | null };
  /** False lets the list rest. */
  isLive: boolean;
  setIsLive(isLive: boolean): void;
}

const everyMs = 3_000;
/** A signal that is never aborted. */
const untilDone = new AbortController().signal;

/** A list that is read again every few seconds without moving. */
export function useLiveList<Row>(source: Source<Row>): LiveList<Row> {
  const [isLive, setIsLive] = useState(true);
  const { key, idOf } = source;
  const [shown, setShown] = useState<Window<Row> | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const keepsInPlace = useInPlace(list);

  const readPage = async (cursor: string | null, signal: AbortSignal = untilDone): Promise<Page<Row>> => ({
    cursor,
    ...(await source.read(cursor, signal)),
  });
  const update = (change: (before: Window<Row>) => Window<Row>) =>
    setShown((before) => (before?.key === key ? change(before) : before));

  const cursor = shown?.pages.at(-1)?.nextCursor ?? null;
  const ahead = useRef<{ of: string; page: Promise<Page<Row>> } | null>(null);
  const readOlder = (): Promise<Page<Row>> => {
    const of = `${key} ${cursor}`;
    if (ahead.current?.of !== of) ahead.current = { of, page: readPage(cursor) };
    return ahead.current.page;
  };
  const forgetOlder = () => (ahead.current = null);

  const { error, isLoading } = useResource(
    async (signal) => {
      forgetOlder(); // it is no older than the rest of the list
      const newest = await readPage(null, signal);
      if (shown?.key !== key) return setShown(windowOf(key, newest, idOf));
      const fresh = new Set(newest.rows.map(idOf));
      const stale = new Map(
        rowsOf(shown)
          .filter((row) => source.isChanging(row) && !fresh.has(idOf(row)))
          .map((row) => [idOf(row), row]),
      );
      const { pages, ids } = rereadingOf(shown, visibleOf(list.current, [...stale.keys()]), idOf);
      const again = await Promise.all(pages.map(({ cursor }) => readPage(cursor, signal)));
      const found = new Set(again.flatMap(({ rows }) => rows.map(idOf)));
      // A row that left its page no longer fits the filters. It stays in the list, and is read by itself.
      const left = pages
        .flatMap(({ rows }) => rows.map(idOf))
        .filter((id) => stale.has(id) && !found.has(id));
      const single = await Promise.all(
        [...ids, ...left.slice(0, 5)].map((id) => source.readOne(stale.get(id)!, signal).catch(() => null)),
      );
      signal.throwIfAborted();
      const rows = [...again.flatMap((page) => page.rows), ...single.filter((row) => row !== null)];
      const refresh = (before: Window<Row>) => withRows(withNewest(before, newest, idOf), rows, idOf);
      update(refresh);
      const { newCount } = refresh(shown);
      if (newCount > shown.newCount) announce(source.newText(newCount));
    },
    { key, everyMs: isLive ? everyMs : null },
  );

  return {
    shown,
    error,
    isLoading: isLoading || (shown !== null && shown.key !== key && !error),
    hasOlder: cursor !== null,
    expectOlder: () => void readOlder().catch(forgetOlder),
    loadOlder: async () => {
      const page = await readOlder().finally(forgetOlder);
      keepsInPlace();
      update((before) => withOlder(before, page, idOf));
    },
    showNewest: async () => {
      const page = await readPage(null);
      update(() => windowOf(key, page, idOf));
    },
    put: (row) => update((before) => withRows(before, [row], idOf)),
    list,
    isLive,
    setIsLive,
  };
}

/** Picks those of `ids` whose rows are on the screen. */
function visibleOf(list: HTMLElement | null, ids: string[]): string[] {
  return ids.filter((id) => {
    const box = list?.querySelector(`[data-row="${CSS.escape(id)}"]`)?.getBoundingClientRect();
    return box !== undefined && box.bottom > 0 && box.top < innerHeight;
  });
}

/**
 * Rows that leave above would pull up what is read, where the browser does not anchor the scroll by itself. Call the
 * result before such a change.
 */
function useInPlace(list: { current: HTMLElement | null }): () => void {
  const anchor = useRef<{ row: Element; top: number } | null>(null);
  useLayoutEffect(() => {
    const { row, top } = anchor.current ?? {};
    anchor.current = null;
    if (row?.isConnected) scrollBy(0, row.getBoundingClientRect().top - top!);
  });
  return () => {
    const row = [...(list.current?.querySelectorAll('[data-row]') ?? [])].at(-1);
    if (row) anchor.current = { row, top: row.getBoundingClientRect().top };
  };
}
