import { tooManyRequests, unavailable, type ApiError } from '../errors.js';
import { createFairQueue } from './fair-queue.js';

/** A bound on what is at work at once. Keys take turns, so that many waiting under one do not delay another. */
export interface Gate {
  /**
   * Runs `work` when its turn comes. Throws ApiError if it is not to come: TOO_MANY_REQUESTS where too many wait
   * and most of them under this key, of which `onCrowded` is told; else UNAVAILABLE.
   */
  run<T>(key: string, work: () => Promise<T>, options?: { kind?: number; onCrowded?(): void }): Promise<T>;
  /** Takes a place if one is free now. Returns the function that gives it back. */
  enter(key: string, weight?: number): (() => void) | null;
  ask(key: string, entry: Entry): Ticket;
  /** `mayStart` or `isOpen` may say otherwise than before: starts what may. */
  look(): void;
  /** Refuses those that wait and are hopeless, of one key or of all. */
  turnAway(isHopeless: (sinceMs: number) => boolean, key?: string): void;
  /** How many wait, in all or under one key. */
  waiting(key?: string): number;
  /** The weight at work. */
  working(key: string): number;
}

export interface Entry {
  /** Called once there is a place, perhaps at once, with a function that gives it back. */
  start(leave: () => void): void;
  /** Called where its turn is not to come. Without bounds on waiting it comes always. */
  refuse?(why: Refusal): void;
  /** 1 unless it is said. */
  weight?: number | undefined;
  /** 0 unless it is said; see the fair queue. */
  kind?: number | undefined;
}

export interface Ticket {
  /** Waits no more. */
  withdraw(): void;
  /** Has its turn now, whatever the bounds, if it still waits. */
  start(): void;
}

/**
 * CROWD: too many wait, and of its key most. FULL: too many wait, one of each key. LATE: it has waited too long. AWAY:
 * turned away, since what it waits for is out of reach.
 */
export type Refusal = 'CROWD' | 'FULL' | 'LATE' | 'AWAY';

export interface GateOptions {
  /** The weight at work at once; the last to start may exceed it. */
  concurrency: number;
  concurrencyPerKey?: number;
  /** Of each kind; one more, and the newest of the key that has most is refused. */
  maxWaiting?: number;
  maxWaitMs?: number;
  kinds?: number;
  /** Whether anything may start. Call `look` when that changes. */
  isOpen?(): boolean;
  /** Whether anything of this key may start; likewise. */
  mayStart?(key: string): boolean;
}

interface Waiting {
  /** In the time of performance.now(). */
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
