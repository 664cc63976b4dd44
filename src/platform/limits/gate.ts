import { tooManyRequests, unavailable, type ApiError } from '../errors.js';
import { createFairQueue } from './fair-queue.js';

/** Keys are served in rotation, so that a long queue of one key does not delay the others. */
export interface Gate {
  /**
   * Throws ApiError: TOO_MANY_REQUESTS (after `onCrowded`) if too many wait, most of them under this key; or
   * UNAVAILABLE.
   */
  run<T>(key: string, work: () => Promise<T>, options?: { kind?: number; onCrowded?(): void }): Promise<T>;
  enter(key: string, weight?: number): (() => void) | null;
  ask(key: string, entry: Entry): Ticket;
  startReady(): void;
  turnAway(isHopeless: (sinceMs: number) => boolean, key?: string): void;
  waiting(key?: string): number;
  /** The weight that runs, of one key or of all. */
  working(key?: string): number;
}

export interface Entry {
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

export interface GateOptions {
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

const always = () => true;

export function createGate(options: GateOptions): Gate {
  const { concurrency, concurrencyPerKey = Infinity, maxWaitMs } = options;
  const { mayStart = always } = options;
  const queue = createFairQueue<Waiting>({
    kinds: options.kinds ?? 1,
    maxItems: options.maxWaiting ?? Infinity,
  });
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
    run: async (key, work, { kind, onCrowded } = {}) => {
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
    turnAway: (isHopeless, key) => {
      for (const { sinceMs, refuse } of queue.items(key)) if (isHopeless(sinceMs)) refuse('AWAY');
    },
    waiting: queue.size,
    working: (key) => (key === undefined ? total : working(key)),
  };
}

const message = 'Too many concurrent requests; try again.';

export function refusalOf(why: Refusal): ApiError {
  if (why === 'CROWD') return tooManyRequests(message, 1);
  return why === 'AWAY' ? unavailable() : unavailable(message);
}

/** Tells the wait that a key owes to itself, being at a bound of its own, from the wait that it owes to others. */
export interface HeldTime<Key = string> {
  note(key: Key): void;
  start(key: Key): HeldClock;
}

export interface HeldClock {
  heldMs(): number;
  stop(): void;
}

interface Total {
  clocks: number;
  heldMs: number;
  sinceMs: number | undefined;
}

export function createHeldTime<Key = string>(isHeld: (key: Key) => boolean): HeldTime<Key> {
  const totals = new Map<Key, Total>();
  const sinceOf = (key: Key) => (isHeld(key) ? performance.now() : undefined);
  const read = ({ heldMs, sinceMs }: Total) =>
    heldMs + (sinceMs === undefined ? 0 : performance.now() - sinceMs);

  return {
    note: (key) => {
      const total = totals.get(key);
      if (!total || isHeld(key) === (total.sinceMs !== undefined)) return;
      total.heldMs = read(total);
      total.sinceMs = sinceOf(key);
    },
    start: (key) => {
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
