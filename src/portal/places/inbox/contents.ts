import { useRef } from 'preact/hooks';
import { read, withQuery } from '../../api.js';
import { announce } from '../../parts/Toast.js';
import { useResource } from '../../poll.js';

/** Newest first. `failuresLeft`: null where all requests fail until that is changed. */
export interface Inbox {
  address: string;
  fail: Failure | null;
  failuresLeft: number | null;
  total: number;
  items: Item[];
}

export type Failure = '500' | 'TIMEOUT' | '410' | 'RESET';

export interface Item {
  itemId: string;
  receivedAt: string;
  headers: Record<string, string>;
  body: string;
  verified: boolean;
  problem: string | null;
  answered: '200' | Failure | '503';
}

/** The inbox, read again every second: each read brings only what is new. */
export function useInbox() {
  const known = useRef<Item[] | null>(null);
  return useResource(
    async (signal) => {
      const path = withQuery('/v1/inbox', { after: known.current?.[0]?.itemId });
      const inbox = await read<Inbox>(path, signal);
      if (known.current && inbox.items.length > 0) announce(`Arrived: ${inbox.items.length}`);
      // The oldest make room in the service too. Where it has forgotten `after`, it gives all there are.
      known.current = [...inbox.items, ...(known.current ?? [])].slice(0, inbox.total);
      return { ...inbox, items: known.current };
    },
    { everyMs: 1_000 },
  );
}

/** The parts that the page shows; nulls where the body is no notification. */
export function readBody(body: string): { state: string | null; trackingId: string | null; pretty: string } {
  try {
    const { state, tracking_id: trackingId } = JSON.parse(body) as { state?: unknown; tracking_id?: unknown };
    return {
      state: typeof state === 'string' ? state : null,
      trackingId: typeof trackingId === 'string' ? trackingId : null,
      pretty: JSON.stringify(JSON.parse(body), null, 2),
    };
  } catch {
    return { state: null, trackingId: null, pretty: body };
  }
}
