import { tooManyRequests, unavailable, type ApiError } from '../errors.js';
import { createFairQueue } from './fair-queue.js';

/** Bounds what runs at once. Keys take turns, so that many items waiting under one key do not delay another key. */
export interface Gate {
  /**
   * Runs `work` when its turn comes. Throws ApiError if it is refused instead: TOO_MANY_REQUESTS, after calling
   * `onCrowded`, if too many wait and most of them under this key; else UNAVAILABLE.
   */
  run<T>(key: string, work: () => Promise<T>, options?: { kind?: number; onCrowded?(): void }): Promise<T>;
  /** Takes a slot if one is free now. Returns the function that frees it, or null. */
  enter(key: string, weight?: number): (() => void) | null;
  ask(key: string, entry: Entry): Ticket;
  /** Starts what may start now. Call it when `mayStart` or `isOpen` may have changed. */
  look(): void;
  /** Refuses those waiting for which `isHopeless` returns true, of one key or of all. */
  turnAway(isHopeless: (sinceMs: number) => boolean, key?: string): void;
  /** How many wait, in all or under one key. */
  waiting(key?: string): number;
  /** The weight of what runs under a key. */
  working(key: string): number;
}

export interface Entry {
  /** Called when a slot is free, possibly at once, with the function that frees it again. */
  start(leave: () => void): void;
  /** Called if the request is refused, which happens only with a bound on waiting or through `turnAway`. */
  refuse?(why: Refusal): void;
  /** Default: 1. */
  weight?: number | undefined;
  /** Default: 0; see the fair queue. */
  kind?: number | undefined;
}

export interface Ticket {
  /** Stops waiting. */
  withdraw(): void;
  /** Starts now, whatever the bounds, if it still waits. */
  start(): void;
}

/**
 * CROWD: too many wait, and most of them under this key. FULL: too many wait, one under each key. LATE: it has waited
 * too long. AWAY: it was turned away because what it waits for is out of reach.
 */
export type Refusal = 'CROWD' | 'FULL' | 'LATE' | 'AWAY';

export interface GateOptions {
  /** The weight that may run at once; the last one to start may exceed it. */
  concurrency: number;
  concurrencyPerKey?: number;
  /** For each kind. One more, and the newest item of the key with the most is refused. */
  maxWaiting?: number;
  maxWaitMs?: number;
  kinds?: number;
  /** Whether anything may start. Call `look` when that changes. */
  isOpen?(): boolean;
  /** Whether anything of this key may start. Call `look` when that changes. */
  mayStart?(key: string): boolean;
}

interface Waiting {
  /** By performance.now(). */
  sinceMs: number;
  start(): void;
  refuse(why: Refusal): void;
}

const always = () => true;

export function createGate(options: GateOptions): Gate {
  const { concurrency, concurrencyPerKey = Infinity, maxWaitMs } = options;
  const { isOpen = always, mayStart = always } = options;
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
  const hasRoom = () => total < concurrency && isOpen();
  const hasRoomFor = (key: string) => working(key) < concurrencyPerKey && mayStart(key);
  const look = () => {
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
      look();
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
      const turn = () =>
        new Promise<() => void>((start, reject) => {
          const refuse = (why: Refusal) => {
            if (why === 'CROWD') onCrowded?.();
            reject(refusalOf(why));
          };
          wait(key, { start, refuse, kind });
        });
      const leave = enter(key) ?? (await turn());
      try {
        return await work();
      } finally {
        leave();
      }
    },
    enter,
    ask,
    look,
    turnAway: (isHopeless, key) => {
      for (const { sinceMs, refuse } of queue.items(key)) if (isHopeless(sinceMs)) refuse('AWAY');
    },
    waiting: queue.size,
    working,
  };
}

const message = 'Too much at once; try again.';

export function refusalOf(why: Refusal): ApiError {
  if (why === 'CROWD') return tooManyRequests(message, 1);
  return why === 'AWAY' ? unavailable() : unavailable(message);
}
