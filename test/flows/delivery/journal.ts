import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver, type Receiver } from '../../support/receiver.js';

/** The response to a request; `reset` breaks the connection instead. */
export interface Behaviour {
  status?: number;
  delayMs?: number;
  reset?: boolean;
  retryAfterSeconds?: number;
}

/** One request as the receiver saw it. Times are of Date.now(); `statusCode` is null after a reset. */
export interface Entry {
  id: string;
  attempt: number;
  sequence: number;
  trackingId: string;
  state: string;
  arrivedAt: number;
  /** Null until the response. */
  endedAt: number | null;
  statusCode: number | null;
  retryAfterMs: number;
  /** Another request of its shipment had no response yet when it came. */
  overlaps: boolean;
}

export interface Journal {
  receiver: Receiver;
  entries: Entry[];
}

/** `behave` decides each response, `earlier` are the previous requests of the same notification. */
export async function startJournal(
  behave: (entry: Entry, earlier: Entry[], count: number) => Behaviour,
): Promise<Journal> {
  const entries: Entry[] = [];
  const receiver = await startReceiver(({ headers, notification, at }, response) => {
    const id = String(headers['webhook-id']);
    const trackingId = String(notification.tracking_id);
    const open = entries.filter((entry) => entry.trackingId === trackingId && entry.endedAt === null);
    const entry: Entry = {
      id,
      attempt: Number(headers['parcelhook-attempt']),
      sequence: Number(headers['parcelhook-sequence']),
      trackingId,
      state: String(notification.state),
      arrivedAt: at,
      endedAt: null,
      statusCode: null,
      retryAfterMs: 0,
      overlaps: open.length > 0,
    };
    const earlier = entries.filter((other) => other.id === id);
    const behaviour = behave(entry, earlier, entries.push(entry));
    void sleep(behaviour.delayMs ?? 0).then(() => {
      entry.endedAt = Date.now();
      if (behaviour.reset) return void response.destroy();
      entry.statusCode = behaviour.status ?? 200;
      entry.retryAfterMs = (behaviour.retryAfterSeconds ?? 0) * 1_000;
      const headers = entry.retryAfterMs > 0 ? { 'retry-after': String(behaviour.retryAfterSeconds) } : {};
      response.writeHead(entry.statusCode, headers).end('ok');
    });
  });
  return { receiver, entries };
}

/** Groups them by attempt; a broken kept connection may cause two with the same number. */
export function attemptsOf(entries: Entry[], id: string): Entry[][] {
  const byNumber = new Map<number, Entry[]>();
  for (const entry of entries.filter((entry) => entry.id === id))
    byNumber.set(entry.attempt, [...(byNumber.get(entry.attempt) ?? []), entry]);
  return [...byNumber.keys()].sort((a, b) => a - b).map((number) => byNumber.get(number)!);
}

export const firstArrivals = (entries: Entry[], trackingId: string): number[] => [
  ...new Set(entries.filter((entry) => entry.trackingId === trackingId).map(({ sequence }) => sequence)),
];
