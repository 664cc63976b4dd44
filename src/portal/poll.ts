import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isApiError, read, type ApiError } from './api.js';

export interface Resource<Data> {
  /** The last response, also while another read is under way or has failed; undefined until the first. */
  data: Data | undefined;
  /** The error of the last read; null after a success. */
  error: ApiError | null;
  isLoading: boolean;
  /** Reads again now, and resolves when that is shown. */
  reload(): Promise<void>;
  /** Replaces the response by what a write has returned. */
  replace(data: Data): void;
}

interface Options {
  /** Stands for all that the response depends on, such as the filters: another one reads again, and aborts what is under way. */
  key?: string;
  /** How often to read again; only in a tab that is visible. Omitted or null: never. */
  everyMs?: number | null;
}

/**
 * Reads something of the API, and again every `everyMs`. A tab that is not visible reads nothing, and catches up when
 * it is shown again. If several tabs are visible, one keeps the pace, and the others read a quarter as often.
 */
export function useResource<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  { key = '', everyMs = null }: Options = {},
): Resource<Data> {
  const [shown, setShown] = useState<{ data?: Data; error: ApiError | null; isLoading: boolean }>({
    error: null,
    isLoading: true,
  });
  const latest = useRef({ load, abort: new AbortController(), isReading: false, readAt: 0 });
  latest.current.load = load;

  const refresh = async () => {
    latest.current.abort.abort();
    const { signal } = (latest.current.abort = new AbortController());
    latest.current.isReading = true;
    try {
      const data = await latest.current.load(signal);
      if (!signal.aborted) setShown({ data, error: null, isLoading: false });
    } catch (error) {
      if (signal.aborted) return;
      if (!isApiError(error)) throw error;
      setShown((before) => ({ ...before, error, isLoading: false }));
    } finally {
      if (!signal.aborted) Object.assign(latest.current, { isReading: false, readAt: Date.now() });
    }
  };
  const reload = () => {
    setShown((before) => (before.isLoading ? before : { ...before, isLoading: true }));
    return refresh();
  };

  // Before the next paint, so that the request does not wait for it.
  useLayoutEffect(() => {
    void reload();
    return () => latest.current.abort.abort();
  }, [key]);

  useEffect(() => {
    if (everyMs === null) return;
    const readIfOlder = (ms: number) => {
      const { isReading, readAt } = latest.current;
      if (document.visibilityState === 'visible' && !isReading && Date.now() - readAt >= ms) void refresh();
    };
    const catchUp = () => readIfOlder(everyMs);
    const keepPace = () => readIfOlder(isPacemaker() ? everyMs : everyMs * 4);
    const timer = setInterval(keepPace, Math.min(everyMs, 1_000));
    document.addEventListener('visibilitychange', catchUp);
    addEventListener('focus', catchUp);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', catchUp);
      removeEventListener('focus', catchUp);
    };
  }, [everyMs]);

  const replace = (data: Data) => setShown((before) => ({ ...before, data }));
  return { data: shown.data, error: shown.error, isLoading: shown.isLoading, reload, replace };
}

/** The resource at an address of the API. */
export const useRead = <Data>(address: string, everyMs: number | null = null): Resource<Data> =>
  useResource((signal) => read<Data>(address, signal), { key: address, everyMs });

/**
 * Whether this tab has the browser's lock on the pace. One visible tab has it; the next gets it when that one is hidden
 * or closed. Without locks (plain HTTP elsewhere than on localhost) each tab keeps the pace.
 */
let isHeld = false;
const isPacemaker = () => isHeld || !navigator.locks;

let givePaceUp: (() => void) | null = null;

function followVisibility(): void {
  if (document.visibilityState !== 'visible') {
    givePaceUp?.();
    givePaceUp = null;
    return;
  }
  if (givePaceUp || !navigator.locks) return;
  const { promise: hidden, resolve } = Promise.withResolvers<void>();
  const waiting = new AbortController();
  givePaceUp = () => {
    isHeld = false;
    waiting.abort();
    resolve();
  };
  const hold = () => {
    isHeld = true;
    return hidden;
  };
  navigator.locks.request('parcelhook.pace', { signal: waiting.signal }, hold).catch(() => {}); // this tab stopped waiting
}

document.addEventListener('visibilitychange', followVisibility);
followVisibility();
