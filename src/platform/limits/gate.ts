import { tooManyRequests, unavailable, type ApiError } from '../errors.js';
import { createFairQueue } from './fair-queue.js';

export type Gate = ReturnType<typeof createGate>;

interface Entry {
  start(leave: () => void): void;
  refuse?(why: Refusal): void;
  weight?: number | undefined;
  kind?: number | undefined;
}

export interface Ticket {
  withdraw(): void;
  start(): void;
}

/**
 * CROWD: too many wait, and most of them under this key. FULL: too many wait, one under each key. LATE: it waited too
 * long. AWAY: what it waits for is unavailable.
 */
export type Refusal = 'CROWD' | 'FULL' | 'LATE' | 'AWAY';

interface GateOptions {
  concurrency: number;
  concurrencyPerKey?: number;
  maxWaiting?: number;
  maxWaitMs?: number;
  kinds?: number;
  mayStart?(key: string): boolean;
}

interface Waiting {
  sinceMs: number;
  start(): void;
  refuse(why: Refusal): void;
}

/** Keys are served in rotation, so that a long queue of one key does not delay the others. */
export function createGate(options: GateOptions) {
  const { concurrency, concurrencyPerKey = Infinity, maxWaitMs, mayStart = () => true } = options;
  const { kinds = 1, maxWaiting = Infinity } = options;
  const queue = createFairQueue<Waiting>({ kinds, maxItems: maxWaiting });
  const byKey = new Map<string, number>();
  let total = 0;

  const working = (key: string) => byKey.get(key) ?? 0;
  const add = (key: string, weight: number) => {
    total += weight;
    const ofKey = working(key) + weight;
    if (ofKey > 0) byKey.set(key, ofKey);
    else byKey.delete(key);
  };
  const hasRoom = () => total < concurrency;
  const hasRoomFor = (key: string) => working(key) < concurrencyPerKey && mayStart(key);
  const startReady = () => {
    while (queue.size() > 0 && hasRoom()) {
      const next = queue.take(hasRoomFor);
      if (!next) return;
      next.start();
    }
  };

  const occupy = (key: string, weight: number) => {
    let hasLeft = false;
    add(key, weight);
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      add(key, -weight);
      startReady();
    };
  };
  const enter = (key: string, weight = 1) => (hasRoom() && hasRoomFor(key) ? occupy(key, weight) : null);
  const wait = (key: string, entry: Entry): Ticket => {
    const { kind = 0 } = entry;
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const end = () => {
      if (isOver) return false;
      isOver = true;
      clearTimeout(timer);
      queue.delete(key, waiting, kind);
      return true;
    };
    const waiting: Waiting = {
      sinceMs: performance.now(),
      start: () => void (end() && entry.start(occupy(key, entry.weight ?? 1))),
      refuse: (why) => void (end() && entry.refuse?.(why)),
    };
    if (maxWaitMs !== undefined) timer = setTimeout(() => waiting.refuse('LATE'), maxWaitMs);
    const dropped = queue.add(key, waiting, kind);
    dropped?.item.refuse(dropped.left > 0 ? 'CROWD' : 'FULL');
    return { withdraw: () => void end(), start: waiting.start };
  };
  const ask = (key: string, entry: Entry): Ticket => {
    const leave = enter(key, entry.weight);
    if (!leave) return wait(key, entry);
    entry.start(leave);
    return { withdraw: () => undefined, start: () => undefined };
  };

  return {
    /**
     * Throws ApiError: TOO_MANY_REQUESTS (after `onCrowded`) if too many wait, most of them under this key; or
     * UNAVAILABLE.
     */
    run: async <Result>(
      key: string,
      work: () => Promise<Result>,
      { kind, onCrowded }: { kind?: number; onCrowded?(): void } = {},
    ): Promise<Result> => {
      const slot = () =>
        new Promise<() => void>((start, reject) => {
          const refuse = (why: Refusal) => {
            if (why === 'CROWD') onCrowded?.();
            reject(refusalOf(why));
          };
          wait(key, { start, refuse, kind });
        });
      const leave = enter(key) ?? (await slot());
      try {
        return await work();
      } finally {
        leave();
      }
    },
    enter,
    ask,
    startReady,
    turnAway: (isHopeless: (sinceMs: number) => boolean, key?: string) => {
      for (const { sinceMs, refuse } of queue.items(key)) if (isHopeless(sinceMs)) refuse('AWAY');
    },
    waiting: queue.size,
    /** The weight that runs, of one key or of all. */
    working: (key?: string) => (key === undefined ? total : working(key)),
  };
}

const message = 'Too many concurrent requests; try again.';

export function refusalOf(why: Refusal): ApiError {
  if (why === 'CROWD') return tooManyRequests(message, 1);
  return why === 'AWAY' ? unavailable() : unavailable(message);
}

interface Total {
  clocks: number;
  heldMs: number;
  sinceMs: number | undefined;
}

/** Separates the time that a key waits because it is at a bound of its own from the time that it waits for others. */
export function createHeldTime(isHeld: (key: string) => boolean) {
  const totals = new Map<string, Total>();
  const sinceOf = (key: string) => (isHeld(key) ? performance.now() : undefined);
  const read = ({ heldMs, sinceMs }: Total) =>
    heldMs + (sinceMs === undefined ? 0 : performance.now() - sinceMs);

  return {
    note: (key: string) => {
      const total = totals.get(key);
      if (!total || isHeld(key) === (total.sinceMs !== undefined)) return;
      total.heldMs = read(total);
      total.sinceMs = sinceOf(key);
    },
    start: (key: string) => {
      const total = totals.get(key) ?? { clocks: 0, heldMs: 0, sinceMs: sinceOf(key) };
      totals.set(key, total);
      total.clocks += 1;
      const before = read(total);
      let ended: number | undefined;
      return {
        heldMs: () => ended ?? read(total) - before,
        stop: () => {
          if (ended !== undefined) return;
          ended = read(total) - before;
          total.clocks -= 1;
          if (total.clocks === 0) totals.delete(key);
        },
      };
    },
  };
}
